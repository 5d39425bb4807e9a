import { type DatasetName, datasets } from '@bridgework/contract'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { containing } from '../../../platform/database/search.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'

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

/** A patient as the practice knows the person. */
export type PatientIdentity = { number: string; name: string; dateOfBirth: string | null }

/** The next `limit` ids of a dataset's records in (after, lastId], in order. By the primary key. */
export async function listRecordIds(
  db: Queryable,
  { locationId, dataset, after, lastId, limit }: Place & { after: string; lastId: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from record where location_id = $1 and dataset = $2 and id > $3 and id <= $4 order by id limit $5`,
    [locationId, dataset, after, lastId, limit],
  )
  return rows.map(({ id }) => id)
}

/** Whose records these are now, by the ids of the records; one that is no patient's is not in it. */
export async function identifyPatients(
  db: Queryable,
  { locationId, dataset, ids }: Place & { ids: readonly string[] },
): Promise<Map<string, PatientIdentity>> {
  const { rows } = await db.query<IdentityRow & { id: string }>(
    `select own.id, patient.source_id, (patient.document::json -> 'attributes')::text as attributes
       from record own
       join record patient on patient.location_id = own.location_id and patient.dataset = 'patients'
                          and patient.id = case when own.dataset = 'patients' then own.id else own.patient_id end
      where own.location_id = $1 and own.dataset = $2 and own.id = any($3::bigint[])`,
    [locationId, dataset, ids],
  )
  return new Map(rows.map((row) => [row.id, toIdentity(row)]))
}

/**
 * The first patients of a location whose names have all of these words in them, in any case. It reads all patients of the location: the whole
 * text is looked at first, because taking a name out of it costs more.
 */
export async function findPatientsByName(
  db: Queryable,
  locationId: LocationId,
  words: readonly string[],
  limit: number,
): Promise<PatientIdentity[]> {
  const patterns = words.map(containing)
  const inText = words.map((word) => containing(JSON.stringify(word).slice(1, -1)))
  const { rows } = await db.query<IdentityRow>(
    `select source_id, attributes::text
       from record
      cross join lateral (select document::json -> 'attributes' as attributes) of
      where location_id = $1 and dataset = 'patients' and document ilike all($2::text[])
        and concat_ws(' ', attributes ->> 'first_name', attributes ->> 'middle_name', attributes ->> 'last_name',
                      attributes ->> 'preferred_name') ilike all($3::text[])
      order by id
      limit $4`,
    [locationId, inText, patterns, limit],
  )
  return rows.map(toIdentity)
}

type Place = { locationId: LocationId; dataset: DatasetName }
type IdentityRow = { source_id: string; attributes: string }

function toIdentity({ source_id: number, attributes }: IdentityRow): PatientIdentity {
  const text: { [name: string]: string | null } = JSON.parse(attributes)
  const name = [text.first_name, text.middle_name, text.last_name].filter(Boolean).join(' ')
  return { number, name: name || 'No name', dateOfBirth: text.date_of_birth ?? null }
}
