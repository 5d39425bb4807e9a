-- Starts before 1970 had no moment, so no filter found them; those after 2255 had one that was rounded. Every start has its moment now, and the weeks
-- before 1970 are negative: records without a start are counted under the lowest integer, in place of -1.
-- Lock: the few rows that each location's dataset has.
update record_count set starts_week = -2147483648 where starts_week = -1;

create temporary table start_mended on commit drop as
select location_id, dataset, id, modified_at,
       coalesce(starts_at / 604800000000, -2147483648) as week_before,
       -- PostgreSQL has no year 0000. The year 0004 is as long, and begins 1,461 days later.
       (extract(epoch from overlay(starts placing case left(starts, 4) when '0000' then '0004' else left(starts, 4) end from 1)::timestamptz)
        * 1000000)::bigint - case left(starts, 4) when '0000' then 1461 * 86400000000 else 0 end as starts_at
  from (select location_id, dataset, id, modified_at, starts_at, document::json #>> '{attributes,starts_at}' as starts
          from record
         where dataset = 'appointments' and (starts_at is null or starts_at > 9007199254740991)
           and document like '%"starts_at":"%') found
 where starts is not null;

-- Lock: the few appointments before 1970 and after 2255, by their key.
update record
   set starts_at = start_mended.starts_at
  from start_mended
 where record.location_id = start_mended.location_id and record.dataset = start_mended.dataset and record.id = start_mended.id;

create temporary table count_mended on commit drop as
select m.location_id, m.dataset, span.span_from, moved.starts_week, sum(moved.records) as records, min(m.id) as lowest_id
  from start_mended m
 cross join lateral (
       select max(span_from) as span_from
         from record_count c
        where c.location_id = m.location_id and c.dataset = m.dataset and c.span_from <= m.modified_at) span
 cross join lateral (
       values (m.week_before, -1), (floor(m.starts_at::numeric / 604800000000)::integer, 1)) as moved (starts_week, records)
 group by 1, 2, 3, 4
having sum(moved.records) <> 0;

insert into record_count as counted (location_id, dataset, span_from, starts_week, records, lowest_id)
select location_id, dataset, span_from, starts_week, records, lowest_id from count_mended
    on conflict (location_id, dataset, span_from, starts_week) do update
   set records = counted.records + excluded.records, lowest_id = least(counted.lowest_id, excluded.lowest_id);
