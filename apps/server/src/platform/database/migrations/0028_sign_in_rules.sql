-- What a company or a practice asks of the sign-ins of its members. All of it belongs to the node that people talk to.

-- Whether the sign-in proved a second factor: a passkey, a code of an app, a recovery code. Sessions of before live for 12 hours at most, and a rule
-- asks nothing of a sign-in that is older than itself.
alter table portal_session add column second_factor boolean not null default false;

-- A row: members sign in with a second factor, from that moment on.
create table sign_in_rule (
  tenant_id text primary key,
  second_factor_since timestamptz not null
);

-- For whom a session was used, and when last: an owner sees the sessions of members in so far as they concern the company or practice.
create table session_use (
  session_id uuid not null references portal_session (id) on delete cascade,
  tenant_id text not null,
  last_used_at timestamptz not null,
  primary key (session_id, tenant_id)
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

-- A session that an identity provider began: it is for that tenant alone.
alter table portal_session add column identity_provider_id uuid;
