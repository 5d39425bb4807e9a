import type { Pool } from 'pg'

/** Tells where the counts that writers keep differ from the records that are there: a `miscount` for each place. */
export const miscountStatement = `
  with counted as (
    select location_id, dataset, span_from, starts_week, records, lowest_id from record_count where records <> 0
  ), there as (
    select location_id, dataset,
           (select max(span_from) from counted where counted.location_id = record.location_id
                                                 and counted.dataset = record.dataset and span_from <= modified_at) as span_from,
           coalesce(floor(starts_at::numeric / 604800000000)::bigint, -2147483648) as starts_week, count(*) as records, min(id) as lowest_id
      from record
     group by 1, 2, 3, 4
  )
  select format('%s: counted are %s from id %s on, and there are %s from id %s on, of span %s and week %s',
                dataset, counted.records, counted.lowest_id, there.records, there.lowest_id, span_from, starts_week) as miscount
    from counted full join there using (location_id, dataset, span_from, starts_week)
   where counted.records is distinct from there.records or counted.lowest_id > there.lowest_id`

/** The miscounts of all locations; empty when the counts are right. */
export async function findMiscounts(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ miscount: string }>(miscountStatement)
  return rows.map((row) => row.miscount)
}
