-- An answer can tell something of records without sending one: how many a filter by patient or start matches, or a digest of them. Both are
-- disclosures too. `records` stays the number of records that were sent, so a practice's sums mean what they meant.
alter table disclosure
  add column counted integer check (counted >= 0),
  add column digested integer check (digested > 0),
  drop constraint disclosure_records_check,
  add constraint disclosure_records_check check (records > 0 or records = 0 and (counted is not null or digested is not null));

create or replace function disclosure_record(p_entries json, p_lock_timeout_ms integer)
returns void
language plpgsql volatile as $$
begin
  perform set_config('synchronous_commit', 'on', true);
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  insert into disclosure (
    company_id, key_pair_id, location_id, dataset, filters, records, counted, digested, after_id, last_id, record_ids, request_id, ip
  )
  select e.company_id, e.key_pair_id, e.location_id, e.dataset, e.filters, e.records, e.counted, e.digested, e.after_id, e.last_id,
         e.record_ids, e.request_id, e.ip
    from json_to_recordset(p_entries) as e(
      company_id uuid, key_pair_id uuid, location_id bigint, dataset text, filters jsonb, records integer, counted integer,
      digested integer, after_id bigint, last_id bigint, record_ids bigint[], request_id text, ip inet
    );
end
$$;
