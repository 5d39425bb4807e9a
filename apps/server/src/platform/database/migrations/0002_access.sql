-- Who may read what. Secrets are 256 random bits and stored as HMAC-SHA-256 under the installation's secret key.

-- One row: proof that the secret key of the settings is the one that the stored hashes were made with.
create table installation (
  only_one boolean primary key default true check (only_one),
  id uuid not null,
  secret_key_check bytea not null,
  created_at timestamptz not null default now()
);

-- A version binds every company from `enforced_at` on, and each one earlier, from its acceptance.
create table agreement (
  version integer primary key check (version > 0),
  body text not null,
  published_at timestamptz not null default now(),
  enforced_at timestamptz not null
);

create table agreement_acceptance (
  company_id uuid not null references company (id),
  version integer not null references agreement (version),
  member_id uuid not null references member (id),
  accepted_at timestamptz not null default now(),
  primary key (company_id, version)
);

create table key_pair (
  id uuid primary key,
  company_id uuid not null references company (id),
  client_id text not null unique,
  secret_hmac bytea not null,
  created_by uuid references member (id),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  revoked_by uuid references member (id)
);
-- Two requests to regenerate at once end with one live pair, whatever they both read before.
create unique index key_pair_one_live on key_pair (company_id) where revoked_at is null;

-- Token signing keys. New tokens are signed with the newest active key; a retired one still verifies; a withdrawn one does not.
create table signing_key (
  kid text primary key,
  public_jwk jsonb not null,
  private_jwk jsonb,
  state text not null default 'active' check (state in ('active', 'retired', 'withdrawn')),
  created_at timestamptz not null default now(),
  retired_at timestamptz
);

-- What a practice opened to whom, kept for ever as the history of its consents. `location_id` null: every location of the organization,
-- those of the future included.
create table access_grant (
  id uuid primary key,
  company_id uuid not null references company (id),
  organization_id bigint not null references organization (id),
  location_id bigint references location (id),
  dataset text not null,
  granted_at timestamptz not null default now(),
  granted_by text not null,
  revoked_at timestamptz,
  revoked_by text
);
create unique index access_grant_live on access_grant (company_id, organization_id, coalesce(location_id, 0), dataset)
  where revoked_at is null;
create index access_grant_of_organization on access_grant (organization_id, company_id);

-- The grants in force, one row for each location and dataset: what every read checks. Led by location_id like all that grows with practices.
-- `granted_stamp` is the dataset's stamp that the granting transaction drew: a delta from before it returns the whole dataset.
create table dataset_grant (
  location_id bigint not null,
  company_id uuid not null,
  dataset text not null,
  granted_stamp bigint not null,
  granted_at timestamptz not null,
  primary key (location_id, company_id, dataset)
);

create table agent (
  id bigint primary key check (id between 1 and 9007199254740991),
  organization_id bigint not null references organization (id),
  name text not null,
  version text,
  key_hmac bytea not null unique,
  enrolled_at timestamptz not null default now(),
  revoked_at timestamptz
);

create table enrolment_code (
  code_hmac bytea primary key,
  organization_id bigint not null references organization (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

-- Written at every request of an agent: an ordinary table, neither reference nor distributed.
create table agent_contact (
  agent_id bigint primary key,
  last_contact_at timestamptz not null
);
