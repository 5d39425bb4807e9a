import { parseArgs } from 'node:util'
import { measureScale, type Scale, type Spent } from './measure-scale.ts'

/** What each installation may take of the first one's when nothing is asked, and what PostgreSQL may take for a page of locations and a periodic statement. */
const targets = { postgresTimes: 1.2, processTimes: 1.1, pageMs: 5, statementMs: 10 }
const listPage = 'GET /locations, second page of 100'

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

function print({ practices, idle, startMs, memoryMb, requests, statements }: Scale): void {
  const inWords = ({ postgres, process }: Spent) => `PostgreSQL ${postgres} ms, process ${process} ms`
  console.log(`${practices} practices: start ${startMs} ms, memory ${memoryMb} MB`)
  console.log(`  a second without requests: ${inWords(idle)}`)
  for (const [name, spent] of Object.entries(requests)) console.log(`  ${name}: ${inWords(spent)}`)
  for (const [name, ms] of Object.entries(statements)) console.log(`  ${name}: ${ms} ms`)
}

function isWithin(rows: readonly Scale[]): boolean {
  const [first] = rows
  if (!first) return false
  return rows.every(
    ({ idle, requests, statements }) =>
      idle.postgres <= first.idle.postgres * targets.postgresTimes &&
      idle.process <= first.idle.process * targets.processTimes &&
      (requests[listPage]?.postgres ?? 0) <= targets.pageMs &&
      Math.max(...Object.values(statements)) <= targets.statementMs,
  )
}
