-- Who exists. Small tables that change rarely: on a cluster they become reference tables, so none of them refers to a large one.
-- Ids of organizations and locations are random below 2^53: they appear in JSON as integers, and say nothing about how many there are.

create table organization (
  id bigint primary key check (id between 1 and 9007199254740991),
  name text not null,
  external_reference text,
  time_zone text,
  country text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table location (
  id bigint primary key check (id between 1 and 9007199254740991),
  organization_id bigint not null references organization (id),
  source_id text not null,
  name text not null,
  address_line_1 text,
  address_line_2 text,
  city text,
  state text,
  postal_code text,
  country text,
  phone text,
  email text,
  website_url text,
  time_zone text,
  currency text,
  is_active boolean not null default true,
  pms_name text,
  pms_version text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (organization_id, source_id)
);

create table company (
  id uuid primary key,
  name text not null,
  state text not null default 'active' check (state in ('active', 'suspended', 'closed')),
  created_at timestamptz not null default now()
);

create table member (
  id uuid primary key,
  company_id uuid not null references company (id),
  email text not null,
  name text not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz not null default now()
);
create unique index member_email on member (company_id, lower(email));
create unique index member_one_owner on member (company_id) where role = 'owner';
