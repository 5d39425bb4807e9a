-- The whole schema of the first release. Later changes are files of their own, with the next number. Small tables that change rarely (organizations,
-- locations, companies, people, key pairs, grants) never refer to large ones. Tables that grow with practices have location_id first in every key, so
-- that a cluster can distribute them. Tables that are written at every request belong to one node. Stamps are microseconds since 1970. Secrets are
-- 256 random bits, stored as HMAC-SHA-256 under the installation's secret key.

-- What belongs to a practice, beside all else of its organization. Tables are made here; those of the other schemas move to theirs at the end.
create schema cell_1;
-- What requests and processes write all the time and nobody needs to find on another server. What is small and shared is in `directory`, as the list of
-- migrations is, which was there before.
create schema node;


-- The installation

-- One row: proof that the secret key of the settings is the one that the stored hashes were made with. `secret_key_settled_at`: since when every
-- process has written with the current key alone; null after a rotation began and before its first.
create table installation (
  only_one boolean primary key default true check (only_one),
  id uuid not null,
  secret_key_check bytea not null,
  created_at timestamptz not null default now(),
  secret_key_settled_at timestamptz
);

-- The running servers, and which secret keys each one has read from its file: written again every second, deleted when it stops.
create table secret_key_reader (
  process_id uuid primary key,
  name text not null,
  key_ids text[] not null,
  current_key_id text not null,
  seen_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- An epoch is the time since the database was made or last restored: agents that know another one compare everything, and vendors read everything
-- again. What a restore made void is recognised by `stamp`, a moment before it was given by a database of an earlier epoch. Epochs are numbered,
-- because the clock of a restored database may be behind that of the lost one.
create table service_epoch (
  id uuid primary key default gen_random_uuid(),
  began_at timestamptz not null default clock_timestamp(),
  number bigint not null,
  stamp bigint not null default 0
);
create unique index service_epoch_number on service_epoch (number);
insert into service_epoch (number) values (1);

-- Mail to be sent. A row is written in the transaction that is its reason, and is deleted when the mail server has taken it: links in it are secrets.
-- `settings_url`: the page on which its kind is turned off.
create table mail (
  id bigint generated always as identity primary key,
  recipient text not null,
  subject text not null,
  text_body text not null,
  attachment_name text,
  attachment text,
  settings_url text,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text
);
create index mail_due on mail (next_attempt_at);

-- What people did in the portal, as facts from which sentences are made when they are shown. The server's role may only add and read. `tenant_id`: of
-- the company or the organization; null: of neither. `reason`: why, where the person says so or must.
create table audit_event (
  id bigint generated always as identity primary key,
  occurred_at timestamptz not null default clock_timestamp(),
  side text not null check (side in ('company', 'organization', 'operator', 'account')),
  tenant_id text,
  user_id uuid,
  actor text not null,
  action text not null,
  facts jsonb not null default '{}',
  reason text,
  ip inet,
  request_id text
);
create index audit_event_of_tenant on audit_event (side, tenant_id, id desc);
create index audit_event_of_user on audit_event (user_id, id desc);


-- Organizations, locations, companies

-- Ids of organizations and locations are random below 2^53: they appear in JSON as integers, and say nothing about how many there are. `erased_at`:
-- its erasing began then. The row itself stays, with its name, because disclosures and the history of grants refer to it. `first_steps_dismissed_at`:
-- when a person dismissed the list of first steps; null: it shows until every step is done. `agent_updates`: whether its agents take releases that
-- the operator published; off until a person turns it on.
create table organization (
  id bigint primary key check (id between 1 and 9007199254740991),
  name text not null,
  external_reference text,
  time_zone text,
  country text,
  agent_updates boolean not null default false,
  first_steps_dismissed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  erased_at timestamptz
);
create index organization_erased on organization (erased_at) where erased_at is not null;

-- `time_zone`: what its agent used. `assigned_time_zone`: what a person set; the agent asks for it and reads with it, so a record and its location
-- never name two zones. `office_hours`: by weekday, [{"opens": "07:00", "closes": "19:00"}], on the location's wall clock; null: not told. A copy
-- does not grow stale while nobody works at the practice. `closed_at`: its practice management system no longer has it; only the agent that reported
-- it last can say so.
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
  assigned_time_zone text,
  currency text,
  office_hours jsonb,
  is_active boolean not null default true,
  pms_name text,
  pms_version text,
  reported_by bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  unique (organization_id, source_id)
);
create index location_updated on location (updated_at);

-- `name_key`: what the name looks like (modules/directory/name.ts): two companies do not have names that people mistake for each other.
-- `verified_at`, `verified_by`: by which operator (docs/decisions/vendor-profile.md). `erased_at`: as of an organization.
create table company (
  id uuid primary key,
  name text not null,
  name_key text not null,
  state text not null default 'active' check (state in ('active', 'suspended', 'closed')),
  created_at timestamptz not null default now(),
  verified_at timestamptz,
  verified_by text,
  erased_at timestamptz
);
create index company_name_key on company (name_key);

-- What a company says of itself.
create table company_profile (
  company_id uuid primary key references company (id),
  legal_name text,
  postal_address text,
  website text,
  contact text,
  purpose text,
  logo bytea
);

-- How its website is proved.
create table company_domain (
  company_id uuid primary key references company (id),
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
  company_id uuid not null references company (id),
  used_until timestamptz not null default clock_timestamp(),
  name text not null,
  name_key text not null,
  primary key (company_id, used_until)
);
create index company_former_name_key on company_former_name (name_key);


-- People: signing in

-- Signing in is better-auth's; the tables portal_* are its tables under our names. A test asks it whether anything is missing. `recovered_in`: the
-- transaction that last gave the account back to its person. A request that began before it must not add a means or a session after it.
create table portal_user (
  id uuid primary key,
  name text not null,
  email text not null unique,
  email_verified boolean not null default false,
  image text,
  two_factor_enabled boolean default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  recovered_in xid8
);

-- `second_factor`: whether the sign-in proved one: a passkey, a code of an app, a recovery code. `identity_provider_id`: the provider that began the
-- session, which is for that tenant alone. `authenticated_at`: when the person last signed in there, as it said (auth_time); null: it did not say, or
-- too long ago. Such a session is fresh by that time alone; others are fresh by created_at.
create table portal_session (
  id uuid primary key,
  user_id uuid not null references portal_user (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  second_factor boolean not null default false,
  identity_provider_id uuid,
  authenticated_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index portal_session_of_user on portal_session (user_id);
create index portal_session_expiry on portal_session (expires_at);

create table portal_account (
  id uuid primary key,
  user_id uuid not null references portal_user (id) on delete cascade,
  account_id text not null,
  provider_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index portal_account_of_user on portal_account (user_id);

create table portal_verification (
  id uuid primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index portal_verification_identifier on portal_verification (identifier);

-- Every means of signing in has the moment since when it counts, so that what a stranger added can be told from what a person had before: the undo of
-- an e-mail change removes by it. `codes_made_at`: of the recovery codes; null: there are none.
create table portal_two_factor (
  id uuid primary key,
  user_id uuid not null references portal_user (id) on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean default true,
  failed_verification_count integer default 0,
  locked_until timestamptz,
  added_at timestamptz not null default clock_timestamp(),
  codes_made_at timestamptz default clock_timestamp()
);
create index portal_two_factor_of_user on portal_two_factor (user_id);
create index portal_two_factor_secret on portal_two_factor (secret);

create table portal_passkey (
  id uuid primary key,
  user_id uuid not null references portal_user (id) on delete cascade,
  name text,
  public_key text not null,
  credential_id text not null unique,
  counter integer not null,
  device_type text not null,
  backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamptz not null default now()
);
create index portal_passkey_of_user on portal_passkey (user_id);

-- A one-time password counts once (RFC 6238 5.2), whoever saw it being typed.
create table used_totp (
  user_id uuid not null references portal_user (id) on delete cascade,
  code_hmac bytea not null,
  used_at timestamptz not null default clock_timestamp(),
  primary key (user_id, code_hmac)
);

-- Failed tries of what strangers may try, by a hash of the address or account, over all processes: who types a password into the wrong field leaves
-- none here.
create table sign_in_attempt (
  key bytea primary key,
  attempted_at timestamptz[] not null,
  forget_at timestamptz not null
);
create index sign_in_attempt_forget on sign_in_attempt (forget_at);

-- Who signed up and has not proven their e-mail address yet. It becomes an account, and a company or an organization, when they do: nobody holds an
-- account, or a place in the operator's lists, in another one's name. `secret_key_id`, here and below: which secret key the hash was made with.
create table sign_up (
  token_hmac bytea primary key,
  secret_key_id text not null,
  side text not null check (side in ('company', 'organization')),
  tenant_name text not null,
  name text not null,
  email text not null,
  password_hash text not null,
  time_zone text,
  expires_at timestamptz not null
);
create index sign_up_expiry on sign_up (expires_at);


-- People: members

-- Everybody who acts for a company, for an organization or for the operator. `tenant_id` is the company's or the organization's id as text, or
-- 'operator': the three never look alike, so what is unique within a tenant is unique by `tenant_id`. A member without a user was invited and has not
-- come yet, or was removed: the row stays, because key pairs and acceptances name it, and the address may be invited again. An operator who is an
-- admin may do everything; support reads, and acts with a reason. Deferrable: a person's account and membership end in one transaction, and which
-- accounts end is known only while the memberships are there.
create table membership (
  id uuid primary key,
  side text not null check (side in ('company', 'organization', 'operator')),
  company_id uuid references company (id),
  organization_id bigint references organization (id),
  tenant_id text not null generated always as (coalesce(company_id::text, organization_id::text, side)) stored,
  user_id uuid references portal_user (id) deferrable initially immediate,
  email text not null,
  name text not null,
  role text not null,
  created_at timestamptz not null default now(),
  removed_at timestamptz,
  constraint membership_tenant_check
    check ((side = 'company') = (company_id is not null) and (side = 'organization') = (organization_id is not null)),
  constraint membership_role_check check (
    case side when 'operator' then role in ('admin', 'support') else role in ('owner', 'admin', 'member') end
  )
);
create unique index membership_email on membership (tenant_id, lower(email)) where removed_at is null;
create unique index membership_one_owner on membership (tenant_id) where role = 'owner' and side <> 'operator';
create unique index membership_user on membership (tenant_id, user_id);
create index membership_of_user on membership (user_id);

-- A link that was mailed to a member who has not come yet. A new one for the same member replaces it.
create table invitation (
  member_id uuid primary key references membership (id),
  token_hmac bytea not null unique,
  secret_key_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- For whom a session was used, and when last: an owner sees the sessions of members in so far as they concern the company or practice.
create table session_use (
  session_id uuid not null references portal_session (id) on delete cascade,
  tenant_id text not null,
  last_used_at timestamptz not null,
  primary key (session_id, tenant_id)
);

-- Which company or practice an operator's session may read as support, until when. The act is in the histories.
create table support_view (
  session_id uuid primary key references portal_session (id) on delete cascade,
  tenant_id text not null,
  ends_at timestamptz not null
);

-- What went wrong with the service, as the operator tells everyone: an incident and what was said of it, one after the other.
create table incident (
  id bigint generated always as identity primary key,
  title text not null,
  began_at timestamptz not null
);

create table incident_update (
  incident_id bigint not null references incident (id),
  id bigint generated always as identity,
  state text not null check (state in ('investigating', 'identified', 'monitoring', 'resolved')),
  body text not null,
  posted_at timestamptz not null,
  primary key (incident_id, id)
);

-- A row: members of this tenant sign in with a second factor, from that moment on.
create table sign_in_rule (
  tenant_id text primary key,
  second_factor_since timestamptz not null
);

-- The identity provider of a company or a practice (OpenID Connect): its members sign in through it, for this tenant alone. Another issuer or client
-- is another row, so that sessions and links of the one before are worth nothing. `client_secret`: sealed with the secret key, a compact JWE.
create table identity_provider (
  id uuid primary key,
  tenant_id text not null unique,
  sign_in_name text not null unique,
  name text not null,
  issuer text not null,
  client_id text not null,
  client_secret text not null,
  counts_as_second_factor boolean not null,
  is_required boolean not null,
  tested_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);

-- Which person at the provider is which member: only what a member linked. An e-mail address that a provider claims links nothing.
create table identity_link (
  membership_id uuid primary key references membership (id) on delete cascade,
  provider_id uuid not null references identity_provider (id) on delete cascade,
  subject text not null,
  linked_at timestamptz not null default clock_timestamp(),
  unique (provider_id, subject)
);

-- Notices (docs/decisions/notices.md): what the portal's list shows each member, how each wants to be mailed, which conditions are on, and up to
-- which act of the history notices were made.
create table notice (
  id bigint generated always as identity primary key,
  member_id uuid not null references membership (id),
  kind text not null,
  event text not null,
  title text not null,
  body text not null,
  path text not null,
  created_at timestamptz not null,
  read_at timestamptz,
  mailed_at timestamptz,
  is_for_digest boolean not null default false
);
create index notice_of_member on notice (member_id, id desc);
create index notice_for_digest on notice (member_id) where is_for_digest;
create index notice_created on notice (created_at);

create table notice_setting (
  member_id uuid not null references membership (id),
  kind text not null,
  delivery text not null check (delivery in ('at_once', 'daily', 'off')),
  primary key (member_id, kind)
);

create table notice_condition (
  event text not null,
  tenant_id text not null,
  item text not null,
  about text not null,
  seen_at timestamptz not null,
  ended_at timestamptz,
  is_noticed boolean not null default false,
  noticed_at timestamptz,
  primary key (event, tenant_id, item)
);

create table notice_cursor (
  only_one boolean primary key default true check (only_one),
  last_act_id bigint not null
);
insert into notice_cursor (last_act_id) values (0);


-- Credentials of companies

-- A version binds every company from `enforced_at` on, and each one earlier, from its acceptance.
create table agreement (
  version integer primary key check (version > 0),
  body text not null,
  published_at timestamptz not null default clock_timestamp(),
  enforced_at timestamptz not null
);

-- An acceptance outlives its member: who accepted is in the history of acts, with name and address. Erasing empties `member_id` before it deletes one.
create table agreement_acceptance (
  company_id uuid not null references company (id),
  version integer not null references agreement (version),
  member_id uuid references membership (id),
  accepted_at timestamptz not null default clock_timestamp(),
  primary key (company_id, version)
);

create table key_pair (
  id uuid primary key,
  company_id uuid not null references company (id),
  client_id text not null unique,
  secret_hmac bytea not null,
  secret_key_id text not null,
  created_by uuid references membership (id),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  revoked_by uuid references membership (id)
);
-- Two requests to regenerate at once end with one live pair, whatever they both read before.
create unique index key_pair_one_live on key_pair (company_id) where revoked_at is null;

-- When a key pair last got a token, and when tokens issued from it last asked for something.
create table key_pair_use (
  key_pair_id uuid primary key,
  last_used_at timestamptz not null
);

-- Token signing keys. New tokens are signed with the newest active key; a retired one still verifies; a withdrawn one does not.
create table signing_key (
  kid text primary key,
  public_jwk jsonb not null,
  private_jwk jsonb,
  state text not null default 'active' check (state in ('active', 'retired', 'withdrawn')),
  created_at timestamptz not null default now(),
  retired_at timestamptz
);


-- Office agents

-- `failed_release`: the last release that the agent did not take, or took back.
create table agent (
  id bigint primary key check (id between 1 and 9007199254740991),
  organization_id bigint not null references organization (id),
  name text not null,
  version text,
  key_hmac bytea not null unique,
  secret_key_id text not null,
  enrolled_at timestamptz not null default now(),
  revoked_at timestamptz,
  failed_release text,
  failed_release_outcome text check (failed_release_outcome in ('refused', 'rolled_back')),
  failed_release_at timestamptz
);
create index agent_of_organization on agent (organization_id);
create index agent_enrolled on agent (enrolled_at);

create table enrolment_code (
  code_hmac bytea primary key,
  secret_key_id text not null,
  organization_id bigint not null references organization (id),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

-- Written at every request of an agent.
create table agent_contact (
  agent_id bigint primary key,
  last_contact_at timestamptz not null
);

-- What an agent last said of itself. Written at every heartbeat.
create table agent_heartbeat (
  agent_id bigint primary key,
  state text not null check (state in ('working', 'idle', 'failing')),
  heard_at timestamptz not null,
  reading_dataset text,
  rows_read bigint,
  rows_total bigint,
  -- When it was first heard with this reading, and how far it was then: what its speed is measured from.
  reading_since timestamptz,
  rows_read_at_first bigint
);

-- Why an agent does not read or send something, by codes of a closed list and names of tables, columns and mapped files. `location_id`, `dataset` null:
-- all of them. Line and column of a file are not part of what a problem is: the next export has them elsewhere.
create table agent_problem (
  agent_id bigint not null,
  location_id bigint,
  dataset text,
  code text not null,
  table_name text,
  column_name text,
  since timestamptz not null,
  file_name text,
  file_line bigint,
  file_column text,
  unique nulls not distinct (agent_id, location_id, dataset, code, table_name, column_name)
);

-- An agent's uploads have one space of numbers, over all locations and datasets: a number that comes twice with something else shows that the agent's
-- memory was restored from a backup. The highest number outlives the uploads, which are deleted after some days.
create table agent_number (
  agent_id bigint primary key,
  highest bigint not null
);

-- The process of an agent whose requests are taken, so that a second copy of the agent's folder is noticed (docs/decisions/agent-processes.md).
-- `place`: a hash of its computer and the path of its state. `excused_number`: up to this highest number of the agent's uploads, a state may come back
-- with a lower one, because a person said so. `refused_…`: the last copy that was refused, for the people who decide between the two.
create table agent_process (
  agent_id bigint primary key references agent (id),
  process_id text not null,
  place text not null,
  computer text not null,
  excused_number bigint not null default 0,
  refused_id text,
  refused_place text,
  refused_computer text,
  refused_at timestamptz
);
create index agent_process_refused on agent_process (refused_at) where refused_at is not null;

-- A location's records come from one agent. The first that writes is its writer; another agent takes its place only when a person says so, by
-- revoking the writer or by naming the other one. The fence rises with each writer: what an earlier one began comes to nothing. `first_upload`: the
-- lowest number that the writer's uploads, and the uploads that its lists begin at, may have: what has a lower one was read before another agent
-- wrote. `refused_agent_id`: the last agent that wanted to write here beside this one, for the people who decide between the two.
create table location_writer (
  location_id bigint primary key references location (id) on delete cascade,
  agent_id bigint not null references agent (id),
  fence bigint not null default 1,
  first_upload bigint not null default 0,
  taken_at timestamptz not null,
  refused_agent_id bigint references agent (id),
  refused_at timestamptz
);
create index location_writer_of_agent on location_writer (agent_id);
create index location_writer_refused on location_writer (refused_at) where refused_at is not null;

-- Releases of the agent that the operator published (docs/decisions/agent-updates.md). Their signed files are here, so that each server process can
-- hand them out. External: a part of a file that is not compressed is read without the rest.
create table agent_release (
  version text primary key,
  size integer not null,
  sha256 text not null,
  file bytea storage external not null,
  published_at timestamptz not null default clock_timestamp(),
  withdrawn_at timestamptz
);


-- Grants

-- What a practice granted to a company, kept for ever as the history of its grants. `location_id` null: every location of the organization, those of
-- the future included. `notes`: free text of the staff too, which is granted on its own. `ends_at`: docs/decisions/grant-end.md; null: no end.
create table access_grant (
  id uuid primary key,
  company_id uuid not null references company (id),
  organization_id bigint not null references organization (id),
  location_id bigint references location (id),
  dataset text not null,
  notes boolean not null default false,
  purpose text,
  granted_at timestamptz not null default clock_timestamp(),
  granted_by text not null,
  ends_at timestamptz,
  revoked_at timestamptz,
  revoked_by text
);
create unique index access_grant_live on access_grant (company_id, organization_id, coalesce(location_id, 0), dataset)
  where revoked_at is null;
create index access_grant_of_organization on access_grant (organization_id, company_id);
create index access_grant_granted on access_grant (company_id, granted_at);
create index access_grant_ended on access_grant (company_id, revoked_at desc) where revoked_at is not null;
create index access_grant_ending on access_grant (ends_at) where revoked_at is null and ends_at is not null;

-- The grants in force, one row for each location and dataset: what every read checks. What a company may read changes in one transaction that locks
-- no dataset, so an upload never waits for it. `granted_stamp`: the dataset's stamp at the company's first read; a delta from before it returns the
-- whole dataset. Null until then, and every delta returns the whole dataset.
create table dataset_grant (
  location_id bigint not null,
  company_id uuid not null,
  dataset text not null,
  granted_stamp bigint,
  granted_at timestamptz not null,
  notes_since timestamptz,
  ends_at timestamptz,
  primary key (location_id, company_id, dataset)
);
-- The list of locations, by page. Has all that it asks of a grant.
create index dataset_grant_of_company on dataset_grant (company_id, location_id) include (dataset, ends_at);

-- A company asks a practice for access (docs/decisions/access-requests.md). One request of a company is open at a practice at a time.
create table access_request (
  id uuid primary key,
  company_id uuid not null references company (id),
  organization_id bigint not null references organization (id),
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


-- Records

-- A location's dataset. Its stamps rise strictly from commit to commit. `is_provided`: whether the source of the location has the dataset at all: an
-- export that maps three datasets never reads the others. True until an agent says otherwise. `span_from`, `span_records`: the span of record_count
-- that takes the next records, and how many it was given. `rendering`: the number of the rendering (packages/contract: `rendering` of a dataset) that
-- all its documents have. Where it is lower than the contract's, a row of rerender_work without a target leads to all records, which are rendered
-- anew in slices.
create table dataset_state (
  location_id bigint not null,
  dataset text not null,
  first_stamp bigint not null,
  last_stamp bigint not null,
  total bigint not null default 0,
  visible bigint not null default 0,
  synced_at timestamptz,
  initial_sync_completed_at timestamptz,
  span_from bigint not null default 0,
  span_records bigint not null default 0,
  is_provided boolean not null default true,
  attributes_not_provided text[] not null default '{}',
  rendering smallint not null,
  primary key (location_id, dataset)
);
-- For /changes, which looks every half second at what changed since (docs/decisions/changes.md).
create index dataset_state_changed on dataset_state (last_stamp);

-- `source` is what the agent sent, in the contract's order of attributes; where the dataset says what its documents lack of it (`kept`), a list of
-- that alone. `source_hash`: the first 16 bytes of the SHA-256 of what was sent. `document` is what vendors receive, rendered when it was written;
-- `document_with_notes`: for companies that may read notes; null where the record has none. All are text and not jsonb: jsonb refuses some characters
-- that JSON allows. `patient_id`: the id of the patient that the record is of. `starts_at`: microseconds since 1970. Both are null where the dataset
-- has no such filter, and then the partial indexes cost nothing.
create table record (
  location_id bigint not null,
  dataset text not null,
  id bigint not null,
  source_id text not null,
  modified_at bigint not null,
  is_hidden boolean not null,
  agent_id bigint not null,
  upload_number bigint not null,
  received_at timestamptz not null,
  source_hash bytea not null,
  source text not null,
  document text not null,
  patient_id bigint,
  starts_at bigint,
  document_with_notes text,
  primary key (location_id, dataset, id),
  unique (location_id, dataset, source_id),
  -- What every company may read has no note.
  constraint record_document_without_notes check (
    case when dataset in ('appointments', 'treatments', 'patient_referrals') then strpos(document, '"note":"') = 0
         when dataset = 'ledger_transactions' then strpos(document, '"description":"') = 0
         else true
    end
  )
);
create index record_modified on record (location_id, dataset, modified_at, id);
create index record_patient on record (location_id, dataset, patient_id, id) where patient_id is not null;
create index record_starts on record (location_id, dataset, starts_at, id) where starts_at is not null;

-- Ids are unique per type over all locations and never reused. CACHE 1, so that they rise in the order in which they are drawn.
create sequence record_id_fee_schedules cache 1;
create sequence record_id_insurance_plans cache 1;
create sequence record_id_patients cache 1;
create sequence record_id_appointments cache 1;
create sequence record_id_treatments cache 1;
create sequence record_id_ledger_transactions cache 1;
create sequence record_id_patient_referrals cache 1;

-- The server's role draws from sequences and cannot set them. After a restore, ids go on above a moment in microseconds: however often a backup is
-- restored, each restore is later than every id that was given before it.
create function raise_record_ids(above bigint) returns bigint
  language sql security definer set search_path = pg_catalog, cell_1
  return (select count(setval(format('%I.%I', schemaname, sequencename)::regclass, greatest(coalesce(last_value, 0) + 1, above)))
            from pg_sequences
           where schemaname = 'cell_1' and sequencename like 'record\_id\_%');

-- PostgreSQL chooses by its statistics how it finds records. It renews them by itself when a tenth of the table has changed, a minute later at the
-- soonest. The service asks for it where a dataset has grown (modules/records/write/statistics.ts), and its role may not do it by itself. What
-- another session analyzes or vacuums just then is left alone.
create function analyze_records() returns void
  language plpgsql security definer set search_path = pg_catalog, cell_1, pg_temp
  as $$ begin analyze (skip_locked) cell_1.record (location_id, dataset); end $$;

-- Which record's rendering contains which other one, so that a change of the latter finds the former. A reference by id alone stands here only while
-- its target has not been received: an id, once known, never changes.
create table record_reference (
  location_id bigint not null,
  target_dataset text not null,
  target_source_id text not null,
  dataset text not null,
  record_id bigint not null,
  primary key (location_id, target_dataset, target_source_id, dataset, record_id)
);
create index record_reference_of_record on record_reference (location_id, dataset, record_id);

-- How many records a filter matches, without counting them one by one: sums of what writers keep under their turn. `span_from`: the first stamp of a
-- span, which ends where the dataset's next one begins and was given at most 10,000 records or one stamp. `starts_week`: weeks from 1970 to the
-- start; the lowest integer without one. `lowest_id`: no record that the row counts has a lower one.
create table record_count (
  location_id bigint not null,
  dataset text not null,
  span_from bigint not null,
  starts_week integer not null,
  records bigint not null,
  lowest_id bigint not null,
  primary key (location_id, dataset, span_from, starts_week)
);

-- Renderings still to be made again after a change of a widely used record: resumed after a crash, deleted when done. Work that fails is tried again
-- later and later, and does not keep other work waiting.
create table rerender_work (
  location_id bigint not null,
  target_dataset text not null,
  target_source_id text not null,
  dataset text not null,
  after_id bigint not null default 0,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  primary key (location_id, target_dataset, target_source_id, dataset)
);

-- Uploads of the last 7 days: the same one again gets the same answer. What an upload sent again unchanged stands in ranges of ids where it was known
-- by its bytes, else by key. External: to compress some 80 KB of keys took half of the time that an unchanged upload holds its turn.
create table upload (
  location_id bigint not null,
  dataset text not null,
  agent_id bigint not null,
  number bigint not null,
  body_hash bytea not null,
  answer text not null,
  unchanged_keys text[] storage external not null,
  unchanged_ids int8multirange not null default '{}',
  received_at timestamptz not null,
  primary key (location_id, dataset, agent_id, number)
);
create index upload_received on upload (location_id, received_at);
create index upload_agent_number on upload (agent_id, number);

-- Bodies of uploads, packed as agents sent them (docs/decisions/ingest-speed.md): bytes with this SHA-256 say what is stored while the records of the
-- location's dataset from first_id to last_id are as many, with the keys and hashes of `records_sha256`. That is true of these bytes for ever;
-- whether the records are still those is asked each time. `unpacked_sha256` is that of the lines. Written in a writer's turn.
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

-- A complete list of keys arrives in slices, over several requests and perhaps several processes. What it does not name is gathered slice by slice,
-- and decided about when the list is finished. A dataset has one list at a time: the next one takes its place. A list belongs to the writer, and the
-- fence, under which it began: one from before two take-overs hid what the agent in between had sent. `covered_to`: the last key of the slices that
-- were compared; '' before the first. `answer`: what finishing it was answered with, should that be asked again.
create table complete_list (
  location_id bigint not null references location (id) on delete cascade,
  dataset text not null,
  id bigint not null generated always as identity,
  agent_id bigint not null,
  fence bigint not null,
  began_at_upload bigint not null,
  covered_to text not null default '',
  begun_at timestamptz not null,
  answer text,
  primary key (location_id, dataset),
  unique (location_id, dataset, id)
);

-- Visible records in the range of a slice that the slice does not name.
create table complete_list_missing (
  location_id bigint not null,
  dataset text not null,
  list_id bigint not null,
  source_id text not null,
  primary key (location_id, dataset, list_id, source_id),
  foreign key (location_id, dataset, list_id) references complete_list (location_id, dataset, id) on delete cascade
);

-- A removal is a list of source ids, one row each, so that it can be made, shown and carried out in slices, and an upload can take what it names off it.
-- `state`:
--   requested: the location has closed; a list of all its records is to be made
--   listing:   the list is being made
--   held:      waits for a person
--   running:   is carried out, `after_source_id` is done
--   kept:      a person decided that its records stay, so they are not asked about again while they are missing; an upload takes off what the practice
--              management system has again
--   dropped:   was replaced; its rows are being deleted
-- `list_hash` names the list that a person saw. `remaining` counts the list's rows.
create table removal (
  location_id bigint not null,
  dataset text not null,
  id uuid not null,
  state text not null check (state in ('requested', 'listing', 'held', 'running', 'kept', 'dropped')),
  list_hash text,
  visible bigint not null default 0,
  remaining bigint not null default 0,
  hidden bigint not null default 0,
  after_source_id text not null default '',
  created_at timestamptz not null default now(),
  held_at timestamptz,
  decided_at timestamptz,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  primary key (location_id, dataset, id)
);
create unique index removal_current on removal (location_id, dataset) where state in ('held', 'running');
create unique index removal_requested on removal (location_id, dataset) where state = 'requested';
-- Work, in the order in which it is looked for each second, and lists that may have been given up. What was decided stays, and is in neither.
create index removal_due on removal (location_id, created_at) where state in ('requested', 'running', 'dropped');
create index removal_listing on removal (created_at) where state = 'listing';

create table removal_record (
  location_id bigint not null,
  dataset text not null,
  removal_id uuid not null,
  source_id text not null,
  primary key (location_id, dataset, removal_id, source_id)
);

-- Stored notes that nobody may read any more: removed in slices, as far as `after_id`.
create table note_removal (
  location_id bigint not null,
  dataset text not null,
  after_id bigint not null default 0,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  primary key (location_id, dataset)
);

-- Runs of a dataset's documents, packed for pages (docs/decisions/segments.md): those with ids in (after_id, last_id], joined by commas, as a raw
-- deflate stream that ends in a full flush; `bytes` and `crc32` of the text. They are those of the dataset when its last stamp was `stamp`.
-- `stale_since`: one of them changed afterwards. An export sends newlines in the place of the commas: `lines_at` is the byte of `data` that says
-- which of the two it is (0: it cannot be switched), `lines_crc32` that of the text in lines. A cache of `record` and never the truth, so unlogged:
-- after a crash of the database, and in a backup, it is empty.
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
  data bytea storage external not null,
  lines_at integer not null,
  lines_crc32 bigint not null,
  primary key (location_id, dataset, last_id)
);
create index segment_stale on segment (location_id, dataset, stale_since) where stale_since is not null;

-- How far segments are kept: every change up to `checked_stamp` has marked the segment that it is in. A row is locked while the segments of its
-- dataset are written. `last_id` and `records`: where they end, and how many records are in them.
create unlogged table segment_state (
  location_id bigint not null,
  dataset text not null,
  checked_stamp bigint not null default 0,
  last_id bigint not null default 0,
  records bigint not null default 0,
  primary key (location_id, dataset)
);

-- Which process does the periodic work of the installation, until when (docs/decisions/periodic-work.md).
create table lease (
  name text primary key,
  process_id uuid not null,
  expires_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Datasets whose segments are to be looked at, and when: a turn adds the row, a packer takes the earliest one and deletes it when nothing is left.
-- Rows come and go, so autovacuum looks early.
create unlogged table segment_due (
  location_id bigint not null,
  dataset text not null,
  due_at timestamptz not null,
  primary key (location_id, dataset)
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
create index segment_due_at on segment_due (due_at);

-- Up to which location datasets were searched for what is to be packed; null: all were. No row: the tables of segments are new, or were emptied.
create unlogged table segment_search (
  only_one boolean primary key default true check (only_one),
  searched_to bigint default 0
);

-- Finished reads of a location's dataset, in buckets of 15 minutes: what the timeline of its freshness is drawn from. `lag_seconds`: how old the copy had
-- become at most when such a read ended; null: it was the first.
create table sync_activity (
  location_id bigint not null,
  dataset text not null,
  bucket_at timestamptz not null,
  reads integer not null default 0,
  lag_seconds integer,
  primary key (location_id, dataset, bucket_at)
);


-- Limits: they decide under a row lock and then count; a count inside the inserting statement is not atomic in READ COMMITTED (tried: it exceeds).
-- Each decision is one function, so that it is one round trip: a statement inside sees what others committed before it began.

-- Admitted token requests of an address in the last 60 s (a sliding log). Logged: the limit survives a restart. Rows live for one request: without
-- these settings the table grows by its own history between two vacuums.
create table token_attempt (
  address text primary key,
  admitted_at timestamptz[] not null
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- The lock under which a company's slots of one type are counted.
create unlogged table sync_slot_gate (
  company_id uuid not null,
  sync_type text not null check (sync_type in ('initial', 'incremental')),
  primary key (company_id, sync_type)
);

-- Locations with requests in flight. A process renews its rows; those of a dead one expire. `lease` numbers a process' hold of a location, so that a
-- release that arrives late never ends a newer hold. Unlogged: after a crash of the database there is no request in flight.
create unlogged table sync_slot (
  company_id uuid not null,
  sync_type text not null,
  location_id bigint not null,
  process_id uuid not null,
  expires_at timestamptz not null,
  lease bigint not null,
  primary key (company_id, sync_type, location_id, process_id)
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Admits a token request of an address, or says how long until the next one would be. A refusal stores nothing. Instants after now (the clock jumped
-- back) are set to now and stored so, else they would lock the address out until the clock has caught up.
create function token_attempt_admit(p_address text, p_max integer, p_window interval)
returns table (admitted boolean, remaining integer, wait_ms integer)
language plpgsql volatile as $$
declare
  v_log timestamptz[];
  v_recent timestamptz[];
  v_now timestamptz;
begin
  loop
    select t.admitted_at into v_log from token_attempt t where t.address = p_address for update;
    exit when found;
    insert into token_attempt (address, admitted_at) values (p_address, '{}') on conflict (address) do nothing;
  end loop;
  v_now := clock_timestamp();
  v_recent := array(
    select least(entry, v_now) from unnest(v_log) entry where least(entry, v_now) > v_now - p_window order by 1
  );
  admitted := cardinality(v_recent) < p_max;
  if admitted then
    v_recent := v_recent || v_now;
    remaining := p_max - cardinality(v_recent);
  else
    remaining := 0;
  end if;
  if admitted or exists (select 1 from unnest(v_log) entry where entry > v_now) then
    update token_attempt t set admitted_at = v_recent where t.address = p_address;
  end if;
  wait_ms := ceil(extract(epoch from v_recent[greatest(cardinality(v_recent) - p_max, 0) + 1] + p_window - v_now) * 1000);
  return next;
end
$$;

-- Runs operations on sync slots in their order: 'hold' (also renews), 'release', 'check' (as 'hold', but takes nothing). Answers one row each, in
-- order: whether it was granted, and which locations are in flight where it was not. The caller sorts by company and type, so that all processes lock
-- gates in one order. Nothing here needs to survive a crash.
create function sync_slot_apply(
  p_process uuid, p_lease_ms integer, p_lock_timeout_ms integer, p_initial_max integer, p_incremental_max integer,
  p_operations text[], p_companies uuid[], p_types text[], p_locations bigint[], p_leases bigint[]
)
returns table (granted boolean, active bigint[])
language plpgsql volatile as $$
declare
  v_lease interval := p_lease_ms * interval '1 millisecond';
  v_gate_company uuid;
  v_gate_type text;
  v_now timestamptz;
  v_far boolean;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  for i in 1 .. cardinality(p_operations) loop
    if p_operations[i] <> 'check' and (v_gate_company, v_gate_type) is distinct from (p_companies[i], p_types[i]) then
      v_gate_company := p_companies[i];
      v_gate_type := p_types[i];
      loop
        perform from sync_slot_gate g where g.company_id = v_gate_company and g.sync_type = v_gate_type for update;
        exit when found;
        insert into sync_slot_gate (company_id, sync_type) values (v_gate_company, v_gate_type)
          on conflict (company_id, sync_type) do nothing;
      end loop;
    end if;

    if p_operations[i] = 'release' then
      delete from sync_slot s
       where s.company_id = p_companies[i] and s.sync_type = p_types[i] and s.location_id = p_locations[i]
         and s.process_id = p_process and s.lease <= p_leases[i];
      granted := true;
      active := null;
      return next;
      continue;
    end if;

    v_now := clock_timestamp();
    select coalesce(array_agg(distinct s.location_id order by s.location_id), '{}'), coalesce(bool_or(s.expires_at > v_now + 2 * v_lease), false)
      into active, v_far
      from sync_slot s
     where s.company_id = p_companies[i] and s.sync_type = p_types[i] and s.expires_at > v_now;
    granted := p_locations[i] = any (active)
      or cardinality(active) < case p_types[i] when 'initial' then p_initial_max else p_incremental_max end;

    if p_operations[i] = 'hold' then
      -- The clock jumped back: without this the slots of a dead process would live until it has caught up.
      if v_far then
        update sync_slot s set expires_at = v_now + v_lease
         where s.company_id = p_companies[i] and s.sync_type = p_types[i] and s.expires_at > v_now + 2 * v_lease;
      end if;
      delete from sync_slot s where s.company_id = p_companies[i] and s.sync_type = p_types[i] and s.expires_at <= v_now;
      if granted then
        insert into sync_slot as s (company_id, sync_type, location_id, process_id, expires_at, lease)
        values (p_companies[i], p_types[i], p_locations[i], p_process, v_now + v_lease, p_leases[i])
        on conflict (company_id, sync_type, location_id, process_id)
          do update set expires_at = excluded.expires_at, lease = greatest(s.lease, excluded.lease);
      end if;
    end if;
    if granted then active := null; end if;
    return next;
  end loop;
end
$$;


-- Disclosures and their seals (docs/decisions/chain.md)

-- Who read what, when. The server's role may only add and read. `after_id` and `last_id` say an unfiltered page exactly, because no id is ever added
-- below one already served; any other answer lists its ids. An answer can tell something of records without sending one: `counted` are those that a
-- filter by patient or start matches, `digested` those of a digest. `records` is the number of records that were sent. A table for each month, so
-- that a month that is old enough can be dropped at once (docs/decisions/disclosure-months.md). The id is unique within each month, by that table's
-- own key: a key of the whole would have to contain the time. What a practice counts of its disclosures is in the index itself: a summary of a
-- million reads no row.
create table disclosure (
  id bigint not null generated always as identity,
  disclosed_at timestamptz not null default clock_timestamp(),
  company_id uuid not null,
  key_pair_id uuid not null,
  location_id bigint not null,
  dataset text not null,
  notes boolean not null default false,
  filters jsonb not null,
  records integer not null,
  counted integer,
  digested integer,
  after_id bigint,
  last_id bigint,
  record_ids bigint[],
  request_id text not null,
  ip inet not null,
  constraint disclosure_check check ((record_ids is null) = (after_id is not null and last_id is not null)),
  constraint disclosure_counted_check check (counted >= 0),
  constraint disclosure_digested_check check (digested > 0),
  constraint disclosure_records_check check (records > 0 or records = 0 and (counted is not null or digested is not null))
) partition by range (disclosed_at);
create index disclosure_of_company on disclosure (company_id, disclosed_at);
create index disclosure_of_location on disclosure (location_id, disclosed_at) include (company_id, dataset, records);
create index disclosure_of_location_by_company on disclosure (location_id, company_id, disclosed_at) include (dataset, records);

-- Puts disclosures on record, durable when it returns, whatever the session lost or was given; what is more than durable stays. The lock timeout is set before the table is touched, so that a locked table ends the statement
-- and not only the caller's patience.
create function disclosure_record(p_entries json, p_lock_timeout_ms integer)
returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true); end if;
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  insert into disclosure (
    company_id, key_pair_id, location_id, dataset, notes, filters, records, counted, digested, after_id, last_id, record_ids, request_id, ip
  )
  select e.company_id, e.key_pair_id, e.location_id, e.dataset, e.notes, e.filters, e.records, e.counted, e.digested,
         e.after_id, e.last_id, e.record_ids, e.request_id, e.ip
    from json_to_recordset(p_entries) as e(
      company_id uuid, key_pair_id uuid, location_id bigint, dataset text, notes boolean, filters jsonb, records integer, counted integer,
      digested integer, after_id bigint, last_id bigint, record_ids bigint[], request_id text, ip inet
    );
end
$$;

-- Which records each company received on a day (UTC), from the sealer: an accounting for a patient reads these rows of a location, and then the
-- disclosures of the days that matter. `patient_ids`: patients that a filter named. One row for each day, company and dataset, however often was
-- read; pages and digests are one range each.
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
) partition by range (day);

-- The tables of the months are here: the server's role has no right on this schema, and reaches their rows through the whole table alone.
create schema monthly;

-- Makes the tables of a month (UTC), unless there are tables for it. The lock lets one at a time do it and keeps no read or write waiting.
create function disclosure_make_month(p_month date) returns boolean
language plpgsql set search_path = pg_catalog, cell_1, pg_temp as $$
declare
  v_from date := date_trunc('month', p_month);
  v_until date := v_from + interval '1 month';
  v_month text := to_char(v_from, 'YYYY_MM');
begin
  if to_regclass('monthly.disclosure_' || v_month) is not null then return false; end if;
  lock table disclosure in share update exclusive mode;
  if to_regclass('monthly.disclosure_' || v_month) is not null then return false; end if;
  execute format('create table monthly.%I (like disclosure including defaults including constraints including indexes, primary key (id))',
                 'disclosure_' || v_month);
  execute format('create table monthly.%I (like disclosed_day including indexes)', 'disclosed_day_' || v_month);
  execute format('alter table disclosure attach partition monthly.%I for values from (%L) to (%L)',
                 'disclosure_' || v_month, v_from || ' 00:00:00+00', v_until || ' 00:00:00+00');
  execute format('alter table disclosed_day attach partition monthly.%I for values from (%L) to (%L)', 'disclosed_day_' || v_month, v_from, v_until);
  return true;
end
$$;
revoke execute on function disclosure_make_month from public;

-- The server's role cannot make tables. This makes those of the database's current month and the next two, and nothing else.
create function disclosure_make_months() returns integer
language sql security definer set search_path = pg_catalog, cell_1, pg_temp
return (
  select count(*)::integer
    from generate_series(0, 2) n
   where disclosure_make_month((date_trunc('month', clock_timestamp() at time zone 'UTC') + n * interval '1 month')::date)
);
select disclosure_make_months();

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

-- What a practice's own export is checked with; the server's role may only add and read. `first_at` and `last_at`: the times between which its
-- entries since the practice's seal before are; they find the rows and are not signed.
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

-- Where each practice's chain is now: the sealer's own notes, which can be computed again from the disclosures. The last columns tell of the entries
-- since the practice's last seal.
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

-- Which months of disclosures the operator has dropped, each as a signed text (docs/decisions/chain.md): what the seals of the entries that are left
-- are checked with. The owner writes it; the server's role may only read.
create table disclosure_drop (
  month text primary key,
  text text not null,
  signature bytea not null
);

-- Practices whose owner gets each new seal by mail, up to which one they were sent: off without a row. The seal is also attached, as the file that
-- the practice's own program compares with.
create table seal_mail (
  organization_id bigint primary key references organization (id),
  mailed_entries bigint not null default 0
);

-- Each rotation of the secret key as the verifiers of seals need it: the public keys before and after, and the last seal of the one before with its
-- hash. Signed with both; the server's role may only add and read.
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


-- Usage and activity: no path, no parameter, no id of a record, nothing of a patient

-- What a company asked of the vendor API, in buckets of 5 minutes. `durations`: how many requests took how long, a histogram with the bounds of
-- modules/usage/durations.ts.
create table vendor_usage (
  company_id uuid not null,
  bucket_at timestamptz not null,
  requests bigint not null default 0,
  records bigint not null default 0,
  throttled bigint not null default 0,
  errors bigint not null default 0,
  durations integer[] not null default '{}',
  primary key (company_id, bucket_at)
);

-- The request log of a company (docs/decisions/request-log.md): 30 days, within a bound for each outcome, so that a caller who only fails cannot
-- displace what succeeded.
create table vendor_request (
  company_id uuid not null,
  id bigint generated always as identity,
  answered_at timestamptz not null,
  request_id text not null,
  key_pair_id uuid,
  method text not null,
  route text not null,
  location_id bigint,
  outcome text not null default 'ok' check (outcome in ('ok', 'throttled', 'error', 'unauthenticated')),
  status integer not null,
  code text,
  because text,
  parameter text,
  rule text,
  records integer not null default 0,
  duration_ms real not null,
  primary key (company_id, outcome, id)
);
create index vendor_request_of_id on vendor_request (request_id);

-- What the operator's pages plot: of each location and agent by the hour, kept for 30 days, and of each process by the minute, kept for 14 days
-- (docs/decisions/activity.md). Counts and times alone: nothing of a patient, no id of a record.
create table location_hour (
  location_id bigint not null,
  hour_at timestamptz not null,
  reads integer not null default 0,
  records_read bigint not null default 0,
  read_errors integer not null default 0,
  uploads integer not null default 0,
  records_changed bigint not null default 0,
  upload_errors integer not null default 0,
  primary key (location_id, hour_at)
);

create table agent_hour (
  agent_id bigint not null,
  hour_at timestamptz not null,
  requests integer not null default 0,
  errors integer not null default 0,
  primary key (agent_id, hour_at)
);

create table service_minute (
  minute_at timestamptz not null,
  process_id uuid not null,
  event_loop_lag_ms real not null,
  memory_bytes bigint not null,
  connections_busy integer not null,
  connections_waited_for integer not null,
  connections_max integer not null,
  -- The rest is of the installation: each process writes what it sees.
  slots_in_use integer not null,
  database_bytes bigint not null,
  disk_free_bytes bigint not null,
  rerender_waiting bigint not null,
  mails_waiting bigint not null,
  primary key (minute_at, process_id)
);


-- The script of a practice's website

-- One script for each location, named by a random key: a visitor of the practice's website learns nothing from it. No domains: those of the
-- location's website_url. `last_seen_at`: on a domain of the practice; `installed_at`: since when, without 30 days in which it was not seen.
create table attribution_script (
  location_id bigint primary key references location (id),
  key text not null unique,
  domains text[] not null default '{}',
  excluded_paths text[] not null default '{}',
  installed_at timestamptz,
  last_seen_at timestamptz,
  created_at timestamptz not null default now()
);

-- Where a script was seen, by origin alone: nothing about who visited which page. A stranger can name any number of origins, so only a bounded number
-- of each location's is kept.
create table attribution_sighting (
  location_id bigint not null,
  origin text not null,
  is_own_domain boolean not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (location_id, origin)
);


-- Webhooks of companies

-- Where a company is told what changed. `secret` is sealed; `previous_secret` signs too until `previous_until`. `failing_since`: the first of the
-- attempts that failed since the last success. `due_at`: no attempt before it.
create table webhook_endpoint (
  id uuid primary key,
  company_id uuid not null references company (id),
  url text not null,
  types text[] not null,
  created_at timestamptz not null default clock_timestamp(),
  secret text not null,
  previous_secret text,
  previous_until timestamptz,
  stopped_because text check (stopped_because in ('person', 'failing', 'gone')),
  stopped_at timestamptz,
  last_sequence bigint not null default 0,
  failures integer not null default 0,
  failing_since timestamptz,
  due_at timestamptz not null default clock_timestamp(),
  attempted_at timestamptz,
  unique (company_id, url),
  check ((previous_secret is null) = (previous_until is null)),
  check ((stopped_because is null) = (stopped_at is null))
);

-- One row for each row of /changes that an endpoint is to get or got a moment ago. It says which row, and not what the row says: that is read when it is
-- sent. `row_hash`: of what was found last, so that a row found again is not sent again. `message_id` is that of the attempts at what was found
-- last; `sequence` is given at the first attempt and kept until one succeeds.
create table webhook_delivery (
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
  type text not null,
  row_id text not null,
  row_at bigint not null,
  row_hash bytea not null,
  is_pending boolean not null default true,
  message_id uuid,
  sequence bigint,
  attempts integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  claimed_until timestamptz,
  primary key (endpoint_id, type, row_id)
);
create index webhook_delivery_pending on webhook_delivery (endpoint_id, attempts, due_at) where is_pending;
create index webhook_delivery_done on webhook_delivery (row_at) where not is_pending;

-- What endpoints answered, for the company's people. `answer`: the beginning of the body.
create table webhook_attempt (
  id bigint generated always as identity primary key,
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
  message_id uuid not null,
  sequence bigint,
  type text not null,
  row_id text not null,
  attempted_at timestamptz not null,
  duration_ms integer not null,
  status integer,
  failure text,
  answer text
);
create index webhook_attempt_of_endpoint on webhook_attempt (endpoint_id, id desc);
create index webhook_attempt_attempted on webhook_attempt (attempted_at);

-- Up to where changes were looked at for all endpoints: the epoch, and a stamp of docs/decisions/changes.md.
create table webhook_cursor (
  only_one boolean primary key default true check (only_one),
  epoch uuid not null,
  until bigint not null
);


-- Where tables are (docs/decisions/cells.md)

alter table agent_release set schema directory;
alter table agreement set schema directory;
alter table agreement_acceptance set schema directory;
alter table audit_event set schema directory;
alter table company set schema directory;
alter table company_domain set schema directory;
alter table company_former_name set schema directory;
alter table company_profile set schema directory;
alter table identity_link set schema directory;
alter table identity_provider set schema directory;
alter table incident set schema directory;
alter table incident_update set schema directory;
alter table installation set schema directory;
alter table invitation set schema directory;
alter table key_pair set schema directory;
alter table location set schema directory;
alter table membership set schema directory;
alter table notice set schema directory;
alter table notice_condition set schema directory;
alter table notice_cursor set schema directory;
alter table notice_setting set schema directory;
alter table organization set schema directory;
alter table portal_account set schema directory;
alter table portal_passkey set schema directory;
alter table portal_session set schema directory;
alter table portal_two_factor set schema directory;
alter table portal_user set schema directory;
alter table seal set schema directory;
alter table seal_key_change set schema directory;
alter table secret_key_reader set schema directory;
alter table service_epoch set schema directory;
alter table sign_in_rule set schema directory;
alter table sign_up set schema directory;
alter table signing_key set schema directory;
alter table support_view set schema directory;
alter table webhook_endpoint set schema directory;
alter table key_pair_use set schema node;
alter table lease set schema node;
alter table mail set schema node;
alter table portal_verification set schema node;
alter table service_minute set schema node;
alter table session_use set schema node;
alter table sign_in_attempt set schema node;
alter table sync_slot set schema node;
alter table sync_slot_gate set schema node;
alter table token_attempt set schema node;
alter table used_totp set schema node;
alter table vendor_request set schema node;
alter table vendor_usage set schema node;
alter table webhook_attempt set schema node;
alter table webhook_cursor set schema node;
alter table webhook_delivery set schema node;
