-- PostgreSQL chooses by its statistics how it finds records. It renews them by itself when a tenth of the table has changed, a minute later at the
-- soonest. The service asks for it where a dataset has grown (modules/records/write/statistics.ts), and its role may not do it by itself. What another
-- session analyzes or vacuums just then is left alone.
create function analyze_records() returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp
  as $$ begin analyze (skip_locked) public.record (location_id, dataset); end $$;
