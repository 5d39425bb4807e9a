-- Bodies of uploads, packed as agents sent them (docs/decisions/ingest-speed.md): bytes with this SHA-256 say what is stored while the records of the
-- location's dataset from first_id to last_id are as many, with the keys and hashes of `records_sha256`. That is true of these bytes for ever; whether
-- the records are still those is asked each time. `unpacked_sha256` is that of the lines. Written in a writer's turn.
drop table packed_body;
create table packed_body (
  location_id bigint not null,
  dataset text not null,
  first_id bigint not null,
  last_id bigint not null,
  records integer not null,
  records_sha256 bytea not null,
  sha256 bytea not null,
  unpacked_sha256 bytea not null,
  primary key (location_id, dataset, first_id)
);
create index packed_body_sha256 on packed_body (location_id, dataset, sha256);

-- Parts of uploads are no longer known by their bytes.
drop table line_run;
