import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertDisclosures } from '../../../modules/disclosure/store.ts'
import { createCompany } from '../../../modules/membership/create-tenant.ts'
import { createLocation } from '../../../modules/onboarding/upsert-locations.ts'
import type { OrganizationId } from '../../../platform/identity/identity.ts'
import { aDigest, someOperator } from '../testing/test-operator.ts'

test('F24: the operator lists the disclosures of one patient, as a table, JSON and CSV', async (t) => {
  const { pool, run, ask } = await someOperator(t)
  const { id: organization } = await ask('organization', 'create', '--name', 'Smile Group')
  const person = { email: 'v@example.com', name: 'V' }
  const { company } = await createCompany(pool, { name: 'Vendor', owner: person })
  // A name from before names had rules.
  await pool.query(`update company set name = '=Vendor'`)
  const location = await createLocation(pool, organization as OrganizationId, { sourceId: '1', name: 'Downtown' })
  await pool.query(
    `insert into record (location_id, dataset, id, source_id, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash, source, document)
     values ($1, 'patients', 12, '4711', 1, false, 1, 1, now(), '', '', $2)`,
    [location.id, '{"attributes":{"first_name":"Ann","last_name":"Example"}}'],
  )
  const digest = { ...aDigest(company.id, location.id), dataset: 'patients' as const }
  await pool.query(
    `insert into company_profile (company_id, postal_address, purpose) values ($1, '1 Main Street', 'Recall')`,
    [company.id],
  )
  await insertDisclosures(pool, [digest, digest, { ...digest, coverage: { afterId: '12', lastId: '20' } }], {
    timeoutMs: 5_000,
  })

  const reason = ['--reason', 'The patient asked the practice']
  const which = ['disclosure', 'patient', ...reason, '--organization', organization, '--patient']
  const [found, ...more] = await ask(...which, '4711')
  assert.deepEqual(
    [found.recipient, found.postal_address, found.purpose, found.dataset, found.kind, found.count, more.length],
    ['=Vendor', '1 Main Street', 'Recall', 'patients', 'compared', 2, 0],
  )
  assert.match(
    (await run(...which, '4711')).out,
    /=Vendor {4}1 Main Street {3}Recall {3}Downtown {2}patients {2}compared/,
  )
  assert.match(
    (await run(...which, '4711', '--csv')).out,
    /^patient,recipient,.*\r\nAnn Example,'=Vendor,1 Main Street,Recall,Downtown,patients,compared,\S+Z,\S+Z,2,"title, first name,/,
  )
  const nobody = await run(...which, '4712')
  assert.deepEqual([nobody.code, nobody.err], [1, 'No location of this organization has a patient with that number.'])
})
