-- A grant says what it is for and may end by the clock (docs/decisions/grant-end.md). Null: no purpose was given; no end. Both columns of
-- dataset_grant and access_grant are without a default, so no table is rewritten.

alter table access_grant
  add column purpose text,
  add column ends_at timestamptz;

alter table dataset_grant add column ends_at timestamptz;

create index access_grant_ending on access_grant (ends_at) where revoked_at is null and ends_at is not null;
