-- Runs of a dataset's documents, packed for pages: docs/decisions/segments.md. A cache of `record` and never the truth, so unlogged: after a
-- crash of the database, and in a backup, it is empty.

-- The documents with ids in (after_id, last_id], joined by commas, as a raw deflate stream that ends in a full flush; `bytes` and `crc32` of
-- the text. They are those of the dataset when its last stamp was `stamp`. `stale_since`: one of them changed afterwards.
create unlogged table segment (
  location_id bigint not null,
  dataset text not null,
  last_id bigint not null,
  after_id bigint not null,
  records integer not null,
  stamp bigint not null,
  stale_since timestamptz,
  bytes integer not null,
  crc32 bigint not null,
  data bytea not null,
  primary key (location_id, dataset, last_id)
);
alter table segment alter column data set storage external;
create index segment_stale on segment (location_id, dataset, stale_since) where stale_since is not null;

-- How far segments are kept: every change up to `checked_stamp` has marked the segment that it is in. A row is locked by whoever writes the
-- segments of its dataset. `last_id` and `records`: where they end, and how many records are in them. `due_at`: when stale ones are to be packed
-- again.
create unlogged table segment_state (
  location_id bigint not null,
  dataset text not null,
  checked_stamp bigint not null default 0,
  checked_at timestamptz not null default '-infinity',
  last_id bigint not null default 0,
  records bigint not null default 0,
  due_at timestamptz,
  primary key (location_id, dataset)
);
