import { findLoadClient } from '../client/load.ts'
import { readCommandLine, usage } from '../command-line.ts'
import { cpuClock } from '../cpu-time.ts'
import { type Contender, contest, type Measured } from '../measure.ts'
import { formatTable, readable } from '../report/table.ts'
import { createWorld, runSql, type World } from '../world/practice.ts'
import { createThrowAwayServer, type ThrowAwayServer } from '../world/throw-away-server.ts'
import { type Filled, fillAppointments } from './fill.ts'
import { queriesOf } from './queries.ts'

/** A filter or a delta costs at most this many times as much in the large location as in the small one. */
const costRatioMax = 1.5
const [smallRows, largeRows] = [10_000, 1_000_000]

let server: ThrowAwayServer | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await server?.remove()
    process.exit(130)
  })
}
try {
  const options = readCommandLine(process.argv.slice(2))
  server = await createThrowAwayServer()
  process.exitCode = await bench(server, options)
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 2
} finally {
  await server?.remove()
}

/** Returns the exit code: 1 when a target is missed. */
async function bench(
  server: ThrowAwayServer,
  options: { rounds: number; seconds: number; json: boolean },
): Promise<number> {
  const say = (text: string) => process.stderr.write(`${text}\n`)
  say('Starting a server on a throw-away database …')
  await server.start()
  const world = await createWorld(server, { locations: 2 })
  const [smallId = '', largeId = ''] = world.locationIds
  say(`Filling a location with ${smallRows} appointments and one with ${largeRows} …`)
  const small = await fillAppointments(world, smallId, smallRows)
  const large = await fillAppointments(world, largeId, largeRows)
  await runSql(world.adminUrl, 'vacuum analyze')
  await runSql(world.adminUrl, 'checkpoint')
  const client = await findLoadClient()
  const contenderOf = (filled: Filled, query: string): Contender => ({
    who: String(filled.rows),
    cpu: cpuClock(() => [server.pid()], server),
    run: (seconds) =>
      client.run({
        url: urlOf(world, filled, query),
        headers: { Authorization: `Bearer ${world.vendor.token}` },
        connections: 1,
        seconds,
      }),
  })
  const rows: { name: string; measured: Measured[] }[] = []
  const missed: string[] = []
  const ofSmall = queriesOf(small)
  for (const [index, { name, query, records }] of queriesOf(large).entries()) {
    const other = ofSmall[index]?.query ?? ''
    await requireRecords(world, large, query, records)
    await requireRecords(world, small, other, records)
    say(`${name} …`)
    const contenders = [contenderOf(large, query), contenderOf(small, other)]
    const measured = await contest(contenders, { ...options, warmUpSeconds: 1 })
    rows.push({ name, measured })
    if (costRatioOf(measured) > costRatioMax) missed.push(name)
  }
  if (options.json) console.log(JSON.stringify({ client: client.name, options, rows, missed }))
  else {
    const head = ['', '1,000,000', '10,000', 'cost']
    const lines = rows.map(({ name, measured }) => [
      name,
      ...measured.map(({ requestsPerSecond }) => `${readable(requestsPerSecond)}/s`),
      `${costRatioOf(measured).toFixed(2)} ×`,
    ])
    console.log(
      `\nFilters and deltas of a location of 1,000,000 beside one of 10,000\n${formatTable([head, ...lines], [0])}`,
    )
    const verdict = missed.length === 0 ? 'all hold' : `MISSED by ${missed.join('; ')}`
    console.log(`At most ${costRatioMax} × the cost: ${verdict}.`)
  }
  return missed.length > 0 ? 1 : 0
}

/** Processor time, the steadier figure; where the system does not tell it, the time that an answer takes. */
function costRatioOf([, small]: readonly Measured[]): number {
  return 1 / (small?.cpuRatio ?? small?.speedRatio ?? Number.NaN)
}

function urlOf(world: World, filled: Filled, query: string): string {
  return `${world.server.vendorUrl}/locations/${filled.locationId}/appointments?${query}`
}

/** Both locations must answer as many records, or their costs could not be compared. */
async function requireRecords(world: World, filled: Filled, query: string, records: number): Promise<void> {
  const answer = await fetch(urlOf(world, filled, query), {
    headers: { authorization: `Bearer ${world.vendor.token}` },
  })
  const body = (await answer.json()) as { data?: unknown[]; errors?: string }
  if (body.data?.length !== records) {
    throw new Error(`${query}: ${body.data?.length ?? body.errors} records and not ${records} of ${filled.rows}`)
  }
}
