-- What the source of a location has at all: an export that maps three datasets never reads the others. True until an agent says otherwise.
alter table dataset_state add column is_provided boolean not null default true;
