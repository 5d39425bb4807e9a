-- A complete list belongs to the writer, and the fence, under which it began: one from before two take-overs hid what the agent in between had sent.
-- Lists of an earlier release have none, and are begun again.
alter table complete_list add column fence bigint;
-- The lowest number that the writer's uploads, and the uploads that its lists begin at, may have: what has a lower one was read before another agent wrote.
alter table location_writer add column first_upload bigint not null default 0;
