-- When a location is open, as its agent told: by weekday, [{"opens": "07:00", "closes": "19:00"}], on the location's wall clock. Null: not told.
-- A copy does not grow stale while nobody works at the practice.

alter table location add column office_hours jsonb;
