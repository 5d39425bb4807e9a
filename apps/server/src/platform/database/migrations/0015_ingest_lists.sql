-- A complete list arrives in slices, over several requests and perhaps several processes. What it does not name is gathered here, slice by
-- slice, and decided about when the list is finished. A dataset has one list at a time: the next one takes its place.

create table complete_list (
  location_id bigint not null references location on delete cascade,
  dataset text not null,
  id bigint not null generated always as identity unique,
  agent_id bigint not null,
  began_at_upload bigint not null,
  -- The last key of the slices that were compared; '' before the first.
  covered_to text not null default '',
  begun_at timestamptz not null,
  -- What finishing it was answered with, should that be asked again.
  answer text,
  primary key (location_id, dataset)
);

-- Visible records in the range of a slice that the slice does not name.
create table complete_list_missing (
  list_id bigint not null references complete_list (id) on delete cascade,
  source_id text not null,
  primary key (list_id, source_id)
);
