-- Seals over disclosures and acts (docs/decisions/chain.md). Tables of their own: the tables that are sealed, which may be large, are not
-- touched. What they hold already is sealed by the server, a slice at a time.

-- The server's role may only add and read. `*_marks`: the first 8 bytes of each entry's hash, to name a changed row; not signed.
create table seal (
  number bigint primary key,
  previous bytea not null,
  sealed_at timestamptz not null,
  last_disclosure_id bigint not null,
  disclosures integer not null,
  disclosures_sha256 bytea not null,
  last_act_id bigint not null,
  acts integer not null,
  acts_sha256 bytea not null,
  practices integer not null,
  practices_sha256 bytea not null,
  key_id text not null,
  signature bytea not null,
  disclosure_marks bytea not null,
  act_marks bytea not null
);
create index seal_of_time on seal (sealed_at);

-- What a practice's own export is checked with; the server's role may only add and read. `first_at` and `last_at`: the times between which
-- its entries since the practice's seal before are; they find the rows and are not signed.
create table practice_seal (
  organization_id bigint not null,
  entries bigint not null,
  head bytea not null,
  last_disclosure_id bigint not null,
  sealed_at timestamptz not null,
  key_id text not null,
  signature bytea not null,
  seal_number bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (organization_id, entries)
);
create index practice_seal_of_seal on practice_seal (seal_number);

-- Where each practice's chain is now: the sealer's own notes, which can be computed again from the disclosures. The last columns tell of the
-- entries since the practice's last seal.
create table practice_head (
  organization_id bigint primary key,
  entries bigint not null,
  head bytea not null,
  last_disclosure_id bigint not null,
  unsealed integer not null,
  first_at timestamptz,
  last_at timestamptz
);
create index practice_head_unsealed on practice_head (unsealed) where unsealed > 0;

-- Which records each company received on a day (UTC), from the sealer: an accounting for a patient reads these rows of a location, and then the
-- disclosures of the days that matter. `patient_ids`: patients that a filter named. One row for each day, company and dataset, however often
-- was read; pages and digests are one range each.
create table disclosed_day (
  location_id bigint not null,
  day date not null,
  company_id uuid not null,
  dataset text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  ids int8multirange not null,
  patient_ids int8multirange not null,
  primary key (location_id, day, company_id, dataset)
);
