import type { LoadClient, LoadRequest } from './client/load.ts'
import { cpuTimeMs } from './cpu-time.ts'

/** One side of a comparison: where to ask, and whose processor time counts. */
export type Side = { request: LoadRequest; pids: () => number[] }

export type Figure = { requestsPerSecond: number; cpuMsPerRequest: number | null; bytesPerRequest: number }

/** Medians of both sides and of the ratios of each round, in which they ran one right after the other. */
export type Comparison = { ours: Figure; theirs: Figure; speedRatio: number; cpuRatio: number | null }

/** Runs both sides in turn, the first one changing from round to round, after a short round that warms them up. */
export async function compare(
  client: LoadClient,
  sides: { ours: Side; theirs: Side },
  options: { rounds: number; warmUpSeconds: number },
): Promise<Comparison> {
  for (const side of [sides.ours, sides.theirs]) {
    await client.run({ ...side.request, seconds: options.warmUpSeconds })
  }
  const ours: Figure[] = []
  const theirs: Figure[] = []
  for (let round = 0; round < options.rounds; round += 1) {
    const first = round % 2 === 0
    if (first) ours.push(await measure(client, sides.ours))
    theirs.push(await measure(client, sides.theirs))
    if (!first) ours.push(await measure(client, sides.ours))
  }
  const ratios = (read: (figure: Figure) => number | null) =>
    medianOf(ours.map((figure, index) => divide(read(figure), read(at(theirs, index)))))
  return {
    ours: medianFigure(ours),
    theirs: medianFigure(theirs),
    speedRatio: ratios((figure) => figure.requestsPerSecond) ?? 0,
    cpuRatio: ratios((figure) => figure.cpuMsPerRequest),
  }
}

async function measure(client: LoadClient, side: Side): Promise<Figure> {
  const before = cpuTimeMs(side.pids())
  const { requests, requestsPerSecond, bytes } = await client.run(side.request)
  const after = cpuTimeMs(side.pids())
  return {
    requestsPerSecond,
    cpuMsPerRequest: before === null || after === null ? null : (after - before) / requests,
    bytesPerRequest: bytes / requests,
  }
}

function medianFigure(figures: readonly Figure[]): Figure {
  return {
    requestsPerSecond: medianOf(figures.map((figure) => figure.requestsPerSecond)) ?? 0,
    cpuMsPerRequest: medianOf(figures.map((figure) => figure.cpuMsPerRequest)),
    bytesPerRequest: medianOf(figures.map((figure) => figure.bytesPerRequest)) ?? 0,
  }
}

/** Null when one of the values is. */
export function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).toSorted((one, other) => one - other)
  if (known.length === 0 || known.length < values.length) return null
  const middle = Math.floor(known.length / 2)
  return known.length % 2 === 1 ? at(known, middle) : (at(known, middle - 1) + at(known, middle)) / 2
}

function divide(one: number | null, other: number | null): number | null {
  return one === null || other === null || other === 0 ? null : one / other
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index]
  if (value === undefined) throw new Error('no such value')
  return value
}
