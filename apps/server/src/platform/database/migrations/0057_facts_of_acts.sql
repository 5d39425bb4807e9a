-- What was done is facts (JSON), from which sentences are made when they are shown. The sentence of an earlier act stays as it is, as JSON text, so its
-- seal stays right.
-- Lock: rewrites the history once, before the first release.
alter table audit_event alter column subject type jsonb using coalesce(to_jsonb(subject), 'null');
alter table audit_event rename column subject to facts;
alter table audit_event alter column facts set default '{}';
-- Lock: reads the history once more.
alter table audit_event alter column facts set not null;
