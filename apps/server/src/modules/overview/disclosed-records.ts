import type { Queryable } from '../../platform/database/queryable.ts'
import { type DisclosureCoverage, listDisclosedIds } from '../disclosure/history.ts'
import { identifyPatients, listRecordIds, type PatientIdentity } from '../records/read/patient.ts'

export type DisclosedRecord = { id: string; patient: PatientIdentity | null }

/**
 * The next `limit` records that a disclosure sent or compared, in order of id; `after` '0': from the first. `withPatients`: with the patients
 * whose records they are now; without it, and where a record is no patient's, null.
 */
export async function listDisclosedRecords(
  db: Queryable,
  disclosure: DisclosureCoverage,
  { after, limit, withPatients }: { after: string; limit: number; withPatients: boolean },
): Promise<DisclosedRecord[]> {
  const { locationId, dataset, interval } = disclosure
  const ids = interval
    ? await listRecordIds(db, {
        ...{ locationId, dataset, lastId: interval.lastId, limit },
        after: BigInt(after) > BigInt(interval.afterId) ? after : interval.afterId,
      })
    : await listDisclosedIds(db, disclosure, { after, limit })
  const patients = withPatients ? await identifyPatients(db, { locationId, dataset, ids }) : new Map()
  return ids.map((id) => ({ id, patient: patients.get(id) ?? null }))
}
