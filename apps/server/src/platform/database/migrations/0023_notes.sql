-- A practice grants notes (free text of its staff) on their own. The next migration removes those that were stored before.

alter table access_grant add column notes boolean not null default false;
alter table dataset_grant add column notes_since timestamptz;
alter table disclosure add column notes boolean not null default false;

-- The record with its notes, for companies that may read them; null where it has none.
alter table record add column document_with_notes text;

-- What every company may read has no note. Also keeps a process of an earlier version, which knows no other column, from storing one.
alter table record add constraint record_document_without_notes check (
  case when dataset in ('appointments', 'treatments', 'patient_referrals') then strpos(document, '"note":"') = 0
       when dataset = 'ledger_transactions' then strpos(document, '"description":"') = 0
       else true
  end
) not valid;

-- Stored notes that nobody may read any more: removed in slices, as far as `after_id`.
create table note_removal (
  location_id bigint not null,
  dataset text not null,
  after_id bigint not null default 0,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  last_error text,
  primary key (location_id, dataset)
);

create or replace function disclosure_record(p_entries json, p_lock_timeout_ms integer)
returns void language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'on', true);
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  insert into disclosure (
    company_id, key_pair_id, location_id, dataset, notes, filters, records, counted, digested, after_id, last_id, record_ids, request_id, ip
  )
  select e.company_id, e.key_pair_id, e.location_id, e.dataset, coalesce(e.notes, false), e.filters, e.records, e.counted, e.digested,
         e.after_id, e.last_id, e.record_ids, e.request_id, e.ip
    from json_to_recordset(p_entries) as e(
      company_id uuid, key_pair_id uuid, location_id bigint, dataset text, notes boolean, filters jsonb, records integer, counted integer,
      digested integer, after_id bigint, last_id bigint, record_ids bigint[], request_id text, ip inet
    );
end
$$;
