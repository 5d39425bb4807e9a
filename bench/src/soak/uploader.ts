import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../world/practice.ts'
import { sendUpload } from '../world/upload.ts'
import type { Batch } from './kills/ingest-plan.ts'

/** What an uploader saw. `outagesMs`: from the first try that failed to the next answer 200. */
export type IngestRecord = { acknowledged: Batch[]; outagesMs: number[]; refusals: number; broken: number }

/**
 * Uploads the batches one after the other as an agent does: what is not acknowledged is sent again under the same number, until it is.
 * Remembers what was acknowledged. Throws at an answer that is neither the right one nor an orderly "try again".
 */
export async function uploadAll(
  world: World,
  batches: readonly Batch[],
  options: { beforeSending?: (batch: Batch) => void; stopped?: () => boolean } = {},
): Promise<IngestRecord> {
  const [locationId = ''] = world.locationIds
  const record: IngestRecord = { acknowledged: [], outagesMs: [], refusals: 0, broken: 0 }
  for (const batch of batches) {
    options.beforeSending?.(batch)
    let failedAt: number | undefined
    while (!options.stopped?.()) {
      const outcome = await send(world, locationId, batch)
      if (outcome === 'acknowledged') {
        if (failedAt !== undefined) record.outagesMs.push(performance.now() - failedAt)
        record.acknowledged.push(batch)
        break
      }
      failedAt ??= performance.now()
      record[outcome] += 1
      await sleep(50)
    }
  }
  return record
}

async function send(world: World, locationId: string, batch: Batch): Promise<'acknowledged' | 'refusals' | 'broken'> {
  let answer: Awaited<ReturnType<typeof sendUpload>>
  try {
    answer = await sendUpload(world, { locationId, dataset: 'insurance_plans', number: batch.number, body: batch.body })
  } catch {
    return 'broken'
  }
  if (answer.status !== 200) {
    requireOrderlyRefusal(answer)
    return 'refusals'
  }
  const expected = JSON.stringify(sorted(batch.answer))
  const actual = JSON.stringify(sorted(JSON.parse(answer.text)))
  if (actual === expected) return 'acknowledged'
  throw new Error(
    `upload ${batch.number} was answered ${actual}, not ${expected}: something was lost or took effect twice`,
  )
}

/** While something is being killed, a caller may be asked to come back, in our one shape, and nothing else. */
export function requireOrderlyRefusal(answer: { status: number; retryAfter: string | null; text: string }): void {
  const body = parse(answer.text)
  const isOrderly =
    typeof body?.errors === 'string' && typeof body.code === 'string' && /^\d+$/.test(answer.retryAfter ?? '')
  if (answer.status === 503 && isOrderly) return
  throw new Error(`answered ${answer.status}, Retry-After ${answer.retryAfter}: ${answer.text}`)
}

function parse(text: string): { errors?: unknown; code?: unknown } | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function sorted(counts: Record<string, number>): [string, number][] {
  return Object.entries(counts).toSorted(([one], [other]) => (one < other ? -1 : 1))
}
