import { startBaseline } from './baseline/process.ts'
import { findLoadClient } from './client/load.ts'
import { type BenchOptions, readCommandLine, usage } from './command-line.ts'
import { residentMb } from './cpu-time.ts'
import { compare, type Side } from './measure.ts'
import { fillWorld, plansUrl, requireSameAnswers } from './prepare.ts'
import { formatRows, isMissed, type Row } from './report.ts'
import { measureSealing, type SealingCost } from './sealing.ts'
import { createWorld } from './world/practice.ts'
import { createThrowAwayServer, type ThrowAwayServer } from './world/throw-away-server.ts'

let server: ThrowAwayServer | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server?.remove()
    process.exit(130)
  })
}
const options = readOptions()
if (options) {
  try {
    server = await createThrowAwayServer()
    process.exitCode = await bench(server, options)
  } finally {
    await server?.remove()
  }
}

function readOptions(): BenchOptions | null {
  try {
    return readCommandLine(process.argv.slice(2))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    process.exitCode = 2
    return null
  }
}

/** Returns the exit code: 1 when a target is missed. */
async function bench(server: ThrowAwayServer, options: BenchOptions): Promise<number> {
  const say = (text: string) => process.stderr.write(`${text}\n`)
  say('Starting a server on a throw-away database …')
  await server.start()
  const world = await createWorld(server, { locations: 6 })
  say(`Uploading ${options.plans} plans of one location and some of five others …`)
  const { ingest, queries } = await fillWorld(world, options.plans)
  const client = await findLoadClient()
  const baseline = await startBaseline(world.ownerUrl)
  try {
    const [locationId = ''] = world.locationIds
    const ours = plansUrl(world, locationId)
    const theirs = `${baseline.url}/locations/${locationId}/insurance_plans`
    await requireSameAnswers(ours, theirs, world.vendor.token, queries)

    const postgres = server.postgresPids
    const side = (url: string, pid: number, connections: number, gzip: boolean): Side => ({
      request: {
        url,
        headers: { Authorization: `Bearer ${world.vendor.token}`, ...(gzip && { 'Accept-Encoding': 'gzip' }) },
        connections,
        seconds: options.seconds,
      },
      pids: () => [pid, ...postgres()],
    })
    const run = async (name: string, one: Side, other: Side, target: number | null): Promise<Row> => {
      const { connections } = one.request
      say(`${name}, ${connections} connection${connections === 1 ? '' : 's'} …`)
      const result = await compare(client, { ours: one, theirs: other }, { rounds: options.rounds, warmUpSeconds: 1 })
      return { name, connections, target, ...result }
    }
    const rows: Row[] = []
    for (const { name, query, gzip, target } of comparisons(queries)) {
      for (const connections of [1, 8]) {
        const mine = side(`${ours}?${query}`, server.pid(), connections, gzip)
        rows.push(await run(name, mine, side(`${theirs}?${query}`, baseline.pid, connections, gzip), target))
      }
    }
    const depth: Row[] = []
    for (const connections of [1, 8]) {
      const last = side(`${ours}?${queries.lastPage}`, server.pid(), connections, false)
      const first = side(`${ours}?${queries.firstPage}`, server.pid(), connections, false)
      depth.push(await run('last page against first page', last, first, null))
    }
    say('Sealing the disclosures of this run …')
    const sealing = await measureSealing(world.ownerUrl, postgres)
    const memoryMb = residentMb(server.pid())
    if (options.json) {
      console.log(JSON.stringify({ client: client.name, options, rows, depth, ingest, sealing, memoryMb }))
    } else {
      console.log(
        formatRows(
          '\nBridgework with all its checks, beside a hand-written route with none',
          { ours: 'ours', theirs: 'by hand' },
          rows,
        ),
      )
      console.log(formatRows('The end of a dataset beside its beginning', { ours: 'last', theirs: 'first' }, depth))
      console.log(
        `Ingest over HTTP, uploads of 5,000 lines, one after the other: ${Math.round(ingest.newPerSecond)} new and ${Math.round(ingest.unchangedPerSecond)} unchanged records per second`,
      )
      console.log(sealingLine(sealing, rows))
      console.log(`Memory of the server at the end: ${memoryMb ?? '?'} MB. Client: ${client.name}.`)
      console.log('Compare the ratios and the CPU of one run only: README.md beside this program says why.')
    }
    return rows.some(isMissed) ? 1 : 0
  } finally {
    await baseline.stop()
  }
}

/** A page and a delta of 10 write one disclosure each, an empty delta none. */
function sealingLine({ disclosures, cpuMsPerDisclosure }: SealingCost, rows: readonly Row[]): string {
  const shares = rows
    .filter(({ name, connections }) => connections === 8 && name !== 'empty delta')
    .map(({ name, ours }) => {
      const share = (100 * (cpuMsPerDisclosure ?? Number.NaN)) / (ours.cpuMsPerRequest ?? Number.NaN)
      return `${share.toFixed(1)} % of a ${name}`
    })
  return `Sealing ${disclosures} disclosures: ${cpuMsPerDisclosure?.toFixed(3) ?? '?'} ms of processor time each, ${shares.join(', ')}; an empty delta writes none.`
}

function comparisons(queries: { firstPage: string; emptyDelta: string; smallDelta: string }) {
  return [
    { name: 'page of 5,000', query: queries.firstPage, gzip: false, target: 1 },
    { name: 'page of 5,000, gzip', query: queries.firstPage, gzip: true, target: 1 },
    { name: 'empty delta', query: queries.emptyDelta, gzip: false, target: 0.5 },
    { name: 'delta of 10', query: queries.smallDelta, gzip: false, target: null },
  ]
}
