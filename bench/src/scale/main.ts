import { parseArgs } from 'node:util'
import { measureScale, type Scale } from './measure-scale.ts'

/** What the largest installation may take of the smallest one's, when nothing is asked. */
const targets = { postgresTimes: 1.2, processTimes: 1.1, pageMs: 5, statementMs: 10 }

const usage = `npm run bench:scale -- [--practices <n,n,…>] [--seconds <n>] [--records <n>] [--json]
  --practices  how many practices, one installation after the other (10,10000)
  --seconds    for how long nothing is asked (60)
  --records    insurance plans of one of them, which a vendor reads (2000)
  --json       one JSON object on stdout for each installation, as soon as it is measured`

try {
  const options = readOptions()
  const rows: Scale[] = []
  for (const practices of options.practices) {
    const row = await measureScale({ ...options, practices })
    rows.push(row)
    if (options.json) console.log(JSON.stringify(row))
    else print(row)
  }
  process.exitCode = isWithin(rows) ? 0 : 1
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 2
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      practices: { type: 'string', default: '10,10000' },
      seconds: { type: 'string', default: '60' },
      records: { type: 'string', default: '2000' },
      json: { type: 'boolean', default: false },
    },
  })
  const practices = values.practices.split(',').map((text) => wholeNumber('practices', text))
  const [seconds, records] = [wholeNumber('seconds', values.seconds), wholeNumber('records', values.records)]
  return { practices, seconds, records, json: values.json }
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name} must be a whole number of at least 1.`)
  return Number(text)
}

function print({ practices, times, ...figures }: Scale): void {
  console.log(`${practices} practices`)
  for (const [name, value] of Object.entries(figures)) console.log(`  ${name}: ${value}`)
  for (const [name, ms] of Object.entries(times)) console.log(`  ${name}: ${ms} ms`)
}

function isWithin(rows: readonly Scale[]): boolean {
  const [first] = rows
  return rows.every(
    (row) =>
      row.postgresIdleMs <= (first?.postgresIdleMs ?? 0) * targets.postgresTimes &&
      row.processIdleMs <= (first?.processIdleMs ?? 0) * targets.processTimes &&
      Object.entries(row.times).every(
        ([name, ms]) => ms <= (name.startsWith('GET ') ? targets.pageMs : targets.statementMs),
      ),
  )
}
