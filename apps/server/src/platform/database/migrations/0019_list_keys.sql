-- Every key of a table that grows with practices begins with the location: such tables can be distributed by it. `complete_list_missing` began
-- with the list. It holds what open lists miss, so it is small; no larger table is touched.

alter table complete_list add unique (location_id, dataset, id);

alter table complete_list_missing add column location_id bigint, add column dataset text;
update complete_list_missing
   set location_id = complete_list.location_id, dataset = complete_list.dataset
  from complete_list
 where complete_list.id = complete_list_missing.list_id;
alter table complete_list_missing
  drop constraint complete_list_missing_list_id_fkey,
  drop constraint complete_list_missing_pkey,
  alter column location_id set not null,
  alter column dataset set not null,
  add primary key (location_id, dataset, list_id, source_id),
  add foreign key (location_id, dataset, list_id) references complete_list (location_id, dataset, id) on delete cascade;

alter table complete_list drop constraint complete_list_id_key;

-- What was held is in `removal` since 0013. No process reads this any more.
drop table removal_hold;
