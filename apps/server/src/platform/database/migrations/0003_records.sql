-- The datasets' store. Every table is led by location_id, in its key and in every unique index, and every statement gives it as a parameter.
-- Stamps are microseconds since 1970: of one location's dataset they rise strictly from commit to commit.

create table dataset_state (
  location_id bigint not null,
  dataset text not null,
  first_stamp bigint not null,
  last_stamp bigint not null,
  total bigint not null default 0,
  visible bigint not null default 0,
  synced_at timestamptz,
  initial_sync_completed_at timestamptz,
  primary key (location_id, dataset)
);

-- `source` is what the agent sent, in the contract's order of attributes, and `source_hash` the first 16 bytes of its SHA-256. `document`
-- is what vendors receive, rendered when it was written. Both are text and not jsonb: jsonb refuses some characters that JSON allows.
create table record (
  location_id bigint not null,
  dataset text not null,
  id bigint not null,
  source_id text not null,
  modified_at bigint not null,
  is_hidden boolean not null,
  agent_id bigint not null,
  upload_number bigint not null,
  received_at timestamptz not null,
  source_hash bytea not null,
  source text not null,
  document text not null,
  primary key (location_id, dataset, id),
  unique (location_id, dataset, source_id)
);
create index record_modified on record (location_id, dataset, modified_at, id);

-- Ids are unique per type over all locations and never reused. CACHE 1, so that they rise in the order in which they are drawn.
create sequence record_id_fee_schedules cache 1;
create sequence record_id_insurance_plans cache 1;

-- Which record's rendering contains which other one, so that a change of the latter finds the former.
create table record_embed (
  location_id bigint not null,
  target_dataset text not null,
  target_source_id text not null,
  dataset text not null,
  record_id bigint not null,
  primary key (location_id, target_dataset, target_source_id, dataset, record_id)
);
create index record_embed_of_record on record_embed (location_id, dataset, record_id);

-- Renderings still to be made again after a change of a widely embedded record: resumed after a crash, gone when done.
create table rerender_work (
  location_id bigint not null,
  target_dataset text not null,
  target_source_id text not null,
  dataset text not null,
  after_id bigint not null default 0,
  created_at timestamptz not null default now(),
  primary key (location_id, target_dataset, target_source_id, dataset)
);

-- Uploads of the last 7 days: the same one again gets the same answer.
create table upload (
  location_id bigint not null,
  dataset text not null,
  agent_id bigint not null,
  number bigint not null,
  body_hash bytea not null,
  answer text not null,
  unchanged_source_ids text[] not null,
  received_at timestamptz not null,
  primary key (location_id, dataset, agent_id, number)
);
create index upload_received on upload (location_id, received_at);

-- A removal of so many records that a person must confirm it. At most one of a dataset: the newest list replaces the older.
create table removal_hold (
  location_id bigint not null,
  dataset text not null,
  agent_id bigint not null,
  source_ids text[] not null,
  visible bigint not null,
  held_at timestamptz not null,
  primary key (location_id, dataset)
);
