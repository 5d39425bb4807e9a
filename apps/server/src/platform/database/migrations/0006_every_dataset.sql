-- The datasets that refer to each other, and the columns that their lists are filtered by. A reference by id alone stands in record_reference
-- only while its target has not been received: an id, once known, never changes.

create sequence record_id_patients cache 1;
create sequence record_id_appointments cache 1;
create sequence record_id_treatments cache 1;
create sequence record_id_ledger_transactions cache 1;
create sequence record_id_patient_referrals cache 1;

-- `patient_id`: the id of the patient that the record is of. `starts_at`: microseconds since 1970. Null where the dataset has no such filter,
-- and then the partial indexes cost nothing.
alter table record add column patient_id bigint, add column starts_at bigint;
create index record_patient on record (location_id, dataset, patient_id, id) where patient_id is not null;
create index record_starts on record (location_id, dataset, starts_at, id) where starts_at is not null;

alter table record_embed rename to record_reference;
alter index record_embed_of_record rename to record_reference_of_record;
