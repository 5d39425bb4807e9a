import { equal } from 'node:assert/strict'
import { clockOf } from '../fixture/reading.ts'
import { batches, type Uploads, uploadAll } from '../fixture/uploads.ts'
import { medianOf } from '../measure.ts'
import { feeScheduleLines, packLines, planLine } from '../world/upload.ts'
import { againstEarlier, earlierOurs, ours, type Row } from './row.ts'
import { type Bench, firstIngestLocation, type Work } from './work.ts'

type Phase = 'new' | 'unchanged' | '1 % changed'
type Take = { phase: Phase; perSecond: number; cpuMs: number | null }

/** Uploads through HTTP, parsed, checked, rendered and committed: to one location, and to eight at the same time. */
export const ingest: Work = async (bench) => {
  const rows: Row[] = []
  for (const locations of [1, 8]) rows.push(...(await ofLocations(bench, locations)))
  return rows
}

async function ofLocations(bench: Bench, locations: number): Promise<Row[]> {
  const { options, say } = bench
  const records = options.isQuick ? 10_000 : locations === 1 ? 50_000 : 20_000
  const bodies = bodiesOf(records)
  const sides = [
    { who: ours, uploads: bench.uploads, takes: [] as Take[] },
    ...(bench.earlier ? [{ who: earlierOurs, uploads: bench.earlier, takes: [] as Take[] }] : []),
  ]
  say(`Ingest, ${locations} location${locations === 1 ? '' : 's'} …`)
  for (let round = 0; round < options.rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const first = firstIngestLocation + round * 9 + (locations === 1 ? 0 : 1)
      const ids = side.uploads.world.locationIds.slice(first, first + locations)
      equal(ids.length, locations)
      side.takes.push(...(await takeAll(side.uploads, ids, bodies, records)))
    }
  }
  return phases.flatMap((phase) => {
    const takesOf = (index: number) => sides[index]?.takes.filter((take) => take.phase === phase) ?? []
    return sides.map(({ who }, index) => {
      const takes = takesOf(index)
      const ratios = takesOf(0).map((mine, round) => mine.perSecond / (takes[round]?.perSecond ?? Number.NaN))
      const cpuRatios = takesOf(0).map(({ cpuMs }, round) => {
        const other = takes[round]?.cpuMs
        return cpuMs === null || other == null ? null : other / cpuMs
      })
      return {
        work: 'ingest',
        name: `${phase} records, ${locations} location${locations === 1 ? '' : 's'}`,
        who,
        connections: locations,
        perSecond: medianOf(takes.map(({ perSecond }) => perSecond)) ?? 0,
        cpuMs: medianOf(takes.map(({ cpuMs }) => cpuMs)),
        bytes: null,
        ratio: index === 0 ? null : medianOf(ratios),
        cpuRatio: index === 0 ? null : medianOf(cpuRatios),
        target: index === 0 ? null : againstEarlier,
      } as const
    })
  })
}

const phases: readonly Phase[] = ['new', 'unchanged', '1 % changed']

/** Each phase sends all records to every location, which are uploaded to at the same time. */
async function takeAll(
  uploads: Uploads,
  locationIds: readonly string[],
  bodies: Record<Phase, Buffer<ArrayBuffer>[]>,
  records: number,
): Promise<Take[]> {
  for (const locationId of locationIds)
    await uploadAll(uploads, locationId, 'fee_schedules', [packLines(feeScheduleLines())])
  const cpu = clockOf(uploads.world)
  const takes: Take[] = []
  for (const phase of phases) {
    const before = cpu()
    const begunAt = performance.now()
    const counts = await Promise.all(
      locationIds.map((locationId) => uploadAll(uploads, locationId, 'insurance_plans', bodies[phase])),
    )
    const seconds = (performance.now() - begunAt) / 1000
    const after = cpu()
    for (const { inserted = 0, unchanged = 0 } of counts) {
      equal(inserted, phase === 'new' ? records : 0)
      if (phase === 'unchanged') equal(unchanged, records)
      if (phase === '1 % changed') equal(unchanged, records - records / 100)
    }
    const sent = records * locationIds.length
    const cpuMs = before === null || after === null ? null : (1000 * (after - before)) / sent
    takes.push({ phase, perSecond: sent / seconds, cpuMs })
  }
  return takes
}

function bodiesOf(records: number): Record<Phase, Buffer<ArrayBuffer>[]> {
  const bodies = (versionOf: (number: number) => number) =>
    batches(records).map((batch) => packLines(batch.map((number) => planLine(number, versionOf(number)))))
  const fresh = bodies(() => 1)
  return { new: fresh, unchanged: fresh, '1 % changed': bodies((number) => (number % 100 === 0 ? 2 : 1)) }
}
