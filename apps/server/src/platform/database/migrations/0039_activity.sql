-- What the operator's pages plot: of each location and agent by the hour, kept for 30 days, and of each process by the minute, kept for 14
-- days (docs/decisions/activity.md). Counts and times alone: nothing of a patient, no id of a record.
create table location_hour (
  location_id bigint not null,
  hour_at timestamptz not null,
  reads integer not null default 0,
  records_read bigint not null default 0,
  read_errors integer not null default 0,
  uploads integer not null default 0,
  records_changed bigint not null default 0,
  upload_errors integer not null default 0,
  -- How old the copy of the dataset furthest behind became within the hour; null: it was not looked at.
  lag_seconds integer,
  primary key (location_id, hour_at)
);

create table agent_hour (
  agent_id bigint not null,
  hour_at timestamptz not null,
  requests integer not null default 0,
  errors integer not null default 0,
  primary key (agent_id, hour_at)
);

create table service_minute (
  minute_at timestamptz not null,
  process_id uuid not null,
  event_loop_lag_ms real not null,
  memory_bytes bigint not null,
  connections_busy integer not null,
  connections_waited_for integer not null,
  connections_max integer not null,
  -- The rest is of the installation: each process writes what it sees.
  slots_in_use integer not null,
  database_bytes bigint not null,
  disk_free_bytes bigint not null,
  rerender_waiting bigint not null,
  mails_waiting bigint not null,
  primary key (minute_at, process_id)
);
