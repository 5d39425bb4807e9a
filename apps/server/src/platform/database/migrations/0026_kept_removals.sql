-- A removal that a person rejected is kept: its records are not asked about again while they are missing. `state` of 0013_removals.sql gains
--   kept:      a person decided that its records stay; an upload takes off what the practice management system has again
alter table removal drop constraint removal_state_check;
alter table removal add constraint removal_state_check check (state in ('requested', 'listing', 'held', 'running', 'kept', 'dropped'));
alter table removal add column decided_at timestamptz;
