-- Acts name why they were done, where the person says so or must.

alter table audit_event add column reason text;
