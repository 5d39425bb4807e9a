-- Made from the migrations by schema.test.ts, to be read: nothing runs it.

create table cell_1.access_grant (
  id uuid not null,
  company_id uuid not null,
  organization_id bigint not null,
  location_id bigint,
  dataset text not null,
  notes boolean not null default false,
  purpose text,
  granted_at timestamp with time zone not null default clock_timestamp(),
  granted_by text not null,
  ends_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  constraint access_grant_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint access_grant_location_id_fkey FOREIGN KEY (location_id) REFERENCES location(id),
  constraint access_grant_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint access_grant_pkey PRIMARY KEY (id)
);
CREATE INDEX access_grant_ended ON cell_1.access_grant USING btree (company_id, revoked_at DESC) WHERE (revoked_at IS NOT NULL);
CREATE INDEX access_grant_ending ON cell_1.access_grant USING btree (ends_at) WHERE ((revoked_at IS NULL) AND (ends_at IS NOT NULL));
CREATE INDEX access_grant_granted ON cell_1.access_grant USING btree (company_id, granted_at);
CREATE INDEX access_grant_of_organization ON cell_1.access_grant USING btree (organization_id, company_id);
CREATE UNIQUE INDEX access_grant_live ON cell_1.access_grant USING btree (company_id, organization_id, COALESCE(location_id, (0)::bigint), dataset) WHERE (revoked_at IS NULL);

create table cell_1.access_request (
  id uuid not null,
  company_id uuid not null,
  organization_id bigint not null,
  datasets text[] not null,
  all_locations boolean not null,
  locations text,
  purpose text not null,
  asked_at timestamp with time zone not null,
  asked_by text not null,
  state text not null default 'open'::text,
  ended_at timestamp with time zone,
  ended_by text,
  message text,
  invited_at timestamp with time zone,
  constraint access_request_check CHECK (((state = 'open'::text) = (ended_at IS NULL))),
  constraint access_request_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint access_request_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint access_request_pkey PRIMARY KEY (id),
  constraint access_request_state_check CHECK ((state = ANY (ARRAY['open'::text, 'granted'::text, 'declined'::text, 'withdrawn'::text])))
);
CREATE INDEX access_request_of_company ON cell_1.access_request USING btree (company_id, asked_at);
CREATE INDEX access_request_of_organization ON cell_1.access_request USING btree (organization_id, asked_at);
CREATE UNIQUE INDEX access_request_open ON cell_1.access_request USING btree (company_id, organization_id) WHERE (state = 'open'::text);

create table cell_1.agent (
  id bigint not null,
  organization_id bigint not null,
  name text not null,
  version text,
  key_hmac bytea not null,
  secret_key_id text not null,
  enrolled_at timestamp with time zone not null default now(),
  revoked_at timestamp with time zone,
  failed_release text,
  failed_release_outcome text,
  failed_release_at timestamp with time zone,
  constraint agent_failed_release_outcome_check CHECK ((failed_release_outcome = ANY (ARRAY['refused'::text, 'rolled_back'::text]))),
  constraint agent_id_check CHECK (((id >= 1) AND (id <= '9007199254740991'::bigint))),
  constraint agent_key_hmac_key UNIQUE (key_hmac),
  constraint agent_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint agent_pkey PRIMARY KEY (id)
);
CREATE INDEX agent_enrolled ON cell_1.agent USING btree (enrolled_at);
CREATE INDEX agent_of_organization ON cell_1.agent USING btree (organization_id);

create table cell_1.agent_contact (
  agent_id bigint not null,
  last_contact_at timestamp with time zone not null,
  constraint agent_contact_pkey PRIMARY KEY (agent_id)
);

create table cell_1.agent_heartbeat (
  agent_id bigint not null,
  state text not null,
  heard_at timestamp with time zone not null,
  reading_dataset text,
  rows_read bigint,
  rows_total bigint,
  reading_since timestamp with time zone,
  rows_read_at_first bigint,
  constraint agent_heartbeat_pkey PRIMARY KEY (agent_id),
  constraint agent_heartbeat_state_check CHECK ((state = ANY (ARRAY['working'::text, 'idle'::text, 'failing'::text])))
);

create table cell_1.agent_hour (
  agent_id bigint not null,
  hour_at timestamp with time zone not null,
  requests integer not null default 0,
  errors integer not null default 0,
  constraint agent_hour_pkey PRIMARY KEY (agent_id, hour_at)
);

create table cell_1.agent_number (
  agent_id bigint not null,
  highest bigint not null,
  constraint agent_number_pkey PRIMARY KEY (agent_id)
);

create table cell_1.agent_problem (
  agent_id bigint not null,
  location_id bigint,
  dataset text,
  code text not null,
  table_name text,
  column_name text,
  since timestamp with time zone not null,
  file_name text,
  file_line bigint,
  file_column text,
  constraint agent_problem_agent_id_location_id_dataset_code_table_name__key UNIQUE NULLS NOT DISTINCT (agent_id, location_id, dataset, code, table_name, column_name)
);

create table cell_1.agent_process (
  agent_id bigint not null,
  process_id text not null,
  place text not null,
  computer text not null,
  excused_number bigint not null default 0,
  refused_id text,
  refused_place text,
  refused_computer text,
  refused_at timestamp with time zone,
  constraint agent_process_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id),
  constraint agent_process_pkey PRIMARY KEY (agent_id)
);
CREATE INDEX agent_process_refused ON cell_1.agent_process USING btree (refused_at) WHERE (refused_at IS NOT NULL);

create table directory.agent_release (
  version text not null,
  size integer not null,
  sha256 text not null,
  file bytea not null,
  published_at timestamp with time zone not null default clock_timestamp(),
  withdrawn_at timestamp with time zone,
  constraint agent_release_pkey PRIMARY KEY (version)
);

create table directory.agreement (
  version integer not null,
  body text not null,
  published_at timestamp with time zone not null default clock_timestamp(),
  enforced_at timestamp with time zone not null,
  constraint agreement_pkey PRIMARY KEY (version),
  constraint agreement_version_check CHECK ((version > 0))
);

create table directory.agreement_acceptance (
  company_id uuid not null,
  version integer not null,
  member_id uuid,
  accepted_at timestamp with time zone not null default clock_timestamp(),
  constraint agreement_acceptance_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint agreement_acceptance_member_id_fkey FOREIGN KEY (member_id) REFERENCES membership(id),
  constraint agreement_acceptance_pkey PRIMARY KEY (company_id, version),
  constraint agreement_acceptance_version_fkey FOREIGN KEY (version) REFERENCES agreement(version)
);

create table cell_1.attribution_script (
  location_id bigint not null,
  key text not null,
  domains text[] not null default '{}'::text[],
  excluded_paths text[] not null default '{}'::text[],
  installed_at timestamp with time zone,
  last_seen_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint attribution_script_key_key UNIQUE (key),
  constraint attribution_script_location_id_fkey FOREIGN KEY (location_id) REFERENCES location(id),
  constraint attribution_script_pkey PRIMARY KEY (location_id)
);

create table cell_1.attribution_sighting (
  location_id bigint not null,
  origin text not null,
  is_own_domain boolean not null,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  constraint attribution_sighting_pkey PRIMARY KEY (location_id, origin)
);

create table directory.audit_event (
  id bigint not null generated always as identity,
  occurred_at timestamp with time zone not null default clock_timestamp(),
  side text not null,
  tenant_id text,
  user_id uuid,
  actor text not null,
  action text not null,
  facts jsonb not null default '{}'::jsonb,
  reason text,
  ip inet,
  request_id text,
  constraint audit_event_pkey PRIMARY KEY (id),
  constraint audit_event_side_check CHECK ((side = ANY (ARRAY['company'::text, 'organization'::text, 'operator'::text, 'account'::text])))
);
CREATE INDEX audit_event_of_tenant ON directory.audit_event USING btree (side, tenant_id, id DESC);
CREATE INDEX audit_event_of_user ON directory.audit_event USING btree (user_id, id DESC);

create table directory.company (
  id uuid not null,
  name text not null,
  name_key text not null,
  state text not null default 'active'::text,
  created_at timestamp with time zone not null default now(),
  verified_at timestamp with time zone,
  verified_by text,
  erased_at timestamp with time zone,
  constraint company_pkey PRIMARY KEY (id),
  constraint company_state_check CHECK ((state = ANY (ARRAY['active'::text, 'suspended'::text, 'closed'::text])))
);
CREATE INDEX company_name_key ON directory.company USING btree (name_key);

create table directory.company_domain (
  company_id uuid not null,
  domain text not null,
  token text not null,
  method text,
  verified_at timestamp with time zone,
  checked_at timestamp with time zone,
  failures integer not null default 0,
  dns_failure text,
  file_failure text,
  constraint company_domain_check CHECK (((verified_at IS NULL) = (method IS NULL))),
  constraint company_domain_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint company_domain_method_check CHECK ((method = ANY (ARRAY['dns'::text, 'file'::text]))),
  constraint company_domain_pkey PRIMARY KEY (company_id)
);

create table directory.company_former_name (
  company_id uuid not null,
  used_until timestamp with time zone not null default clock_timestamp(),
  name text not null,
  name_key text not null,
  constraint company_former_name_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint company_former_name_pkey PRIMARY KEY (company_id, used_until)
);
CREATE INDEX company_former_name_key ON directory.company_former_name USING btree (name_key);

create table directory.company_profile (
  company_id uuid not null,
  legal_name text,
  postal_address text,
  website text,
  contact text,
  purpose text,
  logo bytea,
  constraint company_profile_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint company_profile_pkey PRIMARY KEY (company_id)
);

create table cell_1.complete_list (
  location_id bigint not null,
  dataset text not null,
  id bigint not null generated always as identity,
  agent_id bigint not null,
  fence bigint not null,
  began_at_upload bigint not null,
  covered_to text not null default ''::text,
  begun_at timestamp with time zone not null,
  answer text,
  constraint complete_list_location_id_dataset_id_key UNIQUE (location_id, dataset, id),
  constraint complete_list_location_id_fkey FOREIGN KEY (location_id) REFERENCES location(id) ON DELETE CASCADE,
  constraint complete_list_pkey PRIMARY KEY (location_id, dataset)
);

create table cell_1.complete_list_missing (
  location_id bigint not null,
  dataset text not null,
  list_id bigint not null,
  source_id text not null,
  constraint complete_list_missing_location_id_dataset_list_id_fkey FOREIGN KEY (location_id, dataset, list_id) REFERENCES complete_list(location_id, dataset, id) ON DELETE CASCADE,
  constraint complete_list_missing_pkey PRIMARY KEY (location_id, dataset, list_id, source_id)
);

create table cell_1.dataset_grant (
  location_id bigint not null,
  company_id uuid not null,
  dataset text not null,
  granted_stamp bigint,
  granted_at timestamp with time zone not null,
  notes_since timestamp with time zone,
  ends_at timestamp with time zone,
  constraint dataset_grant_pkey PRIMARY KEY (location_id, company_id, dataset)
);
CREATE INDEX dataset_grant_of_company ON cell_1.dataset_grant USING btree (company_id, location_id) INCLUDE (dataset, ends_at);

create table cell_1.dataset_state (
  location_id bigint not null,
  dataset text not null,
  first_stamp bigint not null,
  last_stamp bigint not null,
  total bigint not null default 0,
  visible bigint not null default 0,
  synced_at timestamp with time zone,
  initial_sync_completed_at timestamp with time zone,
  span_from bigint not null default 0,
  span_records bigint not null default 0,
  is_provided boolean not null default true,
  attributes_not_provided text[] not null default '{}'::text[],
  rendering smallint not null,
  constraint dataset_state_pkey PRIMARY KEY (location_id, dataset)
);
CREATE INDEX dataset_state_changed ON cell_1.dataset_state USING btree (last_stamp);

create table cell_1.disclosed_day (
  location_id bigint not null,
  day date not null,
  company_id uuid not null,
  dataset text not null,
  first_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  ids int8multirange not null,
  patient_ids int8multirange not null,
  constraint disclosed_day_pkey PRIMARY KEY (location_id, day, company_id, dataset)
) partition by RANGE (day);

create table cell_1.disclosure (
  id bigint not null generated always as identity,
  disclosed_at timestamp with time zone not null default clock_timestamp(),
  company_id uuid not null,
  key_pair_id uuid not null,
  location_id bigint not null,
  dataset text not null,
  notes boolean not null default false,
  filters jsonb not null,
  records integer not null,
  counted integer,
  digested integer,
  after_id bigint,
  last_id bigint,
  record_ids bigint[],
  request_id text not null,
  ip inet not null,
  constraint disclosure_check CHECK (((record_ids IS NULL) = ((after_id IS NOT NULL) AND (last_id IS NOT NULL)))),
  constraint disclosure_counted_check CHECK ((counted >= 0)),
  constraint disclosure_digested_check CHECK ((digested > 0)),
  constraint disclosure_records_check CHECK (((records > 0) OR ((records = 0) AND ((counted IS NOT NULL) OR (digested IS NOT NULL)))))
) partition by RANGE (disclosed_at);
CREATE INDEX disclosure_of_company ON ONLY cell_1.disclosure USING btree (company_id, disclosed_at);
CREATE INDEX disclosure_of_location ON ONLY cell_1.disclosure USING btree (location_id, disclosed_at) INCLUDE (company_id, dataset, records);
CREATE INDEX disclosure_of_location_by_company ON ONLY cell_1.disclosure USING btree (location_id, company_id, disclosed_at) INCLUDE (dataset, records);

create table cell_1.disclosure_drop (
  month text not null,
  text text not null,
  signature bytea not null,
  constraint disclosure_drop_pkey PRIMARY KEY (month)
);

create table cell_1.enrolment_code (
  code_hmac bytea not null,
  secret_key_id text not null,
  organization_id bigint not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint enrolment_code_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint enrolment_code_pkey PRIMARY KEY (code_hmac)
);

create table directory.identity_link (
  membership_id uuid not null,
  provider_id uuid not null,
  subject text not null,
  linked_at timestamp with time zone not null default clock_timestamp(),
  constraint identity_link_membership_id_fkey FOREIGN KEY (membership_id) REFERENCES membership(id) ON DELETE CASCADE,
  constraint identity_link_pkey PRIMARY KEY (membership_id),
  constraint identity_link_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES identity_provider(id) ON DELETE CASCADE,
  constraint identity_link_provider_id_subject_key UNIQUE (provider_id, subject)
);

create table directory.identity_provider (
  id uuid not null,
  tenant_id text not null,
  sign_in_name text not null,
  name text not null,
  issuer text not null,
  client_id text not null,
  client_secret text not null,
  counts_as_second_factor boolean not null,
  is_required boolean not null,
  tested_at timestamp with time zone,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint identity_provider_pkey PRIMARY KEY (id),
  constraint identity_provider_sign_in_name_key UNIQUE (sign_in_name),
  constraint identity_provider_tenant_id_key UNIQUE (tenant_id)
);

create table directory.incident (
  id bigint not null generated always as identity,
  title text not null,
  began_at timestamp with time zone not null,
  constraint incident_pkey PRIMARY KEY (id)
);

create table directory.incident_update (
  incident_id bigint not null,
  id bigint not null generated always as identity,
  state text not null,
  body text not null,
  posted_at timestamp with time zone not null,
  constraint incident_update_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incident(id),
  constraint incident_update_pkey PRIMARY KEY (incident_id, id),
  constraint incident_update_state_check CHECK ((state = ANY (ARRAY['investigating'::text, 'identified'::text, 'monitoring'::text, 'resolved'::text])))
);

create table directory.installation (
  only_one boolean not null default true,
  id uuid not null,
  secret_key_check bytea not null,
  created_at timestamp with time zone not null default now(),
  secret_key_settled_at timestamp with time zone,
  constraint installation_only_one_check CHECK (only_one),
  constraint installation_pkey PRIMARY KEY (only_one)
);

create table directory.invitation (
  member_id uuid not null,
  token_hmac bytea not null,
  secret_key_id text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint invitation_member_id_fkey FOREIGN KEY (member_id) REFERENCES membership(id),
  constraint invitation_pkey PRIMARY KEY (member_id),
  constraint invitation_token_hmac_key UNIQUE (token_hmac)
);

create table directory.key_pair (
  id uuid not null,
  company_id uuid not null,
  client_id text not null,
  secret_hmac bytea not null,
  secret_key_id text not null,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  revoked_at timestamp with time zone,
  revoked_by uuid,
  constraint key_pair_client_id_key UNIQUE (client_id),
  constraint key_pair_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint key_pair_created_by_fkey FOREIGN KEY (created_by) REFERENCES membership(id),
  constraint key_pair_pkey PRIMARY KEY (id),
  constraint key_pair_revoked_by_fkey FOREIGN KEY (revoked_by) REFERENCES membership(id)
);
CREATE UNIQUE INDEX key_pair_one_live ON directory.key_pair USING btree (company_id) WHERE (revoked_at IS NULL);

create table node.key_pair_use (
  key_pair_id uuid not null,
  last_used_at timestamp with time zone not null,
  constraint key_pair_use_pkey PRIMARY KEY (key_pair_id)
);

create table node.lease (
  name text not null,
  process_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint lease_pkey PRIMARY KEY (name)
) with (fillfactor=50, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

create table directory.location (
  id bigint not null,
  organization_id bigint not null,
  source_id text not null,
  name text not null,
  address_line_1 text,
  address_line_2 text,
  city text,
  state text,
  postal_code text,
  country text,
  phone text,
  email text,
  website_url text,
  time_zone text,
  assigned_time_zone text,
  currency text,
  office_hours jsonb,
  is_active boolean not null default true,
  pms_name text,
  pms_version text,
  reported_by bigint,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  closed_at timestamp with time zone,
  constraint location_id_check CHECK (((id >= 1) AND (id <= '9007199254740991'::bigint))),
  constraint location_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint location_organization_id_source_id_key UNIQUE (organization_id, source_id),
  constraint location_pkey PRIMARY KEY (id)
);
CREATE INDEX location_updated ON directory.location USING btree (updated_at);

create table cell_1.location_hour (
  location_id bigint not null,
  hour_at timestamp with time zone not null,
  reads integer not null default 0,
  records_read bigint not null default 0,
  read_errors integer not null default 0,
  uploads integer not null default 0,
  records_changed bigint not null default 0,
  upload_errors integer not null default 0,
  constraint location_hour_pkey PRIMARY KEY (location_id, hour_at)
);

create table cell_1.location_writer (
  location_id bigint not null,
  agent_id bigint not null,
  fence bigint not null default 1,
  first_upload bigint not null default 0,
  taken_at timestamp with time zone not null,
  refused_agent_id bigint,
  refused_at timestamp with time zone,
  constraint location_writer_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id),
  constraint location_writer_location_id_fkey FOREIGN KEY (location_id) REFERENCES location(id) ON DELETE CASCADE,
  constraint location_writer_pkey PRIMARY KEY (location_id),
  constraint location_writer_refused_agent_id_fkey FOREIGN KEY (refused_agent_id) REFERENCES agent(id)
);
CREATE INDEX location_writer_of_agent ON cell_1.location_writer USING btree (agent_id);
CREATE INDEX location_writer_refused ON cell_1.location_writer USING btree (refused_at) WHERE (refused_at IS NOT NULL);

create table node.mail (
  id bigint not null generated always as identity,
  recipient text not null,
  subject text not null,
  text_body text not null,
  attachment_name text,
  attachment text,
  settings_url text,
  created_at timestamp with time zone not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null default now(),
  last_error text,
  constraint mail_pkey PRIMARY KEY (id)
);
CREATE INDEX mail_due ON node.mail USING btree (next_attempt_at);

create table directory.membership (
  id uuid not null,
  side text not null,
  company_id uuid,
  organization_id bigint,
  tenant_id text not null generated always as (COALESCE((company_id)::text, (organization_id)::text, side)) stored,
  user_id uuid,
  email text not null,
  name text not null,
  role text not null,
  created_at timestamp with time zone not null default now(),
  removed_at timestamp with time zone,
  constraint membership_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint membership_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint membership_pkey PRIMARY KEY (id),
  constraint membership_role_check CHECK (
CASE side
    WHEN 'operator'::text THEN (role = ANY (ARRAY['admin'::text, 'support'::text]))
    ELSE (role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text]))
END),
  constraint membership_side_check CHECK ((side = ANY (ARRAY['company'::text, 'organization'::text, 'operator'::text]))),
  constraint membership_tenant_check CHECK ((((side = 'company'::text) = (company_id IS NOT NULL)) AND ((side = 'organization'::text) = (organization_id IS NOT NULL)))),
  constraint membership_user_id_fkey FOREIGN KEY (user_id) REFERENCES portal_user(id) DEFERRABLE
);
CREATE INDEX membership_of_user ON directory.membership USING btree (user_id);
CREATE UNIQUE INDEX membership_email ON directory.membership USING btree (tenant_id, lower(email)) WHERE (removed_at IS NULL);
CREATE UNIQUE INDEX membership_one_owner ON directory.membership USING btree (tenant_id) WHERE ((role = 'owner'::text) AND (side <> 'operator'::text));
CREATE UNIQUE INDEX membership_user ON directory.membership USING btree (tenant_id, user_id);

create table directory.migration (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  constraint migration_pkey PRIMARY KEY (number)
);

create table cell_1.note_removal (
  location_id bigint not null,
  dataset text not null,
  after_id bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null default now(),
  last_error text,
  constraint note_removal_pkey PRIMARY KEY (location_id, dataset)
);

create table directory.notice (
  id bigint not null generated always as identity,
  member_id uuid not null,
  kind text not null,
  event text not null,
  title text not null,
  body text not null,
  path text not null,
  created_at timestamp with time zone not null,
  read_at timestamp with time zone,
  mailed_at timestamp with time zone,
  is_for_digest boolean not null default false,
  constraint notice_member_id_fkey FOREIGN KEY (member_id) REFERENCES membership(id),
  constraint notice_pkey PRIMARY KEY (id)
);
CREATE INDEX notice_created ON directory.notice USING btree (created_at);
CREATE INDEX notice_for_digest ON directory.notice USING btree (member_id) WHERE is_for_digest;
CREATE INDEX notice_of_member ON directory.notice USING btree (member_id, id DESC);

create table directory.notice_condition (
  event text not null,
  tenant_id text not null,
  item text not null,
  about text not null,
  seen_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  is_noticed boolean not null default false,
  noticed_at timestamp with time zone,
  constraint notice_condition_pkey PRIMARY KEY (event, tenant_id, item)
);

create table directory.notice_cursor (
  only_one boolean not null default true,
  last_act_id bigint not null,
  constraint notice_cursor_only_one_check CHECK (only_one),
  constraint notice_cursor_pkey PRIMARY KEY (only_one)
);

create table directory.notice_setting (
  member_id uuid not null,
  kind text not null,
  delivery text not null,
  constraint notice_setting_delivery_check CHECK ((delivery = ANY (ARRAY['at_once'::text, 'daily'::text, 'off'::text]))),
  constraint notice_setting_member_id_fkey FOREIGN KEY (member_id) REFERENCES membership(id),
  constraint notice_setting_pkey PRIMARY KEY (member_id, kind)
);

create table directory.organization (
  id bigint not null,
  name text not null,
  external_reference text,
  time_zone text,
  country text,
  agent_updates boolean not null default false,
  first_steps_dismissed_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  erased_at timestamp with time zone,
  constraint organization_id_check CHECK (((id >= 1) AND (id <= '9007199254740991'::bigint))),
  constraint organization_pkey PRIMARY KEY (id)
);
CREATE INDEX organization_erased ON directory.organization USING btree (erased_at) WHERE (erased_at IS NOT NULL);

create table cell_1.packed_body (
  location_id bigint not null,
  dataset text not null,
  first_id bigint not null,
  last_id bigint not null,
  records integer not null,
  records_sha256 bytea not null,
  sha256 bytea not null,
  unpacked_sha256 bytea not null,
  constraint packed_body_pkey PRIMARY KEY (location_id, dataset, first_id)
);
CREATE INDEX packed_body_sha256 ON cell_1.packed_body USING btree (location_id, dataset, sha256);

create table directory.portal_account (
  id uuid not null,
  user_id uuid not null,
  account_id text not null,
  provider_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint portal_account_pkey PRIMARY KEY (id),
  constraint portal_account_user_id_fkey FOREIGN KEY (user_id) REFERENCES portal_user(id) ON DELETE CASCADE
);
CREATE INDEX portal_account_of_user ON directory.portal_account USING btree (user_id);

create table directory.portal_passkey (
  id uuid not null,
  user_id uuid not null,
  name text,
  public_key text not null,
  credential_id text not null,
  counter integer not null,
  device_type text not null,
  backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamp with time zone not null default now(),
  constraint portal_passkey_credential_id_key UNIQUE (credential_id),
  constraint portal_passkey_pkey PRIMARY KEY (id),
  constraint portal_passkey_user_id_fkey FOREIGN KEY (user_id) REFERENCES portal_user(id) ON DELETE CASCADE
);
CREATE INDEX portal_passkey_of_user ON directory.portal_passkey USING btree (user_id);

create table directory.portal_session (
  id uuid not null,
  user_id uuid not null,
  token text not null,
  expires_at timestamp with time zone not null,
  ip_address text,
  user_agent text,
  second_factor boolean not null default false,
  identity_provider_id uuid,
  authenticated_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint portal_session_pkey PRIMARY KEY (id),
  constraint portal_session_token_key UNIQUE (token),
  constraint portal_session_user_id_fkey FOREIGN KEY (user_id) REFERENCES portal_user(id) ON DELETE CASCADE
);
CREATE INDEX portal_session_expiry ON directory.portal_session USING btree (expires_at);
CREATE INDEX portal_session_of_user ON directory.portal_session USING btree (user_id);

create table directory.portal_two_factor (
  id uuid not null,
  user_id uuid not null,
  secret text not null,
  backup_codes text not null,
  verified boolean default true,
  failed_verification_count integer default 0,
  locked_until timestamp with time zone,
  added_at timestamp with time zone not null default clock_timestamp(),
  codes_made_at timestamp with time zone default clock_timestamp(),
  constraint portal_two_factor_pkey PRIMARY KEY (id),
  constraint portal_two_factor_user_id_fkey FOREIGN KEY (user_id) REFERENCES portal_user(id) ON DELETE CASCADE
);
CREATE INDEX portal_two_factor_of_user ON directory.portal_two_factor USING btree (user_id);
CREATE INDEX portal_two_factor_secret ON directory.portal_two_factor USING btree (secret);

create table directory.portal_user (
  id uuid not null,
  name text not null,
  email text not null,
  email_verified boolean not null default false,
  image text,
  two_factor_enabled boolean default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  recovered_in xid8,
  constraint portal_user_email_key UNIQUE (email),
  constraint portal_user_pkey PRIMARY KEY (id)
);

create table node.portal_verification (
  id uuid not null,
  identifier text not null,
  value text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint portal_verification_pkey PRIMARY KEY (id)
);
CREATE INDEX portal_verification_identifier ON node.portal_verification USING btree (identifier);

create table cell_1.practice_head (
  organization_id bigint not null,
  entries bigint not null,
  head bytea not null,
  last_disclosure_id bigint not null,
  unsealed integer not null,
  first_at timestamp with time zone,
  last_at timestamp with time zone,
  constraint practice_head_pkey PRIMARY KEY (organization_id)
);
CREATE INDEX practice_head_unsealed ON cell_1.practice_head USING btree (unsealed) WHERE (unsealed > 0);

create table cell_1.practice_seal (
  organization_id bigint not null,
  entries bigint not null,
  head bytea not null,
  last_disclosure_id bigint not null,
  sealed_at timestamp with time zone not null,
  key_id text not null,
  signature bytea not null,
  seal_number bigint not null,
  first_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  constraint practice_seal_pkey PRIMARY KEY (organization_id, entries)
);
CREATE INDEX practice_seal_of_seal ON cell_1.practice_seal USING btree (seal_number);

create table cell_1.record (
  location_id bigint not null,
  dataset text not null,
  id bigint not null,
  source_id text not null,
  modified_at bigint not null,
  is_hidden boolean not null,
  agent_id bigint not null,
  upload_number bigint not null,
  received_at timestamp with time zone not null,
  source_hash bytea not null,
  source text not null,
  document text not null,
  patient_id bigint,
  starts_at bigint,
  document_with_notes text,
  constraint record_document_without_notes CHECK (
CASE
    WHEN (dataset = ANY (ARRAY['appointments'::text, 'treatments'::text, 'patient_referrals'::text])) THEN (strpos(document, '"note":"'::text) = 0)
    WHEN (dataset = 'ledger_transactions'::text) THEN (strpos(document, '"description":"'::text) = 0)
    ELSE true
END),
  constraint record_location_id_dataset_source_id_key UNIQUE (location_id, dataset, source_id),
  constraint record_pkey PRIMARY KEY (location_id, dataset, id)
);
CREATE INDEX record_modified ON cell_1.record USING btree (location_id, dataset, modified_at, id);
CREATE INDEX record_patient ON cell_1.record USING btree (location_id, dataset, patient_id, id) WHERE (patient_id IS NOT NULL);
CREATE INDEX record_starts ON cell_1.record USING btree (location_id, dataset, starts_at, id) WHERE (starts_at IS NOT NULL);

create table cell_1.record_count (
  location_id bigint not null,
  dataset text not null,
  span_from bigint not null,
  starts_week integer not null,
  records bigint not null,
  lowest_id bigint not null,
  constraint record_count_pkey PRIMARY KEY (location_id, dataset, span_from, starts_week)
);

create table cell_1.record_reference (
  location_id bigint not null,
  target_dataset text not null,
  target_source_id text not null,
  dataset text not null,
  record_id bigint not null,
  constraint record_reference_pkey PRIMARY KEY (location_id, target_dataset, target_source_id, dataset, record_id)
);
CREATE INDEX record_reference_of_record ON cell_1.record_reference USING btree (location_id, dataset, record_id);

create table cell_1.removal (
  location_id bigint not null,
  dataset text not null,
  id uuid not null,
  state text not null,
  list_hash text,
  visible bigint not null default 0,
  remaining bigint not null default 0,
  hidden bigint not null default 0,
  after_source_id text not null default ''::text,
  created_at timestamp with time zone not null default now(),
  held_at timestamp with time zone,
  decided_at timestamp with time zone,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null default now(),
  last_error text,
  constraint removal_pkey PRIMARY KEY (location_id, dataset, id),
  constraint removal_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'listing'::text, 'held'::text, 'running'::text, 'kept'::text, 'dropped'::text])))
);
CREATE INDEX removal_due ON cell_1.removal USING btree (location_id, created_at) WHERE (state = ANY (ARRAY['requested'::text, 'running'::text, 'dropped'::text]));
CREATE INDEX removal_listing ON cell_1.removal USING btree (created_at) WHERE (state = 'listing'::text);
CREATE UNIQUE INDEX removal_current ON cell_1.removal USING btree (location_id, dataset) WHERE (state = ANY (ARRAY['held'::text, 'running'::text]));
CREATE UNIQUE INDEX removal_requested ON cell_1.removal USING btree (location_id, dataset) WHERE (state = 'requested'::text);

create table cell_1.removal_record (
  location_id bigint not null,
  dataset text not null,
  removal_id uuid not null,
  source_id text not null,
  constraint removal_record_pkey PRIMARY KEY (location_id, dataset, removal_id, source_id)
);

create table cell_1.rerender_work (
  location_id bigint not null,
  target_dataset text not null,
  target_source_id text not null,
  dataset text not null,
  after_id bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null default now(),
  last_error text,
  constraint rerender_work_pkey PRIMARY KEY (location_id, target_dataset, target_source_id, dataset)
);

create table directory.seal (
  number bigint not null,
  previous bytea not null,
  sealed_at timestamp with time zone not null,
  last_disclosure_id bigint not null,
  disclosures integer not null,
  disclosures_sha256 bytea not null,
  last_act_id bigint not null,
  acts integer not null,
  acts_sha256 bytea not null,
  practices integer not null,
  practices_sha256 bytea not null,
  key_id text not null,
  signature bytea not null,
  disclosure_marks bytea not null,
  act_marks bytea not null,
  constraint seal_pkey PRIMARY KEY (number)
);
CREATE INDEX seal_of_time ON directory.seal USING btree (sealed_at);

create table directory.seal_key_change (
  number bigint not null generated always as identity,
  previous_key text not null,
  next_key text not null,
  last_seal bigint not null,
  last_seal_sha256 bytea not null,
  changed_at timestamp with time zone not null,
  previous_signature bytea not null,
  next_signature bytea not null,
  constraint seal_key_change_next_key_key UNIQUE (next_key),
  constraint seal_key_change_pkey PRIMARY KEY (number)
);

create table cell_1.seal_mail (
  organization_id bigint not null,
  mailed_entries bigint not null default 0,
  constraint seal_mail_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id),
  constraint seal_mail_pkey PRIMARY KEY (organization_id)
);

create table directory.secret_key_reader (
  process_id uuid not null,
  name text not null,
  key_ids text[] not null,
  current_key_id text not null,
  seen_at timestamp with time zone not null,
  constraint secret_key_reader_pkey PRIMARY KEY (process_id)
) with (fillfactor=50, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

create unlogged table cell_1.segment (
  location_id bigint not null,
  dataset text not null,
  last_id bigint not null,
  after_id bigint not null,
  records integer not null,
  stamp bigint not null,
  stale_since timestamp with time zone,
  bytes integer not null,
  crc32 bigint not null,
  data bytea not null,
  lines_at integer not null,
  lines_crc32 bigint not null,
  constraint segment_pkey PRIMARY KEY (location_id, dataset, last_id)
);
CREATE INDEX segment_stale ON cell_1.segment USING btree (location_id, dataset, stale_since) WHERE (stale_since IS NOT NULL);

create unlogged table cell_1.segment_due (
  location_id bigint not null,
  dataset text not null,
  due_at timestamp with time zone not null,
  constraint segment_due_pkey PRIMARY KEY (location_id, dataset)
) with (autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);
CREATE INDEX segment_due_at ON cell_1.segment_due USING btree (due_at);

create unlogged table cell_1.segment_search (
  only_one boolean not null default true,
  searched_to bigint default 0,
  constraint segment_search_only_one_check CHECK (only_one),
  constraint segment_search_pkey PRIMARY KEY (only_one)
);

create unlogged table cell_1.segment_state (
  location_id bigint not null,
  dataset text not null,
  checked_stamp bigint not null default 0,
  last_id bigint not null default 0,
  records bigint not null default 0,
  constraint segment_state_pkey PRIMARY KEY (location_id, dataset)
);

create table directory.service_epoch (
  id uuid not null default gen_random_uuid(),
  began_at timestamp with time zone not null default clock_timestamp(),
  number bigint not null,
  stamp bigint not null default 0,
  constraint service_epoch_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX service_epoch_number ON directory.service_epoch USING btree (number);

create table node.service_minute (
  minute_at timestamp with time zone not null,
  process_id uuid not null,
  event_loop_lag_ms real not null,
  memory_bytes bigint not null,
  connections_busy integer not null,
  connections_waited_for integer not null,
  connections_max integer not null,
  slots_in_use integer not null,
  database_bytes bigint not null,
  disk_free_bytes bigint not null,
  rerender_waiting bigint not null,
  mails_waiting bigint not null,
  constraint service_minute_pkey PRIMARY KEY (minute_at, process_id)
);

create table node.session_use (
  session_id uuid not null,
  tenant_id text not null,
  last_used_at timestamp with time zone not null,
  constraint session_use_pkey PRIMARY KEY (session_id, tenant_id),
  constraint session_use_session_id_fkey FOREIGN KEY (session_id) REFERENCES portal_session(id) ON DELETE CASCADE
);

create table node.sign_in_attempt (
  key bytea not null,
  attempted_at timestamp with time zone[] not null,
  forget_at timestamp with time zone not null,
  constraint sign_in_attempt_pkey PRIMARY KEY (key)
);
CREATE INDEX sign_in_attempt_forget ON node.sign_in_attempt USING btree (forget_at);

create table directory.sign_in_rule (
  tenant_id text not null,
  second_factor_since timestamp with time zone not null,
  constraint sign_in_rule_pkey PRIMARY KEY (tenant_id)
);

create table directory.sign_up (
  token_hmac bytea not null,
  secret_key_id text not null,
  side text not null,
  tenant_name text not null,
  name text not null,
  email text not null,
  password_hash text not null,
  time_zone text,
  expires_at timestamp with time zone not null,
  constraint sign_up_pkey PRIMARY KEY (token_hmac),
  constraint sign_up_side_check CHECK ((side = ANY (ARRAY['company'::text, 'organization'::text])))
);
CREATE INDEX sign_up_expiry ON directory.sign_up USING btree (expires_at);

create table directory.signing_key (
  kid text not null,
  public_jwk jsonb not null,
  private_jwk jsonb,
  state text not null default 'active'::text,
  created_at timestamp with time zone not null default now(),
  retired_at timestamp with time zone,
  constraint signing_key_pkey PRIMARY KEY (kid),
  constraint signing_key_state_check CHECK ((state = ANY (ARRAY['active'::text, 'retired'::text, 'withdrawn'::text])))
);

create table directory.support_view (
  session_id uuid not null,
  tenant_id text not null,
  ends_at timestamp with time zone not null,
  constraint support_view_pkey PRIMARY KEY (session_id),
  constraint support_view_session_id_fkey FOREIGN KEY (session_id) REFERENCES portal_session(id) ON DELETE CASCADE
);

create table cell_1.sync_activity (
  location_id bigint not null,
  dataset text not null,
  bucket_at timestamp with time zone not null,
  reads integer not null default 0,
  lag_seconds integer,
  constraint sync_activity_pkey PRIMARY KEY (location_id, dataset, bucket_at)
);

create unlogged table node.sync_slot (
  company_id uuid not null,
  sync_type text not null,
  location_id bigint not null,
  process_id uuid not null,
  expires_at timestamp with time zone not null,
  lease bigint not null,
  constraint sync_slot_pkey PRIMARY KEY (company_id, sync_type, location_id, process_id)
) with (autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

create unlogged table node.sync_slot_gate (
  company_id uuid not null,
  sync_type text not null,
  constraint sync_slot_gate_pkey PRIMARY KEY (company_id, sync_type),
  constraint sync_slot_gate_sync_type_check CHECK ((sync_type = ANY (ARRAY['initial'::text, 'incremental'::text])))
);

create table node.token_attempt (
  address text not null,
  admitted_at timestamp with time zone[] not null,
  constraint token_attempt_pkey PRIMARY KEY (address)
) with (autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

create table cell_1.upload (
  location_id bigint not null,
  dataset text not null,
  agent_id bigint not null,
  number bigint not null,
  body_hash bytea not null,
  answer text not null,
  unchanged_keys text[] not null,
  unchanged_ids int8multirange not null default '{}'::int8multirange,
  received_at timestamp with time zone not null,
  constraint upload_pkey PRIMARY KEY (location_id, dataset, agent_id, number)
);
CREATE INDEX upload_agent_number ON cell_1.upload USING btree (agent_id, number);
CREATE INDEX upload_received ON cell_1.upload USING btree (location_id, received_at);

create table node.used_totp (
  user_id uuid not null,
  code_hmac bytea not null,
  used_at timestamp with time zone not null default clock_timestamp(),
  constraint used_totp_pkey PRIMARY KEY (user_id, code_hmac),
  constraint used_totp_user_id_fkey FOREIGN KEY (user_id) REFERENCES portal_user(id) ON DELETE CASCADE
);

create table node.vendor_request (
  company_id uuid not null,
  id bigint not null generated always as identity,
  answered_at timestamp with time zone not null,
  request_id text not null,
  key_pair_id uuid,
  method text not null,
  route text not null,
  location_id bigint,
  outcome text not null default 'ok'::text,
  status integer not null,
  code text,
  because text,
  parameter text,
  rule text,
  records integer not null default 0,
  duration_ms real not null,
  constraint vendor_request_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'throttled'::text, 'error'::text, 'unauthenticated'::text]))),
  constraint vendor_request_pkey PRIMARY KEY (company_id, outcome, id)
);
CREATE INDEX vendor_request_of_id ON node.vendor_request USING btree (request_id);

create table node.vendor_usage (
  company_id uuid not null,
  bucket_at timestamp with time zone not null,
  requests bigint not null default 0,
  records bigint not null default 0,
  throttled bigint not null default 0,
  errors bigint not null default 0,
  durations integer[] not null default '{}'::integer[],
  constraint vendor_usage_pkey PRIMARY KEY (company_id, bucket_at)
);

create table node.webhook_attempt (
  id bigint not null generated always as identity,
  endpoint_id uuid not null,
  message_id uuid not null,
  sequence bigint,
  type text not null,
  row_id text not null,
  attempted_at timestamp with time zone not null,
  duration_ms integer not null,
  status integer,
  failure text,
  answer text,
  constraint webhook_attempt_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id) ON DELETE CASCADE,
  constraint webhook_attempt_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_attempt_attempted ON node.webhook_attempt USING btree (attempted_at);
CREATE INDEX webhook_attempt_of_endpoint ON node.webhook_attempt USING btree (endpoint_id, id DESC);

create table node.webhook_cursor (
  only_one boolean not null default true,
  epoch uuid not null,
  until bigint not null,
  constraint webhook_cursor_only_one_check CHECK (only_one),
  constraint webhook_cursor_pkey PRIMARY KEY (only_one)
);

create table node.webhook_delivery (
  endpoint_id uuid not null,
  type text not null,
  row_id text not null,
  row_at bigint not null,
  row_hash bytea not null,
  is_pending boolean not null default true,
  message_id uuid,
  sequence bigint,
  attempts integer not null default 0,
  due_at timestamp with time zone not null default clock_timestamp(),
  claimed_until timestamp with time zone,
  constraint webhook_delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id) ON DELETE CASCADE,
  constraint webhook_delivery_pkey PRIMARY KEY (endpoint_id, type, row_id)
);
CREATE INDEX webhook_delivery_done ON node.webhook_delivery USING btree (row_at) WHERE (NOT is_pending);
CREATE INDEX webhook_delivery_pending ON node.webhook_delivery USING btree (endpoint_id, attempts, due_at) WHERE is_pending;

create table directory.webhook_endpoint (
  id uuid not null,
  company_id uuid not null,
  url text not null,
  types text[] not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  secret text not null,
  previous_secret text,
  previous_until timestamp with time zone,
  stopped_because text,
  stopped_at timestamp with time zone,
  last_sequence bigint not null default 0,
  failures integer not null default 0,
  failing_since timestamp with time zone,
  due_at timestamp with time zone not null default clock_timestamp(),
  attempted_at timestamp with time zone,
  constraint webhook_endpoint_check CHECK (((previous_secret IS NULL) = (previous_until IS NULL))),
  constraint webhook_endpoint_check1 CHECK (((stopped_because IS NULL) = (stopped_at IS NULL))),
  constraint webhook_endpoint_company_id_fkey FOREIGN KEY (company_id) REFERENCES company(id),
  constraint webhook_endpoint_company_id_url_key UNIQUE (company_id, url),
  constraint webhook_endpoint_pkey PRIMARY KEY (id),
  constraint webhook_endpoint_stopped_because_check CHECK ((stopped_because = ANY (ARRAY['person'::text, 'failing'::text, 'gone'::text])))
);

create sequence cell_1.record_id_appointments cache 1;
create sequence cell_1.record_id_fee_schedules cache 1;
create sequence cell_1.record_id_insurance_plans cache 1;
create sequence cell_1.record_id_ledger_transactions cache 1;
create sequence cell_1.record_id_patient_referrals cache 1;
create sequence cell_1.record_id_patients cache 1;
create sequence cell_1.record_id_treatments cache 1;

CREATE OR REPLACE FUNCTION cell_1.analyze_records()
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'cell_1', 'pg_temp'
AS $function$ begin analyze (skip_locked) cell_1.record (location_id, dataset); end $function$
;
CREATE OR REPLACE FUNCTION cell_1.disclosure_make_month(p_month date)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'cell_1', 'pg_temp'
AS $function$
declare
  v_from date := date_trunc('month', p_month);
  v_until date := v_from + interval '1 month';
  v_month text := to_char(v_from, 'YYYY_MM');
begin
  if to_regclass('monthly.disclosure_' || v_month) is not null then return false; end if;
  lock table disclosure in share update exclusive mode;
  if to_regclass('monthly.disclosure_' || v_month) is not null then return false; end if;
  execute format('create table monthly.%I (like disclosure including defaults including constraints including indexes, primary key (id))',
                 'disclosure_' || v_month);
  execute format('create table monthly.%I (like disclosed_day including indexes)', 'disclosed_day_' || v_month);
  execute format('alter table disclosure attach partition monthly.%I for values from (%L) to (%L)',
                 'disclosure_' || v_month, v_from || ' 00:00:00+00', v_until || ' 00:00:00+00');
  execute format('alter table disclosed_day attach partition monthly.%I for values from (%L) to (%L)', 'disclosed_day_' || v_month, v_from, v_until);
  return true;
end
$function$
;
CREATE OR REPLACE FUNCTION cell_1.disclosure_make_months()
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'cell_1', 'pg_temp'
RETURN (SELECT (count(*))::integer AS count FROM generate_series(0, 2) n(n) WHERE disclosure_make_month(((date_trunc('month'::text, (clock_timestamp() AT TIME ZONE 'UTC'::text)) + ((n.n)::double precision * '1 mon'::interval)))::date))
;
CREATE OR REPLACE FUNCTION cell_1.disclosure_record(p_entries json, p_lock_timeout_ms integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  if current_setting('synchronous_commit') = 'off' then perform set_config('synchronous_commit', 'on', true); end if;
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  insert into disclosure (
    company_id, key_pair_id, location_id, dataset, notes, filters, records, counted, digested, after_id, last_id, record_ids, request_id, ip
  )
  select e.company_id, e.key_pair_id, e.location_id, e.dataset, e.notes, e.filters, e.records, e.counted, e.digested,
         e.after_id, e.last_id, e.record_ids, e.request_id, e.ip
    from json_to_recordset(p_entries) as e(
      company_id uuid, key_pair_id uuid, location_id bigint, dataset text, notes boolean, filters jsonb, records integer, counted integer,
      digested integer, after_id bigint, last_id bigint, record_ids bigint[], request_id text, ip inet
    );
end
$function$
;
CREATE OR REPLACE FUNCTION cell_1.raise_record_ids(above bigint)
 RETURNS bigint
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'cell_1'
RETURN (SELECT count(setval((format('%I.%I'::text, pg_sequences.schemaname, pg_sequences.sequencename))::regclass, GREATEST((COALESCE(pg_sequences.last_value, (0)::bigint) + 1), raise_record_ids.above))) AS count FROM pg_sequences WHERE ((pg_sequences.schemaname = 'cell_1'::name) AND (pg_sequences.sequencename ~~ 'record\_id\_%'::text)))
;
CREATE OR REPLACE FUNCTION cell_1.sync_slot_apply(p_process uuid, p_lease_ms integer, p_lock_timeout_ms integer, p_initial_max integer, p_incremental_max integer, p_operations text[], p_companies uuid[], p_types text[], p_locations bigint[], p_leases bigint[])
 RETURNS TABLE(granted boolean, active bigint[])
 LANGUAGE plpgsql
AS $function$
declare
  v_lease interval := p_lease_ms * interval '1 millisecond';
  v_gate_company uuid;
  v_gate_type text;
  v_now timestamptz;
  v_far boolean;
begin
  perform set_config('synchronous_commit', 'off', true);
  perform set_config('lock_timeout', p_lock_timeout_ms::text, true);
  for i in 1 .. cardinality(p_operations) loop
    if p_operations[i] <> 'check' and (v_gate_company, v_gate_type) is distinct from (p_companies[i], p_types[i]) then
      v_gate_company := p_companies[i];
      v_gate_type := p_types[i];
      loop
        perform from sync_slot_gate g where g.company_id = v_gate_company and g.sync_type = v_gate_type for update;
        exit when found;
        insert into sync_slot_gate (company_id, sync_type) values (v_gate_company, v_gate_type)
          on conflict (company_id, sync_type) do nothing;
      end loop;
    end if;

    if p_operations[i] = 'release' then
      delete from sync_slot s
       where s.company_id = p_companies[i] and s.sync_type = p_types[i] and s.location_id = p_locations[i]
         and s.process_id = p_process and s.lease <= p_leases[i];
      granted := true;
      active := null;
      return next;
      continue;
    end if;

    v_now := clock_timestamp();
    select coalesce(array_agg(distinct s.location_id order by s.location_id), '{}'), coalesce(bool_or(s.expires_at > v_now + 2 * v_lease), false)
      into active, v_far
      from sync_slot s
     where s.company_id = p_companies[i] and s.sync_type = p_types[i] and s.expires_at > v_now;
    granted := p_locations[i] = any (active)
      or cardinality(active) < case p_types[i] when 'initial' then p_initial_max else p_incremental_max end;

    if p_operations[i] = 'hold' then
      -- The clock jumped back: without this the slots of a dead process would live until it has caught up.
      if v_far then
        update sync_slot s set expires_at = v_now + v_lease
         where s.company_id = p_companies[i] and s.sync_type = p_types[i] and s.expires_at > v_now + 2 * v_lease;
      end if;
      delete from sync_slot s where s.company_id = p_companies[i] and s.sync_type = p_types[i] and s.expires_at <= v_now;
      if granted then
        insert into sync_slot as s (company_id, sync_type, location_id, process_id, expires_at, lease)
        values (p_companies[i], p_types[i], p_locations[i], p_process, v_now + v_lease, p_leases[i])
        on conflict (company_id, sync_type, location_id, process_id)
          do update set expires_at = excluded.expires_at, lease = greatest(s.lease, excluded.lease);
      end if;
    end if;
    if granted then active := null; end if;
    return next;
  end loop;
end
$function$
;
CREATE OR REPLACE FUNCTION cell_1.token_attempt_admit(p_address text, p_max integer, p_window interval)
 RETURNS TABLE(admitted boolean, remaining integer, wait_ms integer)
 LANGUAGE plpgsql
AS $function$
declare
  v_log timestamptz[];
  v_recent timestamptz[];
  v_now timestamptz;
begin
  loop
    select t.admitted_at into v_log from token_attempt t where t.address = p_address for update;
    exit when found;
    insert into token_attempt (address, admitted_at) values (p_address, '{}') on conflict (address) do nothing;
  end loop;
  v_now := clock_timestamp();
  v_recent := array(
    select least(entry, v_now) from unnest(v_log) entry where least(entry, v_now) > v_now - p_window order by 1
  );
  admitted := cardinality(v_recent) < p_max;
  if admitted then
    v_recent := v_recent || v_now;
    remaining := p_max - cardinality(v_recent);
  else
    remaining := 0;
  end if;
  if admitted or exists (select 1 from unnest(v_log) entry where entry > v_now) then
    update token_attempt t set admitted_at = v_recent where t.address = p_address;
  end if;
  wait_ms := ceil(extract(epoch from v_recent[greatest(cardinality(v_recent) - p_max, 0) + 1] + p_window - v_now) * 1000);
  return next;
end
$function$
;
