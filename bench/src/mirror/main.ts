import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { generateVolume } from '@bridgework/practice-simulator'
import { cpuClock, endedCpuTimeMs } from '../cpu-time.ts'
import { createWorld, runSql, type World } from '../world/practice.ts'
import { createThrowAwayServer, type ThrowAwayServer } from '../world/throw-away-server.ts'
import { packLines, sendUpload } from '../world/upload.ts'

const usage = `npm run bench:mirror -- [--against <folder>] [--patients <n>] [--rounds <n>] [--json]
  --against   another checkout with its packages installed, whose client takes turns with this one's
  --patients  patients of the location that is mirrored; each has about 19 records (12000)
  --rounds    first syncs of each client into each database (3)
  --json      one JSON object on stdout instead of the table`

const kinds = ['sqlite', 'postgres'] as const
type Kind = (typeof kinds)[number]
/** Processor time of the client and of PostgreSQL (which also serves the records), and the time that passed. */
type Figures = { clientMs: number; postgresMs: number; wallMs: number }

const here = join(import.meta.dirname, '../../..')
const folder = mkdtempSync(join(tmpdir(), 'bridgework-bench-mirror-'))
let server: ThrowAwayServer | undefined
let targets = 0
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server?.remove()
    rmSync(folder, { recursive: true, force: true })
    process.exit(130)
  })
}
try {
  const options = readOptions()
  server = await createThrowAwayServer()
  await bench(server, options)
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 2
} finally {
  await server?.remove()
  rmSync(folder, { recursive: true, force: true })
}

async function bench(server: ThrowAwayServer, options: ReturnType<typeof readOptions>): Promise<void> {
  const say = (text: string) => process.stderr.write(`${text}\n`)
  say('Starting a server on a throw-away database …')
  await server.start()
  const world = await createWorld(server, { locations: 1 })
  say(`Filling a location with ${options.patients} patients …`)
  const records = await fill(world, options.patients)
  const sides = [here, ...(options.against === null ? [] : [options.against])]
  const runs: { kind: Kind; side: string; figures: Figures }[] = []
  for (let round = 0; round < options.rounds; round += 1) {
    for (const kind of kinds) {
      // The one that begins changes.
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        say(`Round ${round + 1}: ${kind}, ${side} …`)
        runs.push({ kind, side, figures: await firstSync(world, kind, side, records) })
      }
    }
  }
  const medians = kinds.flatMap((kind) =>
    sides.map((side) => ({ kind, side, ...medianOf(runs.filter((run) => run.kind === kind && run.side === side)) })),
  )
  if (options.json) return console.log(JSON.stringify({ records, rounds: options.rounds, medians }))
  console.log(`\nFirst sync of ${records} records, medians of ${options.rounds}, in seconds`)
  for (const { kind, side, clientMs, postgresMs, wallMs } of medians) {
    const seconds = [clientMs, postgresMs, wallMs].map((ms) => (ms / 1000).toFixed(1).padStart(7))
    console.log(`${kind.padEnd(9)} client${seconds[0]}  PostgreSQL${seconds[1]}  passed${seconds[2]}  ${side}`)
  }
}

/** Uploads a practice as its agent does. Returns how many records it has. */
async function fill(world: World, patients: number): Promise<number> {
  const [locationId = ''] = world.locationIds
  await runSql(world.ownerUrl, `update location set time_zone = 'America/Phoenix' where id = $1`, [locationId])
  let [number, records] = [0, 0]
  for (const batch of generateVolume({ seed: 'mirror', locations: 1, patients }, '1')) {
    const lines = batch.records.map(({ source_id, attributes }) => ({ source_id, attributes }))
    number += 1
    const upload = { locationId, dataset: batch.dataset, number, body: packLines(lines) }
    const answer = await sendUpload(world, upload)
    if (answer.status !== 200) throw new Error(`The upload was refused: ${answer.status} ${answer.text}`)
    records += batch.records.length
  }
  await runSql(world.adminUrl, 'vacuum analyze')
  return records
}

/** One client copies everything into a new file or database. */
async function firstSync(world: World, kind: Kind, side: string, records: number): Promise<Figures> {
  const target = await newTarget(world, kind)
  const { server, vendor } = world
  const clock = cpuClock(() => [], server)
  const postgresMs = () => clock() ?? 0
  const before = { client: endedCpuTimeMs(process.pid), postgres: postgresMs(), at: performance.now() }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(side, 'packages/client/src/command/main.ts'), 'mirror', '--to', target.to, '--json'],
    {
      env: {
        HOME: folder,
        BRIDGEWORK_BASE_URL: server.vendorUrl,
        BRIDGEWORK_CLIENT_ID: vendor.clientId,
        BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
      },
    },
  )
  const figures = {
    clientMs: endedCpuTimeMs(process.pid) - before.client,
    postgresMs: postgresMs() - before.postgres,
    wallMs: performance.now() - before.at,
  }
  const copied = Number(JSON.parse(stdout).records)
  if (copied !== records) throw new Error(`${side} copied ${copied} of ${records} records.`)
  await target.remove()
  return figures
}

async function newTarget({ adminUrl }: World, kind: Kind): Promise<{ to: string; remove: () => Promise<unknown> }> {
  targets += 1
  const name = `mirror_${targets}`
  if (kind === 'sqlite') return { to: `sqlite:${join(folder, name)}`, remove: async () => {} }
  await runSql(adminUrl, `create database ${name}`)
  const url = new URL(adminUrl)
  url.pathname = name
  return { to: url.href, remove: () => runSql(adminUrl, `drop database ${name}`) }
}

function medianOf(runs: readonly { figures: Figures }[]): Figures {
  const median = (name: keyof Figures) =>
    runs.map(({ figures }) => figures[name]).sort((left, right) => left - right)[runs.length >> 1] ?? 0
  return { clientMs: median('clientMs'), postgresMs: median('postgresMs'), wallMs: median('wallMs') }
}

function readOptions() {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      against: { type: 'string' },
      patients: { type: 'string', default: '12000' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'boolean', default: false },
    },
  })
  for (const name of ['patients', 'rounds'] as const)
    if (!/^[1-9]\d{0,6}$/.test(values[name])) throw new Error(`--${name} must be a whole number of at least 1.`)
  return {
    against: values.against === undefined ? null : resolve(values.against),
    patients: Number(values.patients),
    rounds: Number(values.rounds),
    json: values.json,
  }
}
