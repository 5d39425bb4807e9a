-- What is written at every request stays in ordinary tables of one node.

-- Admitted token requests of an address in the last 60 s (a sliding log). Logged: the limit survives a restart.
create table token_attempt (
  address text primary key,
  admitted_at timestamptz[] not null
);

-- The lock under which a company's slots of one type are counted.
create unlogged table sync_slot_gate (
  company_id uuid not null,
  sync_type text not null check (sync_type in ('initial', 'incremental')),
  primary key (company_id, sync_type)
);

-- Locations with requests in flight. A process renews its rows; those of a dead one expire. Unlogged: after a crash of the database
-- there is no request in flight.
create unlogged table sync_slot (
  company_id uuid not null,
  sync_type text not null,
  location_id bigint not null,
  process_id uuid not null,
  expires_at timestamptz not null,
  primary key (company_id, sync_type, location_id, process_id)
);

-- Who read what, when. The server's role may only add and read. `after_id` and `last_id` say an unfiltered page exactly, because no id is
-- ever added below one already served; any other answer lists its ids.
create table disclosure (
  id bigint generated always as identity primary key,
  disclosed_at timestamptz not null default clock_timestamp(),
  company_id uuid not null,
  key_pair_id uuid not null,
  location_id bigint not null,
  dataset text not null,
  filters jsonb not null,
  records integer not null check (records > 0),
  after_id bigint,
  last_id bigint,
  record_ids bigint[],
  request_id text not null,
  ip inet not null,
  check ((record_ids is null) = (after_id is not null and last_id is not null))
);
create index disclosure_of_location on disclosure (location_id, disclosed_at);
create index disclosure_of_company on disclosure (company_id, disclosed_at);
