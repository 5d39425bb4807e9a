-- Vendors know the epoch too, and what a restore made void is recognised by a stamp: a moment before it was given by a database of an earlier
-- epoch. Epochs are numbered, because the clock of a restored database may be behind that of the lost one. Ids go on beyond a moment in
-- microseconds: however often a backup is restored, each restore is later than every id that was given before it.

alter table service_epoch add column number bigint;
update service_epoch
   set number = counted.number
  from (select id, row_number() over (order by began_at, id) as number from service_epoch) counted
 where counted.id = service_epoch.id;
alter table service_epoch alter column number set not null;
create unique index service_epoch_number on service_epoch (number);
alter table service_epoch add column stamp bigint not null default 0;

drop function skip_record_ids(bigint);

-- The server's role draws from sequences and cannot set them.
create function raise_record_ids(above bigint) returns bigint
  language sql security definer set search_path = pg_catalog, public
  return (select count(setval(format('%I.%I', schemaname, sequencename)::regclass, greatest(coalesce(last_value, 0) + 1, above)))
            from pg_sequences
           where schemaname = 'public' and sequencename like 'record\_id\_%');
