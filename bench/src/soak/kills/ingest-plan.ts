import type { Random } from '@bridgework/practice-simulator'
import { packLines, planLine } from '../../world/upload.ts'

/** One upload of the ingest and the only answer to it that is right, at its first sending and at every other. */
export type Batch = {
  number: number
  body: Buffer<ArrayBuffer>
  plans: { sourceId: string; planName: string }[]
  answer: { inserted: number; changed: number; unchanged: number; hidden: number }
}

/**
 * An ingest of so many plans in batches. Each brings new plans and renames some of the batch before: applied twice, or after one that got
 * lost, it would count otherwise.
 */
export function createBatches(plans: number, batchSize: number, random: Random): Batch[] {
  const batches: Batch[] = []
  for (let first = 1, number = 1; first <= plans; first += batchSize, number += 1) {
    const added = range(first, Math.min(first + batchSize, plans + 1))
    const renamed = number === 1 ? [] : range(first - batchSize, first).filter(() => random.chance(0.1))
    const lines = [...added.map((plan) => planLine(plan)), ...renamed.map((plan) => planLine(plan, 2))]
    batches.push({
      number,
      body: packLines(lines),
      plans: lines.map((line) => ({ sourceId: line.source_id, planName: String(line.attributes.plan_name) })),
      answer: { inserted: added.length, changed: renamed.length, unchanged: 0, hidden: 0 },
    })
  }
  return batches
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}
