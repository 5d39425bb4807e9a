import { atOnce, type Endings, inSlices, installation, kept, none, people } from './ending.ts'

const ofTheCompany = 'company_id = $1::uuid'
const ofItsKeys = `key_pair_id in (select id from key_pair where ${ofTheCompany})`
/** Only erasing deletes a key pair, so a use without one was noted by a request that was under way then. */
const orOfNone = 'not exists (select 1 from key_pair where key_pair.id = key_pair_id)'
const ofItsWebhooks = `endpoint_id in (select id from webhook_endpoint where ${ofTheCompany})`
const ofPractices = none('a practice’s, not the vendor’s')

/** What becomes of each table's rows of a vendor that is erased. */
export const companyEndings: Endings = {
  // Keys first, so that nothing more is read.
  key_pair_use: atOnce(`${ofItsKeys} or ${orOfNone}`),
  key_pair: atOnce(ofTheCompany),
  sync_slot: atOnce(ofTheCompany),
  sync_slot_gate: atOnce(ofTheCompany),
  ...people,
  access_request: atOnce(ofTheCompany),
  webhook_attempt: atOnce(ofItsWebhooks),
  webhook_delivery: atOnce(ofItsWebhooks),
  webhook_endpoint: atOnce(ofTheCompany),
  company_profile: atOnce(ofTheCompany),
  company_domain: atOnce(ofTheCompany),
  company_former_name: atOnce(ofTheCompany),
  dataset_grant: inSlices(ofTheCompany),
  vendor_request: inSlices(ofTheCompany),
  vendor_usage: inSlices(ofTheCompany),
  disclosure: kept(
    ofTheCompany,
    'what the vendor read: kept for the practices for six years (45 CFR 164.316, 164.528)',
  ),
  disclosed_day: kept(ofTheCompany, 'sums of the disclosures'),
  audit_event: kept(
    `side = 'company' and tenant_id = $1::text`,
    'what people of the vendor did: kept for six years (45 CFR 164.316)',
  ),
  access_grant: kept(ofTheCompany, 'who granted what: the reason for each disclosure; all ended'),
  agreement_acceptance: kept(ofTheCompany, 'which agreement was in force when the vendor read'),
  company: kept('id = $1::uuid', 'id and name, which disclosures refer to'),
  agent: ofPractices,
  agent_contact: ofPractices,
  agent_heartbeat: ofPractices,
  agent_hour: ofPractices,
  agent_number: ofPractices,
  agent_problem: ofPractices,
  agent_process: ofPractices,
  attribution_script: ofPractices,
  attribution_sighting: ofPractices,
  complete_list: ofPractices,
  complete_list_missing: ofPractices,
  dataset_state: ofPractices,
  enrolment_code: ofPractices,
  location: ofPractices,
  location_hour: ofPractices,
  location_writer: ofPractices,
  note_removal: ofPractices,
  organization: ofPractices,
  packed_body: ofPractices,
  record: ofPractices,
  record_count: ofPractices,
  segment: ofPractices,
  segment_due: ofPractices,
  segment_state: ofPractices,
  record_reference: ofPractices,
  removal: ofPractices,
  removal_record: ofPractices,
  rerender_work: ofPractices,
  practice_head: ofPractices,
  practice_seal: ofPractices,
  seal_mail: ofPractices,
  sync_activity: ofPractices,
  upload: ofPractices,
  ...installation,
}
