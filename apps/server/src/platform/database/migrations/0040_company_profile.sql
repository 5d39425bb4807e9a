-- What a company says of itself, how its website is proved, who of the operators verified it, and the names that it had before
-- (docs/decisions/vendor-profile.md). Companies of earlier versions are not verified: practices that granted them something see them as before.

alter table company
  add column verified_at timestamptz,
  add column verified_by text;

create table company_profile (
  company_id uuid primary key references company(id),
  legal_name text,
  website text,
  contact text,
  purpose text,
  logo bytea
);

create table company_domain (
  company_id uuid primary key references company(id),
  domain text not null,
  token text not null,
  method text check (method in ('dns', 'file')),
  verified_at timestamptz,
  checked_at timestamptz,
  failures integer not null default 0,
  dns_failure text,
  file_failure text,
  check ((verified_at is null) = (method is null))
);

create table company_former_name (
  company_id uuid not null references company(id),
  used_until timestamptz not null default clock_timestamp(),
  name text not null,
  name_key text not null,
  primary key (company_id, used_until)
);
create index company_former_name_key on company_former_name (name_key);
