-- A location's records come from one agent. Who writes first is its writer; another agent takes its place only when a person says so, by
-- revoking the writer or by naming the other one. The fence rises with each writer: what an earlier one began comes to nothing.

create table location_writer (
  location_id bigint primary key references location on delete cascade,
  agent_id bigint not null references agent,
  fence bigint not null default 1,
  taken_at timestamptz not null,
  -- The last agent that wanted to write here beside this one, for the people who decide between the two.
  refused_agent_id bigint references agent,
  refused_at timestamptz
);
