import type { DatasetName } from '@bridgework/contract'
import { instantText } from '../../platform/database/instant-text.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import { fromRow, type RowOf } from '../../platform/database/rows.ts'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'

/** A patient of a location: the ids of the patient's record and of all records that are the patient's. */
export type PatientRecords = {
  locationId: LocationId
  patientId: string
  records: readonly { dataset: DatasetName; id: string }[]
}

/**
 * The disclosures that told a company something of a patient's records of one dataset, as one: the first, the last and how many, as 45 CFR
 * 164.528(b)(3) allows for those to one recipient for one purpose. `kind`: `sent` records, or only `counted` or `compared` (by a digest) them.
 */
export type PatientDisclosures = {
  companyId: CompanyId
  locationId: LocationId
  dataset: DatasetName
  kind: 'sent' | 'counted' | 'compared'
  firstAt: Date
  lastAt: Date
  count: number
}

/**
 * Adds disclosures with ids in (afterId, lastId] to the days that they are of. Each must be added once: hand down the transaction that notes
 * how far the ids are done. Values that no honest entry has are left out, so that none can hold up the others.
 */
export async function addDisclosedDays(db: Queryable, afterId: string, lastId: string): Promise<void> {
  if (afterId === lastId) return
  await db.query(
    `insert into disclosed_day as known (location_id, day, company_id, dataset, first_at, last_at, ids, patient_ids)
     select location_id, (disclosed_at at time zone 'UTC')::date as day, company_id, dataset, min(disclosed_at), max(disclosed_at),
            coalesce(range_agg(ids), '{}'), coalesce(range_agg(patient_ids), '{}')
       from (select location_id, disclosed_at, company_id, dataset,
                    case when record_ids is null
                         then int8multirange(int8range(least(after_id, last_id, $3), least(greatest(after_id, last_id), $3), '(]'))
                         else (select range_agg(int8range(each, each, '[]')) from unnest(record_ids) each where each < $3)
                    end as ids,
                    case when filters ->> 'patient_id' ~ '^[0-9]{1,18}$'
                         then int8multirange(int8range((filters ->> 'patient_id')::bigint, (filters ->> 'patient_id')::bigint, '[]'))
                    end as patient_ids
               from disclosure
              where id > $1 and id <= $2 and isfinite(disclosed_at)) entry
      group by 1, 2, 3, 4
         on conflict (location_id, day, company_id, dataset) do update
        set first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at),
            ids = known.ids + excluded.ids, patient_ids = known.patient_ids + excluded.patient_ids`,
    [afterId, lastId, idMax],
  )
}

/**
 * The disclosures that told something of a patient, the newest first: by the days whose ids hold one of the patient's, and then the disclosures of
 * those days alone (disclosure_of_location_by_company). `doneTo`: up to this id disclosures were added to days; the others are looked at
 * themselves. In statements of their own, because each is planned for the months between the instants that it is given: planning for all
 * months at once took as long as the search.
 */
export async function listPatientDisclosures(
  db: Queryable,
  patient: PatientRecords,
  { from, until, doneTo }: { from: Date; until: Date; doneTo: string },
): Promise<PatientDisclosures[]> {
  const days = await listTouchedDays(db, patient, { from, until })
  const touchedFrom = days[0]?.firstAt ?? null
  const { rows } = await db.query<RowOf<PatientDisclosures>>(
    `with own as materialized (${ownIds})
     select company_id, $1::bigint as location_id, dataset,
            case when digested is not null then 'compared' when records = 0 then 'counted' else 'sent' end as kind,
            min(disclosed_at) as first_at, max(disclosed_at) as last_at, count(*)::integer as count
       from (select entry.*, own.ids
               from unnest($5::uuid[], $6::text[], $7::timestamptz[], $8::timestamptz[]) touched (company_id, dataset, first_at, last_at)
               left join own using (dataset)
              cross join lateral (
                    select *
                      from disclosure
                     where location_id = $1 and company_id = touched.company_id
                       and disclosed_at between touched.first_at and touched.last_at
                       and dataset = touched.dataset and id <= $11 and disclosed_at >= $12
                    offset 0) entry
              union all
             select entry.*, own.ids
               from disclosure entry
               left join own on own.dataset = entry.dataset
              where entry.location_id = $1 and entry.disclosed_at >= $13 and entry.id > $11) found
      where disclosed_at >= $9 and disclosed_at < $10
        and (filters ->> 'patient_id' = $4::text
             or record_ids is null and int8range(least(after_id, last_id), greatest(after_id, last_id), '(]') && ids
             or exists (select 1 from unnest(record_ids) each where ids @> each))
      group by company_id, dataset, kind
      order by last_at desc`,
    [
      ...valuesOf(patient),
      days.map(({ companyId }) => companyId),
      days.map(({ dataset }) => dataset),
      days.map(({ firstAt }) => firstAt),
      days.map(({ lastAt }) => lastAt),
      from,
      until,
      doneTo,
      touchedFrom ?? until,
      await newerFrom(db, patient.locationId, from),
    ],
  )
  return rows.map(fromRow<PatientDisclosures>)
}

/** A company's reads of a dataset on one day that hold an id of the patient, or name the patient. Instants are text: a Date loses microseconds. */
type TouchedDay = { companyId: CompanyId; dataset: DatasetName; firstAt: string; lastAt: string }

/** In order of time; one index (disclosed_day_pkey) in the months of the period. */
async function listTouchedDays(
  db: Queryable,
  patient: PatientRecords,
  { from, until }: { from: Date; until: Date },
): Promise<TouchedDay[]> {
  const { rows } = await db.query<RowOf<TouchedDay>>(
    `with own as materialized (${ownIds})
     select known.company_id, known.dataset, ${instantText('known.first_at')} as first_at,
            ${instantText('known.last_at')} as last_at
       from disclosed_day known
       left join own using (dataset)
      where known.location_id = $1 and known.day between ($5::timestamptz at time zone 'UTC')::date and ($6::timestamptz at time zone 'UTC')::date
        and (known.ids && own.ids or known.patient_ids @> $4::bigint)
      order by known.first_at`,
    [...valuesOf(patient), from, until],
  )
  return rows.map(fromRow<TouchedDay>)
}

/** No disclosure that waits for its day is older: an hour before the location's newest day, as writers of one moment commit in any order. */
async function newerFrom(db: Queryable, locationId: LocationId, from: Date): Promise<string | Date> {
  const { rows } = await db.query<{ at: string }>(
    `select to_char(day - interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at
       from disclosed_day
      where location_id = $1 and day >= ($2::timestamptz at time zone 'UTC')::date
      order by day desc
      limit 1`,
    [locationId, from],
  )
  return rows[0]?.at ?? from
}

/** The ids of `valuesOf` by dataset. */
const ownIds = `select dataset, range_agg(int8range(id, id, '[]')) as ids
                  from unnest($2::text[], $3::bigint[]) own (dataset, id)
                 group by dataset`

function valuesOf({ locationId, records, patientId }: PatientRecords): unknown[] {
  return [locationId, records.map(({ dataset }) => dataset), records.map(({ id }) => id), patientId]
}

/** A range ends before the highest bigint. */
const idMax = String(2n ** 63n - 2n)
