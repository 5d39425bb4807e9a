import { type DatasetName, datasets } from '@bridgework/contract'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { LocationId } from '../../platform/identity/identity.ts'

/**
 * The patients of this number of the practice management system at these locations, each with the ids of its record and of all records that
 * are the patient's now. By keys: a look for each location, and one for each dataset of a patient.
 */
export async function findPatientRecords(
  db: Queryable,
  locationIds: readonly LocationId[],
  sourceId: string,
): Promise<{ locationId: LocationId; patientId: string; records: { dataset: DatasetName; id: string }[] }[]> {
  const { rows } = await db.query<{ location_id: LocationId; patient_id: string; dataset: DatasetName; id: string }>(
    `select patient.location_id, patient.id as patient_id, each.dataset, each.id
       from record patient
      cross join lateral (
            select 'patients' as dataset, patient.id
             union all
            select own.dataset, own.id
              from unnest($3::text[]) as of (dataset)
              join record own on own.location_id = patient.location_id and own.dataset = of.dataset and own.patient_id = patient.id) each
      where patient.location_id = any($1::bigint[]) and patient.dataset = 'patients' and patient.source_id = $2`,
    [locationIds, sourceId, datasets.map(({ name }) => name)],
  )
  return [...Map.groupBy(rows, (row) => row.location_id)].map(([locationId, own]) => ({
    locationId,
    // Each group has a row.
    patientId: own[0]?.patient_id ?? '0',
    records: own.map(({ dataset, id }) => ({ dataset, id })),
  }))
}
