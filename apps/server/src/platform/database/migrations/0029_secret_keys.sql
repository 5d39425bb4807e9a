-- Rotation of the secret key without downtime (docs/decisions/secret-key-rotation.md). Columns without a default: no table is rewritten.

-- Which secret key a hash was made with. Null: the one that the installation had when this began.
alter table agent add column secret_key_id text;
alter table enrolment_code add column secret_key_id text;
alter table key_pair add column secret_key_id text;
alter table invitation add column secret_key_id text;
alter table sign_up add column secret_key_id text;

-- Since when every process has written with the current key alone; null after a rotation began and before its first.
alter table installation add column secret_key_settled_at timestamptz;

-- The running servers, and which keys each one has read from its file: written again every second, deleted when it stops.
create table secret_key_reader (
  process_id uuid primary key,
  name text not null,
  key_ids text[] not null,
  current_key_id text not null,
  seen_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Each rotation as the verifiers of seals need it: the public keys before and after, and the last seal of the one before
-- with its hash. Signed with both; the
-- server's role may only add and read.
create table seal_key_change (
  number bigint generated always as identity primary key,
  previous_key text not null,
  next_key text not null unique,
  last_seal bigint not null,
  last_seal_sha256 bytea not null,
  changed_at timestamptz not null,
  previous_signature bytea not null,
  next_signature bytea not null
);
