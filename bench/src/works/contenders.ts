import { listUrl } from '../fixture/list-query.ts'
import type { Queries, Readable, ReadingFixture } from '../fixture/reading.ts'
import type { Contender, Measured } from '../measure.ts'
import { contest } from '../measure.ts'
import { againstEarlier, byHand, earlierOurs, ours, type Row, type WorkName } from './row.ts'
import type { Bench } from './work.ts'

type Ask = { query: keyof Queries; connections: number; isGzip?: boolean }

/** This checkout's service, and the other checkout's where there is one. */
export function services(bench: Bench, fixture: ReadingFixture, ask: Ask): Contender[] {
  const of = (who: string, readable: Readable): Contender =>
    overHttp(bench, ask, {
      who,
      url: listUrl(readable.world.server.vendorUrl, readable.locationId, readable.queries[ask.query]),
      headers: { Authorization: `Bearer ${readable.world.vendor.token}` },
      cpu: readable.cpu,
    })
  const mine = of(ours, fixture.ours)
  return fixture.earlier ? [mine, of(earlierOurs, fixture.earlier)] : [mine]
}

/** The hand-written route. */
export function handWritten(bench: Bench, fixture: ReadingFixture, ask: Ask): Contender {
  return atBaseline(bench, fixture, ask, byHand, fixture.baseline.url)
}

/** The technique of PostgREST, in the hand-written server. */
export function jsonAgg(bench: Bench, fixture: ReadingFixture, ask: Ask): Contender {
  return atBaseline(bench, fixture, ask, 'json_agg in one statement', `${fixture.baseline.url}/json_agg`)
}

/** The other servers that are installed. */
export function peersOf(bench: Bench, fixture: ReadingFixture, ask: Ask): Contender[] {
  const { locationId, queries } = fixture.ours
  return fixture.peers.map(({ who, request, cpu }) =>
    overHttp(bench, ask, { who, cpu, ...request(locationId, queries[ask.query]) }),
  )
}

/** One that is asked over HTTP by the load client. */
export function overHttp(
  { client }: Bench,
  { connections, isGzip = false }: { connections: number; isGzip?: boolean },
  to: { who: string; url: string; headers: Record<string, string>; cpu: Contender['cpu'] },
): Contender {
  const headers = { ...to.headers, ...(isGzip && { 'Accept-Encoding': 'gzip' }) }
  return {
    who: to.who,
    cpu: to.cpu,
    run: (seconds) => client.run({ url: to.url, headers, connections, seconds }),
  }
}

function atBaseline(bench: Bench, fixture: ReadingFixture, ask: Ask, who: string, base: string): Contender {
  const { locationId, queries } = fixture.ours
  const url = listUrl(base, locationId, queries[ask.query])
  return overHttp(bench, ask, { who, url, headers: {}, cpu: fixture.baselineCpu })
}

/** Measures all in turn. Returns a row for each; the target is the first one's ratio to the hand-written route by processor time. */
export async function rowsOf(
  bench: Bench,
  row: { work: WorkName; name: string; connections: number; target?: number; records?: number },
  contenders: readonly (Contender | null)[],
): Promise<Row[]> {
  const { options, say } = bench
  const { work, name, connections, target = null, records } = row
  say(`${name}, ${connections} connection${connections === 1 ? '' : 's'} …`)
  const present = contenders.filter((contender) => contender !== null)
  const isPeer = (who: string) => who !== ours && who !== earlierOurs
  const warmUpSeconds = options.isQuick ? 3 : warmUpSecondsOf(work)
  const measured = await contest(present, { ...options, warmUpSeconds, ...(options.report && { isPeer }) })
  return measured.map((figure, index) => ({
    work,
    name,
    connections,
    ...figureOf(figure),
    ratio: index === 0 ? null : figure.speedRatio,
    cpuRatio: index === 0 ? null : figure.cpuRatio,
    ...(isPeer(figure.who) && { spread: figure.spread }),
    target: figure.who === byHand ? target : figure.who === earlierOurs ? againstEarlier : null,
    ...(records !== undefined && { records }),
  }))
}

/**
 * V8 translates what runs often, and that takes longer than a few seconds where an answer is little beside the code that makes it: measured at
 * eight connections, an empty delta is a third faster after twenty seconds than after three. A page of 5,000 is mostly zlib's and PostgreSQL's work.
 */
function warmUpSecondsOf(work: WorkName): number {
  return work === 'delta' || work === 'page-100' || work === 'token' ? 12 : 3
}

function figureOf({ who, requestsPerSecond, cpuMsPerRequest, bytesPerRequest }: Measured) {
  return { who, perSecond: requestsPerSecond, cpuMs: cpuMsPerRequest, bytes: bytesPerRequest }
}
