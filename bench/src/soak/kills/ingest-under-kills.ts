import assert from 'node:assert/strict'
import { createRandom } from '@bridgework/practice-simulator'
import type { World } from '../../world/practice.ts'
import { describeFaults, expectedOf, findFaults, isWhole } from '../audit.ts'
import { startReader } from '../reader.ts'
import type { RowOptions } from '../row.ts'
import { type IngestRecord, uploadAll } from '../uploader.ts'
import { createBatches } from './ingest-plan.ts'

/**
 * Ingests plans while a vendor reads and `kill` strikes, at random moments spread over all of it; then asserts that what was acknowledged is
 * there, once. `kill` resolves when the next one may come.
 */
export async function ingestUnderKills(
  world: World,
  { plans, kills, seed }: RowOptions,
  kill: (number: number) => Promise<void>,
): Promise<IngestRecord> {
  const random = createRandom(seed)
  // Enough batches for every kill, and none larger than an upload may be.
  const batchSize = Math.min(5_000, Math.max(20, Math.floor(plans / (kills * 3))))
  const batches = createBatches(plans, batchSize, random)
  const stride = batches.length / kills
  let struck = 0
  let striking = Promise.resolve()
  const beforeSending = ({ number }: { number: number }) => {
    if (struck >= kills || number < stride * (struck + 0.5)) return
    struck += 1
    const strike = struck
    // Within a request lie the moments that matter: before it takes effect, after, and before the answer arrives.
    const delayMs = random.next() * 40
    striking = striking.then(() => new Promise((resolve) => setTimeout(resolve, delayMs))).then(() => kill(strike))
    // Looked at when all is over: until then a failure must not end the process.
    striking.catch(() => {})
  }
  const reader = startReader(world)
  try {
    const record = await uploadAll(world, batches, { beforeSending })
    await striking
    const read = await reader.stop()
    assert.equal(struck, kills)
    assert.equal(record.acknowledged.length, batches.length)
    assert.ok(record.broken + record.refusals > 0, 'no kill was ever noticed')
    assert.ok(read.whole > 0, 'the reader never got a page')
    const faults = await findFaults(world, expectedOf(record.acknowledged))
    assert.ok(isWhole(faults), describeFaults(faults))
    return record
  } catch (error) {
    await reader.stop().catch(() => {})
    throw error
  }
}
