-- An agent's uploads have one space of numbers, over all locations and datasets: a number that comes twice with something else shows that the
-- agent's memory was restored from a backup. The highest number outlives the uploads, which are forgotten after some days. An epoch names the
-- time since the database was made or last restored: agents that know another one compare everything.

create table agent_number (
  agent_id bigint primary key,
  highest bigint not null
);
insert into agent_number (agent_id, highest)
select agent_id, max(number) from upload group by agent_id;

create index upload_agent_number on upload (agent_id, number);

create table service_epoch (
  id uuid primary key default gen_random_uuid(),
  began_at timestamptz not null default clock_timestamp()
);
insert into service_epoch default values;

-- The server's role draws from sequences and cannot set them. Leaves out ids of records that may have been given before a restore.
create function skip_record_ids(skipped bigint) returns bigint
  language sql security definer set search_path = pg_catalog, public
  return (select count(setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 1) + skipped))
            from pg_sequences
           where schemaname = 'public' and sequencename like 'record\_id\_%');
