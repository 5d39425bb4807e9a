import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { sourceBatches, type Work, works } from './batches.ts'
import { openSide, type Phase, phases, type Side } from './side.ts'

const usage = `npm run bench:ingest -- [--against <folder>] [--records <n>] [--rounds <n>] [--packing] [--json]
  --against  another checkout with its packages installed, whose server takes turns with this one's
  --records  records of each dataset and round (30000)
  --rounds   rounds; each has a location of its own (3)
  --packing  let segments be packed meanwhile; without it they wait, and are packed at the end
  --json     one JSON object on stdout instead of the table`

const here = join(import.meta.dirname, '../../..')
const sides: Side[] = []
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await removeAll()
    process.exit(130)
  })
}
try {
  await bench(readOptions())
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 2
} finally {
  await removeAll()
}

async function bench({ against, records, rounds, packing, json }: ReturnType<typeof readOptions>): Promise<void> {
  const say = (text: string) => process.stderr.write(`${text}\n`)
  const folders = [here, ...(against === null ? [] : [against])]
  for (const folder of folders) {
    say(`Starting the server of ${folder} on a throw-away database …`)
    sides.push(await openSide(folder, { locations: rounds, packing }))
  }
  const batches = sourceBatches(records)
  const measured: { side: string; work: Work; phase: Phase; figures: Figures }[] = []
  for (let round = 0; round < rounds; round += 1) {
    for (const side of sides) await side.prepare(round, batches.before)
    for (const work of works) {
      for (const phase of phases) {
        // The one that begins changes.
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          say(`Round ${round + 1}: ${work}, ${phase}, ${side.folder} …`)
          measured.push({ side: side.folder, work, phase, figures: await side.send(round, phase, batches[work]) })
        }
      }
    }
  }
  const rows = folders.flatMap((folder) =>
    works.flatMap((work) =>
      phases.map((phase) => {
        const own = measured.filter((one) => one.side === folder && one.work === work && one.phase === phase)
        return { side: folder, work, phase, ...mediansOf(own.map(({ figures }) => figures)) }
      }),
    ),
  )
  const ends = []
  for (const side of sides) ends.push({ side: side.folder, ...(await side.finish()) })
  if (json) return console.log(JSON.stringify({ records, rounds, packing, rows, ends }))
  print(rows, ends)
}

type Figures = Awaited<ReturnType<Side['send']>>
type Row = Figures & { side: string; work: Work; phase: Phase }

function print(rows: readonly Row[], ends: readonly ({ side: string } & Awaited<ReturnType<Side['finish']>>)[]): void {
  console.log(
    '\nOne uploader, 5,000 lines an upload; medians. CPU: seconds for 100,000 records. Bytes: for each record.',
  )
  console.log('dataset          phase       records/s  server CPU  Postgres CPU   stored     WAL')
  for (const row of rows) {
    const numbers = [
      row.recordsPerSecond.toFixed(0).padStart(9),
      row.serverSeconds.toFixed(2).padStart(11),
      row.postgresSeconds.toFixed(2).padStart(13),
      row.storedBytes.toFixed(0).padStart(8),
      row.walBytes.toFixed(0).padStart(7),
    ]
    console.log(`${row.work.padEnd(16)} ${row.phase.padEnd(10)} ${numbers.join(' ')}  ${row.side}`)
  }
  const other = rows.filter(({ side }) => side !== here)
  for (const theirs of other) {
    const ours = rows.find((row) => row.side === here && row.work === theirs.work && row.phase === theirs.phase)
    if (!ours) continue
    const cpu = (row: Row) => row.serverSeconds + row.postgresSeconds
    const ratio = (value: number) => `${value.toFixed(2)} ×`
    const [speed, work] = [ours.recordsPerSecond / theirs.recordsPerSecond, cpu(ours) / cpu(theirs)]
    console.log(`${theirs.work} ${theirs.phase}: records per second ${ratio(speed)}, CPU ${ratio(work)}`)
  }
  for (const { side, megabytes, packedPerSecond, packingSeconds, segmentBytes } of ends) {
    const packing =
      packedPerSecond === null
        ? 'no segments'
        : `packed ${packedPerSecond.toFixed(0)} records/s, CPU ${packingSeconds.toFixed(2)} s for 100,000, ${segmentBytes.toFixed(0)} bytes each`
    console.log(`${side}: ${packing}; server's memory ${megabytes} MB`)
  }
}

function mediansOf(all: readonly Figures[]): Figures {
  const median = (name: keyof Figures) =>
    all.map((figures) => figures[name]).sort((left, right) => left - right)[all.length >> 1] ?? 0
  return {
    recordsPerSecond: median('recordsPerSecond'),
    serverSeconds: median('serverSeconds'),
    postgresSeconds: median('postgresSeconds'),
    storedBytes: median('storedBytes'),
    walBytes: median('walBytes'),
  }
}

async function removeAll(): Promise<void> {
  for (const side of sides.splice(0)) await side.remove()
}

function readOptions() {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      against: { type: 'string' },
      records: { type: 'string', default: '30000' },
      rounds: { type: 'string', default: '3' },
      packing: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  for (const name of ['records', 'rounds'] as const)
    if (!/^[1-9]\d{0,6}$/.test(values[name])) throw new Error(`--${name} must be a whole number of at least 1.`)
  return {
    against: values.against === undefined ? null : resolve(values.against),
    records: Number(values.records),
    rounds: Number(values.rounds),
    packing: values.packing,
    json: values.json,
  }
}
