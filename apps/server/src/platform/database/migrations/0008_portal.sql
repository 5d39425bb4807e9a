-- The portal: people who sign in, what they may act for, what they did, and what their pages show. All of it belongs to the node that people
-- talk to: ordinary tables, neither reference nor distributed, but for sync_activity, which grows with practices.

-- Signing in is better-auth's; these are its tables under our names. A test asks it whether anything is missing.
create table portal_user (
  id uuid primary key,
  name text not null,
  email text not null unique,
  email_verified boolean not null default false,
  image text,
  two_factor_enabled boolean default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table portal_session (
  id uuid primary key,
  user_id uuid not null references portal_user (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
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

create table portal_two_factor (
  id uuid primary key,
  user_id uuid not null references portal_user (id) on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean default true,
  failed_verification_count integer default 0,
  locked_until timestamptz
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
  created_at timestamptz default now()
);
create index portal_passkey_of_user on portal_passkey (user_id);

-- A one-time password counts once (RFC 6238 5.2), whoever saw it being typed.
create table used_totp (
  user_id uuid not null references portal_user (id) on delete cascade,
  code_hmac bytea not null,
  used_at timestamptz not null default clock_timestamp(),
  primary key (user_id, code_hmac)
);

-- Failed tries of what strangers may try, by a hash of the address or account, over all processes: who types a password into the wrong
-- field leaves none here.
create table sign_in_attempt (
  key bytea primary key,
  attempted_at timestamptz[] not null,
  forget_at timestamptz not null
);
create index sign_in_attempt_forget on sign_in_attempt (forget_at);

-- Who signed up and has not proven their e-mail address yet. It becomes an account, and a company or an organization, when they do: nobody
-- holds an account, or a place in the operator's lists, in another one's name.
create table sign_up (
  token_hmac bytea primary key,
  side text not null check (side in ('company', 'organization')),
  tenant_name text not null,
  name text not null,
  email text not null,
  password_hash text not null,
  expires_at timestamptz not null
);
create index sign_up_expiry on sign_up (expires_at);

-- Who a person may act for. A member without a user was invited and has not come yet, or was removed: the row stays, because key pairs and
-- acceptances name it, and the address may be invited again.
alter table member add column user_id uuid references portal_user (id);
alter table member add column removed_at timestamptz;
drop index member_email;
create unique index member_email on member (company_id, lower(email)) where removed_at is null;
create unique index member_user on member (company_id, user_id);
create index member_of_user on member (user_id);

create table organization_member (
  id uuid primary key,
  organization_id bigint not null references organization (id),
  user_id uuid references portal_user (id),
  email text not null,
  name text not null,
  role text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
create unique index organization_member_email on organization_member (organization_id, lower(email)) where removed_at is null;
create unique index organization_member_one_owner on organization_member (organization_id) where role = 'owner';
create unique index organization_member_user on organization_member (organization_id, user_id);
create index organization_member_of_user on organization_member (user_id);

create table operator_member (
  id uuid primary key,
  user_id uuid unique references portal_user (id),
  email text not null,
  name text not null,
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
create unique index operator_member_email on operator_member (lower(email)) where removed_at is null;

-- A link that was mailed to a member who has not come yet. A new one for the same member replaces it.
create table invitation (
  side text not null check (side in ('company', 'organization', 'operator')),
  member_id uuid not null,
  token_hmac bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (side, member_id)
);

-- What people did in the portal. The server's role may only add and read. `tenant_id`: of the company or the organization; null: of neither.
create table audit_event (
  id bigint generated always as identity primary key,
  occurred_at timestamptz not null default clock_timestamp(),
  side text not null check (side in ('company', 'organization', 'operator', 'account')),
  tenant_id text,
  user_id uuid,
  actor text not null,
  action text not null,
  subject text,
  ip inet,
  request_id text
);
create index audit_event_of_tenant on audit_event (side, tenant_id, id desc);
create index audit_event_of_user on audit_event (user_id, id desc);

-- Mail on its way. A row goes with the transaction that is its reason, and is deleted when the mail server has taken it: links in it are secrets.
create table mail (
  id bigint generated always as identity primary key,
  recipient text not null,
  subject text not null,
  text_body text not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text
);
create index mail_due on mail (next_attempt_at);

-- What a company asked of the vendor API, in buckets of 5 minutes, and its last requests. No path, no parameter, no id of a record.
create table vendor_usage (
  company_id uuid not null,
  bucket_at timestamptz not null,
  requests bigint not null default 0,
  records bigint not null default 0,
  throttled bigint not null default 0,
  errors bigint not null default 0,
  primary key (company_id, bucket_at)
);

create table vendor_request (
  company_id uuid not null,
  id bigint generated always as identity,
  answered_at timestamptz not null,
  request_id text not null,
  method text not null,
  route text not null,
  location_id bigint,
  status integer not null,
  code text,
  records integer not null default 0,
  duration_ms real not null,
  primary key (company_id, id)
);

-- When a key pair last got a token, and when tokens issued from it last asked for something.
create table key_pair_use (
  key_pair_id uuid primary key,
  last_used_at timestamptz not null
);

-- Finished reads of a location's dataset, in buckets of 15 minutes: what the timeline of its freshness is drawn from.
create table sync_activity (
  location_id bigint not null,
  dataset text not null,
  bucket_at timestamptz not null,
  reads integer not null default 0,
  primary key (location_id, dataset, bucket_at)
);

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

-- Where a script was seen, by origin alone: nothing about who visited which page. A stranger can name any number of origins, so only a
-- bounded number of each location's is kept.
create table attribution_sighting (
  location_id bigint not null,
  origin text not null,
  is_own_domain boolean not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (location_id, origin)
);

-- What a practice counts of its disclosures is in the index itself: a summary of a million reads no row of the table.
drop index disclosure_of_location;
create index disclosure_of_location on disclosure (location_id, disclosed_at) include (company_id, dataset, records);
create index disclosure_of_location_by_company on disclosure (location_id, company_id, disclosed_at) include (dataset, records);
