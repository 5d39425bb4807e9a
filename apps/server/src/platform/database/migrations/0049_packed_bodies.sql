-- Bodies of uploads, packed as agents sent them (docs/decisions/ingest-speed.md), that consist of runs of lines (line_run) alone: of those that
-- begin with the records of `first_ids`, whose own SHA-256s have that of `runs_sha256` together. It is true for ever of these bytes; whether those
-- runs are there, and say what is stored, is asked each time. `unpacked_sha256` is that of the lines. Written in a writer's turn.
create table packed_body (
  location_id bigint not null,
  dataset text not null,
  first_id bigint not null,
  first_ids bigint[] not null,
  sha256 bytea not null,
  unpacked_sha256 bytea not null,
  runs_sha256 bytea not null,
  primary key (location_id, dataset, first_id)
);
create index packed_body_sha256 on packed_body (location_id, dataset, sha256);

-- What an upload sent again unchanged and knew by runs stands in ranges of ids: two numbers for a run in the place of some hundred keys. The list of
-- keys has another name now: a process of the older version, which does not know of the ranges, would take these records for missing. So it
-- refuses uploads and makes no list of what is missing until it is replaced. The table is locked for a moment only.
alter table upload rename column unchanged_source_ids to unchanged_keys;
alter table upload add column unchanged_ids int8multirange not null default '{}';
