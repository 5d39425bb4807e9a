-- Limits decide under a row lock and then count; a count inside the inserting statement is not atomic in READ COMMITTED (tried: it
-- exceeds). Each decision is one function, so that it is one round trip: a statement inside sees what others committed before it began.

-- Numbers a process' hold of a location, so that a release that arrives late never ends a newer hold.
alter table sync_slot add column lease bigint not null;
-- Rows live for one request: without this the table grows by its own history between two vacuums.
alter table sync_slot set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
alter table token_attempt set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Admits a token request of an address, or says how long until the next one would be. A refusal stores nothing. Instants after now (the
-- clock jumped back) are set to now and stored so, else they would lock the address out until the clock has caught up.
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
  if admitted or exists (select from unnest(v_log) entry where entry > v_now) then
    update token_attempt t set admitted_at = v_recent where t.address = p_address;
  end if;
  wait_ms := ceil(extract(epoch from v_recent[greatest(cardinality(v_recent) - p_max, 0) + 1] + p_window - v_now) * 1000);
  return next;
end
$$;

-- Runs operations on sync slots in their order: 'hold' (also renews), 'release', 'check' (as 'hold', but takes nothing). Answers one row
-- each, in order: whether it was granted, and which locations are in flight where it was not. The caller sorts by company and type, so
-- that all processes lock gates in one order. Nothing here needs to survive a crash.
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

-- Puts disclosures on record, durable when it returns. The lock timeout is set before the table is touched, so that a locked table ends the
-- statement and not only the caller's patience.
create function disclosure_record(p_entries json, p_lock_timeout_ms integer)
returns void
language plpgsql volatile as $$
begin
  perform set_config('synchronous_commit', 'on', true);
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  insert into disclosure (
    company_id, key_pair_id, location_id, dataset, filters, records, after_id, last_id, record_ids, request_id, ip
  )
  select e.company_id, e.key_pair_id, e.location_id, e.dataset, e.filters, e.records, e.after_id, e.last_id, e.record_ids, e.request_id, e.ip
    from json_to_recordset(p_entries) as e(
      company_id uuid, key_pair_id uuid, location_id bigint, dataset text, filters jsonb, records integer,
      after_id bigint, last_id bigint, record_ids bigint[], request_id text, ip inet
    );
end
$$;
