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
