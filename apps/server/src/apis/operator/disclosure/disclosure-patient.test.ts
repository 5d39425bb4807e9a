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
     values ($1, 'patients', 12, '4711', 1, false, 1, 1, now(), '', '', '')`,
    [location.id],
  )
  const digest = { ...aDigest(company.id, location.id), dataset: 'patients' as const }
  await insertDisclosures(pool, [digest, { ...digest, coverage: { afterId: '12', lastId: '20' } }], {
    timeoutMs: 5_000,
  })

  const reason = ['--reason', 'The patient asked the practice']
  const which = ['disclosure', 'patient', ...reason, '--organization', organization, '--patient']
  const [found, ...more] = await ask(...which, '4711')
  assert.deepEqual([found.company_name, found.dataset, found.kind, more.length], ['=Vendor', 'patients', 'compared', 0])
  assert.match((await run(...which, '4711')).out, /Downtown {2}patients {2}compared/)
  assert.match(
    (await run(...which, '4711', '--csv')).out,
    /^at,vendor,.*\r\n\S+Z,'=Vendor,Downtown,patients,compared,request-1$/,
  )
  const nobody = await run(...which, '4712')
  assert.deepEqual([nobody.code, nobody.err], [1, 'No location of this organization has a patient with that number.'])
})
