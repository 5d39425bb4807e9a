-- No company may read a note when this begins, so none is kept, in what was sent or in what vendors receive; agents send again what is granted
-- later. The next delta of each grant returns everything, so that copies lose theirs. A migration of its own: the one before locks tables for
-- a moment, and this one, which may take minutes, only the rows that it changes.

update record
   set source = regexp_replace(source, note.pattern, note.without),
       source_hash = substring(sha256(convert_to(regexp_replace(source, note.pattern, note.without), 'UTF8')) for 16),
       document = regexp_replace(document, note.pattern, note.without)
  from (select dataset, format('"%s":"([^"\\]|\\.)*"', name) as pattern, format('"%s":null', name) as without
          from (values ('appointments', 'note'), ('treatments', 'note'), ('patient_referrals', 'note'),
                       ('ledger_transactions', 'description')) as attribute (dataset, name)) as note
 where record.dataset = note.dataset and record.source ~ note.pattern;

update dataset_grant
   set granted_stamp = null
 where dataset in ('appointments', 'treatments', 'patient_referrals', 'ledger_transactions');

alter table record validate constraint record_document_without_notes;
