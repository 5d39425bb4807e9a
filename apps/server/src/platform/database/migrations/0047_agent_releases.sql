-- Releases of the agent that the operator published (docs/decisions/agent-updates.md): their signed files are here, so that each server process can
-- hand them out. The practices whose agents take them: off until a person turns it on. And the last release that an agent did not take, or took back.
create table agent_release (
  version text primary key,
  size integer not null,
  sha256 text not null,
  file bytea not null,
  published_at timestamptz not null default clock_timestamp(),
  withdrawn_at timestamptz
);
-- A part of a file that is not compressed is read without the rest.
alter table agent_release alter column file set storage external;

alter table organization add column agent_updates boolean not null default false;

alter table agent
  add column failed_release text,
  add column failed_release_outcome text check (failed_release_outcome in ('refused', 'rolled_back')),
  add column failed_release_at timestamptz;
