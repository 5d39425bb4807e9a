-- The attributes, by the names that vendors see, that a location's practice management system never has: null there means unknown.
-- Lock: dataset_state for an instant; a constant default is not written to its rows.
alter table dataset_state add column attributes_not_provided text[] not null default '{}';
