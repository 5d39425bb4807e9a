-- A company asks a practice for access (docs/decisions/access-requests.md). One request of a company is open at a practice at a time.

create table access_request (
  id uuid primary key,
  company_id uuid not null references company(id),
  organization_id bigint not null references organization(id),
  datasets text[] not null,
  all_locations boolean not null,
  locations text,
  purpose text not null,
  asked_at timestamptz not null,
  asked_by text not null,
  state text not null default 'open' check (state in ('open', 'granted', 'declined', 'withdrawn')),
  ended_at timestamptz,
  ended_by text,
  message text,
  invited_at timestamptz,
  check ((state = 'open') = (ended_at is null))
);
create unique index access_request_open on access_request (company_id, organization_id) where state = 'open';
create index access_request_of_organization on access_request (organization_id, asked_at);
create index access_request_of_company on access_request (company_id, asked_at);
