-- How many records a filter matches, without counting them one by one: sums of what writers keep under their turn. `span_from`: the first
-- stamp of a span, which ends where the dataset's next one begins and was given at most 10,000 records or one stamp. `starts_week`: weeks from
-- 1970 to the start, -1 without one. `lowest_id`: no record that the row counts has a lower one.

create table record_count (
  location_id bigint not null,
  dataset text not null,
  span_from bigint not null,
  starts_week integer not null,
  records bigint not null,
  lowest_id bigint not null,
  primary key (location_id, dataset, span_from, starts_week)
);

-- Writers wait until the records that are there are counted; readers do not.
lock table dataset_state in exclusive mode;
insert into record_count (location_id, dataset, span_from, starts_week, records, lowest_id)
select location_id, dataset, span_from, starts_week, count(*), min(id)
  from (select location_id, dataset, id, coalesce(starts_at / 604800000000, -1) as starts_week,
               min(modified_at) over (partition by location_id, dataset, span) as span_from
          from (select location_id, dataset, id, starts_at, modified_at,
                       (rank() over (partition by location_id, dataset order by modified_at) - 1) / 10000 as span
                  from record) ranked) spanned
 group by location_id, dataset, span_from, starts_week;

-- The span that takes the next records, and how many it was given. `counted_stamp` is `last_stamp` again: a process of an older version,
-- which would change records and not count them, is refused instead.
alter table dataset_state
  add column span_from bigint not null default 0,
  add column span_records bigint not null default 0,
  add column counted_stamp bigint;
update dataset_state set counted_stamp = last_stamp;
update dataset_state
   set span_from = open.span_from, span_records = open.records
  from (select distinct on (location_id, dataset) location_id, dataset, span_from, sum(records) as records
          from record_count
         group by location_id, dataset, span_from
         order by location_id, dataset, span_from desc) open
 where dataset_state.location_id = open.location_id and dataset_state.dataset = open.dataset;
alter table dataset_state
  alter column counted_stamp set not null,
  add constraint dataset_state_counted check (counted_stamp = last_stamp);
