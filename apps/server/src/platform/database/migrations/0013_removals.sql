-- A removal is a list of source ids, one row each, so that it can be made, shown and carried out in slices, and an upload can take what it
-- names off it. `state`:
--   requested: the location has closed; a list of all its records is to be made
--   listing:   the list is being made
--   held:      waits for a person
--   running:   is carried out, `after_source_id` is done
--   dropped:   was rejected or replaced; its rows are being deleted
-- `list_hash` names the list that a person saw. `remaining` counts the list's rows.
create table removal (
  location_id bigint not null,
  dataset text not null,
  id uuid not null,
  state text not null check (state in ('requested', 'listing', 'held', 'running', 'dropped')),
  list_hash text,
  visible bigint not null default 0,
  remaining bigint not null default 0,
  hidden bigint not null default 0,
  after_source_id text not null default '',
  created_at timestamptz not null default now(),
  held_at timestamptz,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  primary key (location_id, dataset, id)
);
create unique index removal_current on removal (location_id, dataset) where state in ('held', 'running');
create unique index removal_requested on removal (location_id, dataset) where state = 'requested';

create table removal_record (
  location_id bigint not null,
  dataset text not null,
  removal_id uuid not null,
  source_id text not null,
  primary key (location_id, dataset, removal_id, source_id)
);

-- What waits now goes on waiting, without the records that were received since. `removal_hold` is used no more; a process of the older
-- version may still look into it while it is replaced, so a later migration drops it.
insert into removal (location_id, dataset, id, state, visible, held_at)
select location_id, dataset, gen_random_uuid(), 'held', visible, held_at from removal_hold;
insert into removal_record (location_id, dataset, removal_id, source_id)
select h.location_id, h.dataset, r.id, listed.source_id
  from removal_hold h
  join removal r on r.location_id = h.location_id and r.dataset = h.dataset
 cross join unnest(h.source_ids) as listed (source_id)
 where not exists (select from record
                    where record.location_id = h.location_id and record.dataset = h.dataset and record.source_id = listed.source_id
                      and record.received_at > h.held_at)
   and not exists (select from upload, unnest(upload.unchanged_source_ids) as again (source_id)
                    where upload.location_id = h.location_id and upload.dataset = h.dataset and upload.received_at > h.held_at
                      and again.source_id = listed.source_id);
update removal
   set remaining = listed.records, list_hash = listed.hash
  from (select removal_id, count(*) as records,
               encode(substring(sha256(string_agg(sha256(convert_to(source_id, 'UTF8')), '' order by source_id)) for 8), 'hex') as hash
          from removal_record
         group by removal_id) listed
 where removal.id = listed.removal_id;
delete from removal where remaining = 0;

-- Work that fails is tried again later and later, and does not keep other work waiting.
alter table rerender_work
  add column attempts integer not null default 0,
  add column next_attempt_at timestamptz not null default now(),
  add column last_error text;

-- A location that its practice management system no longer has is closed. Only the agent that reported it last can say so.
alter table location
  add column closed_at timestamptz,
  add column reported_by bigint;
