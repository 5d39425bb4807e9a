-- The time zone that a person set for one location. `time_zone` stays what its agent used: the agent asks for this one and reads with it, so a
-- record and its location never name two zones.
alter table location add assigned_time_zone text;
