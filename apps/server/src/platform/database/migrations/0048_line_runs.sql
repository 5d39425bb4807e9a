-- Runs of lines, some 32 KB each, as agents sent them (docs/decisions/ingest-speed.md): bytes with this SHA-256 say what is stored, while the
-- records of the location's dataset from first_id to last_id are so many with the keys and hashes of `records_sha256`. It is true for ever of
-- these bytes; whether the records are still those is asked each time. Written in a writer's turn.
create table line_run (
  location_id bigint not null,
  dataset text not null,
  first_id bigint not null,
  last_id bigint not null,
  records integer not null,
  bytes integer not null,
  sha256 bytea not null,
  records_sha256 bytea not null,
  primary key (location_id, dataset, first_id)
);

-- An upload's list of unchanged keys is some 80 KB. To compress it took half of the time that an unchanged upload holds its turn. Old values stay
-- as they are. The table is locked for a moment only.
alter table upload alter column unchanged_source_ids set storage external;
