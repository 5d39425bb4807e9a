import { atOnce, type Endings, inSlices, installation, kept, none, people } from './ending.ts'

const atItsLocations = 'location_id in (select id from location where organization_id = $1::bigint)'
const ofItsAgents = 'agent_id in (select id from agent where organization_id = $1::bigint)'
/** Only erasing deletes an agent, so a contact without one was noted by a request that was under way then. */
const orOfNone = 'not exists (select 1 from agent where agent.id = agent_id)'
const ofVendors = 'a vendor’s, not the practice’s'

/** What becomes of each table's rows of a practice that is erased. */
export const organizationEndings: Endings = {
  // Agents first, so that nothing new arrives; then vendors' access.
  enrolment_code: atOnce('organization_id = $1::bigint'),
  location_writer: atOnce(atItsLocations),
  agent_contact: atOnce(`${ofItsAgents} or ${orOfNone}`),
  agent_heartbeat: atOnce(`${ofItsAgents} or ${orOfNone}`),
  agent_problem: atOnce(`${ofItsAgents} or ${orOfNone}`),
  agent_number: atOnce(ofItsAgents),
  agent_process: atOnce(ofItsAgents),
  agent_hour: atOnce(`${ofItsAgents} or ${orOfNone}`),
  agent: atOnce('organization_id = $1::bigint'),
  sync_slot: atOnce(atItsLocations),
  seal_mail: atOnce('organization_id = $1::bigint'),
  attribution_script: atOnce(atItsLocations),
  access_request: atOnce('organization_id = $1::bigint'),
  ...people,
  dataset_grant: inSlices(atItsLocations),
  rerender_work: inSlices(atItsLocations),
  note_removal: inSlices(atItsLocations),
  removal_record: inSlices(atItsLocations),
  removal: inSlices(atItsLocations),
  complete_list_missing: inSlices(atItsLocations),
  complete_list: inSlices(atItsLocations),
  record: inSlices(atItsLocations),
  record_reference: inSlices(atItsLocations),
  record_count: inSlices(atItsLocations),
  packed_body: inSlices(atItsLocations),
  upload: inSlices(atItsLocations),
  sync_activity: inSlices(atItsLocations),
  location_hour: inSlices(atItsLocations),
  dataset_state: inSlices(atItsLocations),
  // After the dataset's state: who packs records asks it under the lock of the segments' state, and then finds none.
  segment_state: inSlices(atItsLocations),
  segment: inSlices(atItsLocations),
  segment_due: inSlices(atItsLocations),
  attribution_sighting: inSlices(atItsLocations),
  disclosure: kept(atItsLocations, 'who read what: kept for six years (45 CFR 164.316, 164.528)'),
  audit_event: kept(
    `side = 'organization' and tenant_id = $1::text`,
    'what people of the practice did: kept for six years (45 CFR 164.316)',
  ),
  disclosed_day: kept(atItsLocations, 'sums of the disclosures'),
  practice_seal: kept('organization_id = $1::bigint', 'what proves the disclosures'),
  practice_head: kept('organization_id = $1::bigint', 'what proves the disclosures'),
  access_grant: kept('organization_id = $1::bigint', 'who granted what: the reason for each disclosure; all ended'),
  location: kept(
    'organization_id = $1::bigint',
    'id and name, which disclosures refer to; address and contacts erased',
  ),
  organization: kept('id = $1::bigint', 'id and name, which disclosures refer to'),
  vendor_request: kept(atItsLocations, 'the vendors’ requests of the last 30 days, without data of the practice'),
  vendor_usage: none(ofVendors),
  webhook_attempt: none(ofVendors),
  webhook_delivery: none(ofVendors),
  webhook_endpoint: none(ofVendors),
  sync_slot_gate: none(ofVendors),
  company: none(ofVendors),
  company_profile: none(ofVendors),
  company_domain: none(ofVendors),
  company_former_name: none(ofVendors),
  key_pair: none(ofVendors),
  key_pair_use: none(ofVendors),
  agreement_acceptance: none(ofVendors),
  ...installation,
}
