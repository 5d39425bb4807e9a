-- Reads each table once; reads and writes go on meanwhile. After it a table is attached as a month's without being read.
do $$
declare
  v_table regclass;
  v_name text;
begin
  for v_table, v_name in
    select conrelid, conname from pg_constraint
     where conrelid in ('disclosure'::regclass, 'disclosed_day'::regclass) and contype = 'c' and conname like 'before\_%'
  loop
    execute format('alter table %s validate constraint %I', v_table, v_name);
  end loop;
end
$$;
