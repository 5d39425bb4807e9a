-- When a person of the practice dismissed the list of first steps on its overview; null: it shows until every step is done.
alter table organization add column first_steps_dismissed_at timestamptz;
