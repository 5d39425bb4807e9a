import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import { lastActId } from '../audit/entry.ts'
import { addDisclosedDays } from '../disclosure/accounting.ts'
import { lastDisclosureId } from '../disclosure/entry.ts'
import { addToHeads, sealed } from './practice-heads.ts'
import { hashActs, hashDisclosures, readRun, runHash } from './run.ts'
import { marksOf, noSeal, practiceSealText, practicesHash, previousOf, sealText } from './seal.ts'
import type { SealKey } from './seal-key.ts'
import { settledId } from './settled.ts'
import {
  findLastSeal,
  insertPracticeSeals,
  insertSeal,
  listUnsealedHeads,
  lockChain,
  type StoredPracticeSeal,
  saveHeads,
} from './store.ts'

/** Entries of each kind in one seal: what one transaction holds in memory, and what `verify` names a changed row from. */
const entriesMax = 5_000
/** A practice with so many entries gets its seal before the day ends, so that an export never sorts more. */
const practiceEntriesMax = 50_000

/** The key that signs in this transaction, which holds the chain: a rotation changes it only between two seals. */
export type ReadSealKey = (db: Queryable) => Promise<SealKey>

export type Sealer = { start: () => void; stop: () => Promise<void> }

/**
 * Seals what is new every `everyMs`, and once more when it stops. `afterwards` runs after each time, for what follows from new seals. A failure
 * is logged, and the next time does all that is left.
 */
export function createSealer(deps: {
  pool: Pool
  key: ReadSealKey
  now: () => Date
  log: Log
  afterwards?: () => Promise<unknown>
  everyMs?: number
}): Sealer {
  const { log, afterwards = async () => {}, everyMs = 60_000 } = deps
  const loop = createLoop({
    steps: {
      seal: async (stopping) => {
        while ((await sealOnce(deps)).isMore && !stopping.aborted);
      },
      'publish seals': afterwards,
    },
    ...{ everyMs, firstAfterMs: 0, log },
  })
  return {
    start: loop.start,
    async stop() {
      await loop.stop()
      await loop.run()
    },
  }
}

/**
 * Writes one seal over what is committed and not yet sealed, in one transaction; none when there is nothing new or another process is at it.
 * `isMore`: there is more than one seal holds.
 */
export async function sealOnce(deps: {
  pool: Pool
  key: ReadSealKey
  now: () => Date
}): Promise<{ number: number | null; isMore: boolean }> {
  return await withTransaction(deps.pool, async (client) => {
    if (!(await lockChain(client))) return { number: null, isMore: false }
    const key = await deps.key(client)
    const last = await findLastSeal(client)
    const before = last ?? noSeal
    const sealedAt = deps.now().toISOString().replace('Z', '000Z')
    const disclosureMax = await settledId(client, 'disclosure', lastDisclosureId)
    const disclosures = await readRun(client, hashDisclosures, before.lastDisclosureId, disclosureMax, entriesMax)
    const actMax = await settledId(client, 'audit_event', lastActId)
    const acts = await readRun(client, hashActs, before.lastActId, actMax, entriesMax)
    await addToHeads(client, disclosures.entries)
    await addDisclosedDays(client, before.lastDisclosureId, disclosures.lastId)
    const isMore = disclosures.isMore || acts.isMore
    const isNewDay = last !== null && last.sealedAt.slice(0, 10) < sealedAt.slice(0, 10)
    const number = before.number + 1
    const practices = await sealPractices(client, key, {
      sealNumber: number,
      sealedAt,
      // While older entries are still to come, a seal for each practice after each slice would be of no use.
      unsealedMin: isNewDay && !isMore ? 1 : practiceEntriesMax,
    })
    if (disclosures.entries.length === 0 && acts.entries.length === 0 && practices.length === 0)
      return { number: null, isMore: false }
    const seal = {
      number,
      previous: previousOf(last),
      sealedAt,
      lastDisclosureId: disclosures.lastId,
      disclosures: disclosures.entries.length,
      disclosuresSha256: runHash(disclosures.entries),
      lastActId: acts.lastId,
      acts: acts.entries.length,
      actsSha256: runHash(acts.entries),
      practices: practices.length,
      practicesSha256: practicesHash(practices),
      keyId: key.id,
    }
    await insertSeal(client, {
      ...seal,
      signature: key.sign(sealText(seal)),
      disclosureMarks: marksOf(disclosures.entries.map(({ hash }) => hash)),
      actMarks: marksOf(acts.entries.map(({ hash }) => hash)),
    })
    return { number, isMore }
  })
}

async function sealPractices(
  db: Queryable,
  key: SealKey,
  { unsealedMin, sealNumber, sealedAt }: { unsealedMin: number; sealNumber: number; sealedAt: string },
): Promise<StoredPracticeSeal[]> {
  const heads = await listUnsealedHeads(db, unsealedMin)
  if (heads.length === 0) return []
  const seals = heads.map(({ organizationId, entries, head, lastDisclosureId, firstAt, lastAt }) => {
    const seal = { organizationId, entries, head, lastDisclosureId, sealedAt, keyId: key.id }
    // A head with entries since its last seal has their times.
    const times = { firstAt: firstAt as string, lastAt: lastAt as string }
    return { ...seal, ...times, signature: key.sign(practiceSealText(seal)), sealNumber }
  })
  await insertPracticeSeals(db, seals)
  await saveHeads(db, heads.map(sealed))
  return seals
}
