/**
 * What an export of a practice has of one table: a file with a JSON object for each row, without the columns of `omit`, with the members that
 * the SQL of `also` makes. The rows are those of the practice's endings, unless `rows` says otherwise.
 */
export type Exported = { file: string; about: string; order: string; omit?: string; also?: string; rows?: string }

const vendorName = `jsonb_build_object('vendor', (select name from company where company.id = company_id))`
/** The vendors that may read the practice, or ever might. */
const itsVendors = 'company_id in (select company_id from access_grant where organization_id = $1::bigint)'

/** The tables that an export has, but for records, which have a file for each dataset. */
export const exportedTables: Readonly<Record<string, Exported>> = {
  organization: { file: 'organization', about: 'the practice itself', order: 'id' },
  location: { file: 'locations', about: 'its locations', order: 'id' },
  membership: {
    file: 'people',
    about: 'people who can or could sign in to the portal for the practice',
    order: 'created_at, id',
    omit: 'company_id,tenant_id,side',
  },
  sign_in_rule: {
    file: 'sign-in-rules',
    about: 'since when members need a second factor',
    order: 'tenant_id',
    omit: 'tenant_id',
  },
  identity_provider: {
    file: 'identity-provider',
    about: 'through which members can sign in',
    order: 'id',
    omit: 'tenant_id,client_secret',
  },
  agent: {
    file: 'agents',
    about: 'agents in the office, with their last contact',
    order: 'id',
    omit: 'key_hmac,secret_key_id',
    also: `jsonb_build_object('last_contact_at', (select last_contact_at from agent_contact where agent_id = agent.id))`,
  },
  location_writer: { file: 'location-agents', about: 'the agent that writes at each location', order: 'location_id' },
  access_grant: {
    file: 'grants',
    about: 'which vendor may or could read what, who granted and who revoked it',
    order: 'granted_at, id',
    also: vendorName,
  },
  access_request: {
    file: 'access-requests',
    about: 'which vendor asked for access to what, and the answer',
    order: 'asked_at, id',
    also: vendorName,
  },
  agreement_acceptance: {
    file: 'agreement-acceptances',
    about: 'the versions of the developer API agreement that these vendors accepted',
    order: 'company_id, version',
    omit: 'member_id',
    also: vendorName,
    rows: itsVendors,
  },
  agreement: {
    file: 'agreements',
    about: 'the texts of these versions',
    order: 'version',
    rows: `version in (select version from agreement_acceptance where ${itsVendors})`,
  },
  disclosure: {
    file: 'disclosures',
    about: 'every answer that sent, counted or compared records: which vendor, when, what, from which address',
    order: 'location_id, disclosed_at, id',
    omit: 'key_pair_id',
    also: vendorName,
  },
  audit_event: { file: 'history', about: 'what people of the practice, and the operator for it, did', order: 'id' },
  dataset_state: {
    file: 'datasets',
    about: 'how many records each dataset of each location has, and when it was read last',
    order: 'location_id, dataset',
    omit: 'first_stamp,last_stamp,span_from,span_records',
  },
  sync_activity: {
    file: 'reads-of-agents',
    about: 'how often agents read each dataset, by quarter hour',
    order: 'location_id, dataset, bucket_at',
  },
  removal: {
    file: 'removals',
    about: 'large removals that wait for a person, are being carried out, or were rejected',
    order: 'location_id, dataset, id',
    omit: 'list_hash,after_source_id,next_attempt_at,last_error',
  },
  removal_record: {
    file: 'removal-records',
    about: 'the records of these removals, by their number in the practice management system',
    order: 'location_id, dataset, removal_id, source_id',
  },
  attribution_script: { file: 'attribution', about: 'the script for the practice’s websites', order: 'location_id' },
  attribution_sighting: {
    file: 'attribution-sightings',
    about: 'the websites on which the script ran',
    order: 'location_id, origin',
  },
}

/** What an export leaves out of the tables that have rows of a practice, and why. */
export const notExported: Readonly<Record<string, string>> = {
  agent_contact: 'in agents',
  agent_heartbeat: 'what agents do at this moment',
  agent_problem: 'what is wrong at this moment',
  agent_hour: 'counts of requests of the last 30 days',
  location_hour: 'counts of requests of the last 30 days',
  agent_number: 'how uploads are counted',
  agent_process: 'how copies of an agent are told apart',
  enrolment_code: 'hashes of codes',
  invitation: 'hashes of links',
  sync_slot: 'requests of this moment',
  identity_link: 'a person’s own means of signing in',
  session_use: 'when a person’s sessions were used',
  support_view: 'which pages an operator may read at this moment; the acts are in the history',
  portal_session: 'a person’s own means of signing in',
  portal_passkey: 'a person’s own means of signing in',
  portal_two_factor: 'a person’s own means of signing in',
  portal_account: 'a person’s own means of signing in',
  portal_verification: 'a person’s own means of signing in',
  used_totp: 'a person’s own means of signing in',
  portal_user: 'name and address are in people',
  mail: 'mails of this moment',
  notice: 'what each person was notified of; what happened is in history',
  notice_setting: 'which mails each person wants',
  notice_condition: 'which conditions are on at this moment',
  dataset_grant: 'made from grants',
  disclosed_day: 'made from disclosures',
  practice_head: 'made from disclosures',
  practice_seal: 'in the portal’s download of disclosures with seals',
  seal_mail: 'whether seals are mailed',
  rerender_work: 'work of this moment',
  note_removal: 'work of this moment',
  complete_list: 'work of this moment',
  complete_list_missing: 'work of this moment',
  record: 'in records/<dataset>',
  record_reference: 'made from records',
  record_count: 'made from records',
  packed_body: 'hashes of uploads',
  segment: 'made from records',
  segment_due: 'work of this moment',
  segment_state: 'made from records',
  upload: 'hashes and answers of the last week’s uploads, whose records are in records/<dataset>',
  vendor_request: 'technical log of the vendors; every read of the practice is in disclosures',
}
