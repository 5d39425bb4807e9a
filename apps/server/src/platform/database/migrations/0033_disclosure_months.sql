-- Disclosures and their days in a table for each month, so that a month that is old enough can be dropped at once
-- (docs/decisions/disclosure-months.md). What there is becomes the table of all months before its bound; an empty table is not kept.
-- Only the catalog changes under the exclusive lock, which is waited for a second at most, because everything that comes later waits behind it.

-- The tables of the months are here: the server's role has no right on this schema, and reaches their rows through the whole table alone.
create schema monthly;

do $$
declare
  v_next bigint;
  v_before text;
  v_grant record;
begin
  set local lock_timeout = '1s';
  for attempt in 1 .. 600 loop
    begin
      lock table disclosure, disclosed_day in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 600 then raise; end if;
      perform pg_sleep(0.5);
    end;
  end loop;
  select conname into strict v_before
    from pg_constraint
   where conrelid = 'disclosure'::regclass and contype = 'c' and conname like 'before\_%';
  select coalesce(last_value, 0) + 1 into strict v_next
    from pg_sequences
   where format('%I.%I', schemaname, sequencename)::regclass = pg_get_serial_sequence('disclosure', 'id')::regclass;

  alter table disclosure alter column id drop identity;
  execute format('alter table disclosure rename to %I', 'disclosure_' || v_before);
  execute format('alter table %I set schema monthly', 'disclosure_' || v_before);
  execute format('alter table disclosed_day rename to %I', 'disclosed_day_' || v_before);
  execute format('alter table %I set schema monthly', 'disclosed_day_' || v_before);

  -- The id is unique within each month, by that table's own key: a key of the whole would have to contain the time.
  create table disclosure (
    id bigint not null generated always as identity,
    disclosed_at timestamptz not null default clock_timestamp(),
    company_id uuid not null,
    key_pair_id uuid not null,
    location_id bigint not null,
    dataset text not null,
    filters jsonb not null,
    records integer not null,
    after_id bigint,
    last_id bigint,
    record_ids bigint[],
    request_id text not null,
    ip inet not null,
    counted integer,
    digested integer,
    notes boolean not null default false,
    constraint disclosure_check check ((record_ids is null) = (after_id is not null and last_id is not null)),
    constraint disclosure_counted_check check (counted >= 0),
    constraint disclosure_digested_check check (digested > 0),
    constraint disclosure_records_check check (records > 0 or records = 0 and (counted is not null or digested is not null))
  ) partition by range (disclosed_at);
  create index disclosure_of_company on disclosure (company_id, disclosed_at);
  create index disclosure_of_location on disclosure (location_id, disclosed_at) include (company_id, dataset, records);
  create index disclosure_of_location_by_company on disclosure (location_id, company_id, disclosed_at) include (dataset, records);
  execute format('alter table disclosure alter column id restart with %s', v_next);

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

  -- A server that is running goes on with the new tables at once.
  for v_grant in
    select t.name, g.grantee, g.privilege_type
      from unnest(array['disclosure', 'disclosed_day']) t (name)
      join pg_class c on c.oid = to_regclass(format('monthly.%I', t.name || '_' || v_before))
     cross join aclexplode(c.relacl) g
     where g.grantee not in (0, c.relowner)
  loop
    execute format('grant %s on %I to %s', v_grant.privilege_type, v_grant.name, v_grant.grantee::regrole);
  end loop;

  execute format('select exists (select from monthly.%I)', 'disclosure_' || v_before) into strict v_grant;
  if v_grant.exists then
    execute format('alter table disclosure attach partition monthly.%I for values from (minvalue) to (%L)',
                   'disclosure_' || v_before, replace(substr(v_before, 8), '_', '-') || '-01 00:00:00+00');
    execute format('alter table disclosed_day attach partition monthly.%I for values from (minvalue) to (%L)',
                   'disclosed_day_' || v_before, replace(substr(v_before, 8), '_', '-') || '-01');
    execute format('alter table monthly.%I drop constraint %I', 'disclosure_' || v_before, v_before);
    execute format('alter table monthly.%I drop constraint %I', 'disclosed_day_' || v_before, v_before);
  else
    execute format('drop table monthly.%I, monthly.%I', 'disclosure_' || v_before, 'disclosed_day_' || v_before);
  end if;
end
$$;

-- Makes the tables of a month (UTC), unless there are tables for it. The lock lets one at a time do it and keeps no read or write waiting.
create function disclosure_make_month(p_month date) returns boolean
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  v_from date := date_trunc('month', p_month);
  v_until date := v_from + interval '1 month';
  v_month text := to_char(v_from, 'YYYY_MM');
begin
  if to_regclass('monthly.disclosure_' || v_month) is not null then return false; end if;
  lock table disclosure in share update exclusive mode;
  if exists (
    select from pg_class
     where relnamespace = 'monthly'::regnamespace and relkind = 'r'
       and (relname = 'disclosure_' || v_month
            or relname like 'disclosure\_before\_%' and v_month < substr(relname, length('disclosure_before_') + 1))
  ) then return false; end if;
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
language sql security definer set search_path = pg_catalog, public, pg_temp
return (
  select count(*)::integer
    from generate_series(0, 2) n
   where disclosure_make_month((date_trunc('month', clock_timestamp() at time zone 'UTC') + n * interval '1 month')::date)
);
select disclosure_make_months();
