import type { LoadResult } from './client/load.ts'
import type { CpuClock } from './cpu-time.ts'

/** One that does the work: how to load it for so many seconds, and whose processor time counts. */
export type Contender = { who: string; run: (seconds: number) => Promise<LoadResult>; cpu: CpuClock }

export type Figure = { requestsPerSecond: number; cpuMsPerRequest: number | null; bytesPerRequest: number }

/**
 * Medians of the rounds. The ratios are of the first contender to this one, in each round: how many times as fast it is, and how many times as much
 * processor time this one takes. `spread`: by how much of its median the rate differs from
 * round to round.
 */
export type Measured = Figure & { who: string; speedRatio: number; cpuRatio: number | null; spread: number }

/** How far the rate of a peer may differ from round to round: more says that others used the machine, and that a figure beside it says little. */
export const spreadMax = 0.15

/**
 * Runs all in turn in each round, another one first each time, after a short round that warms them up. The ratios are of one round. With peers,
 * rounds go on until in the last `rounds` of them the machine was quiet, up to four times as many, and those alone count.
 */
export async function contest(
  contenders: readonly Contender[],
  options: { rounds: number; seconds: number; warmUpSeconds: number; isPeer?: (who: string) => boolean },
): Promise<Measured[]> {
  const { rounds, seconds, warmUpSeconds, isPeer = () => false } = options
  if (warmUpSeconds > 0) for (const contender of contenders) await contender.run(warmUpSeconds)
  const figures = contenders.map((): Figure[] => [])
  const wasQuiet = () =>
    contenders.every(({ who }, index) => !isPeer(who) || spreadOf(ratesOf(at(figures, index))) <= spreadMax)
  for (let round = 0; round < rounds || (round < 4 * rounds && !wasQuiet()); round += 1) {
    if (round >= rounds) for (const own of figures) own.shift()
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const index = (round + turn) % contenders.length
      at(figures, index).push(await measure(at(contenders, index), seconds))
    }
  }
  const first = at(figures, 0)
  return contenders.map(({ who }, index) => {
    const own = at(figures, index)
    const ratio = (read: (figure: Figure) => number | null) =>
      medianOf(own.map((figure, round) => divide(read(at(first, round)), read(figure))))
    return {
      who,
      ...medianFigure(own),
      speedRatio: ratio((figure) => figure.requestsPerSecond) ?? 0,
      cpuRatio: medianOf(
        own.map(({ cpuMsPerRequest }, round) => divide(cpuMsPerRequest, at(first, round).cpuMsPerRequest)),
      ),
      spread: spreadOf(ratesOf(own)),
    }
  })
}

const ratesOf = (figures: readonly Figure[]) => figures.map((figure) => figure.requestsPerSecond)

/** What one round of a contender took. One in which no answer came to its end says nothing, so it is done again for longer. */
async function measure({ who, run, cpu }: Contender, seconds: number): Promise<Figure> {
  const before = cpu()
  const { requests, requestsPerSecond, bytes } = await run(seconds)
  const after = cpu()
  if (requests === 0) {
    if (seconds > longestSeconds) throw new Error(`${who} finished no answer in ${seconds} s`)
    return await measure({ who, run, cpu }, seconds * 3)
  }
  return {
    requestsPerSecond,
    cpuMsPerRequest: before === null || after === null ? null : (after - before) / requests,
    bytesPerRequest: bytes / requests,
  }
}

const longestSeconds = 30

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

/** By how much the values differ, as a part of their median. */
export function spreadOf(values: readonly number[]): number {
  return divide(Math.max(...values) - Math.min(...values), medianOf(values)) ?? 0
}

function divide(one: number | null, other: number | null): number | null {
  return one === null || other === null || other === 0 ? null : one / other
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index]
  if (value === undefined) throw new Error('no such value')
  return value
}
