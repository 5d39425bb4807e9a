-- Disclosures and their days get a table for each month (docs/decisions/disclosure-months.md). What there is until now becomes the first of
-- these tables, without being copied. It ends with a month that is still to come, later than every entry: here the constraint that says so,
-- which holds for new rows from now on. The next migration validates it, and the one after it exchanges the tables.
-- An exclusive lock is waited for a second at most, because everything that comes later waits behind it.
do $$
declare
  v_end date;
begin
  select date_trunc('month', greatest(now(), max(disclosed_at)) at time zone 'UTC') + interval '2 months'
    into v_end
    from disclosure
   where isfinite(disclosed_at);
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
  execute format('alter table disclosure add constraint %I check (disclosed_at < %L) not valid',
                 to_char(v_end, '"before_"YYYY_MM'), v_end || ' 00:00:00+00');
  execute format('alter table disclosed_day add constraint %I check (day < %L) not valid', to_char(v_end, '"before_"YYYY_MM'), v_end);
end
$$;
