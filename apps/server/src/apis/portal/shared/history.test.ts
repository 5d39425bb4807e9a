import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEvent } from '@bridgework/contract/portal'
import { aRecord } from '../../../testing/test-world.ts'
import { type SignedIn, somePortal } from '../testing/test-portal.ts'

/** All of a history that the query finds, newest first. */
async function eventsOf(person: SignedIn, path: string, query = ''): Promise<AuditEvent[]> {
  const answer = await person.get(`${path}/events${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data as unknown as AuditEvent[]
}

test('R10: a history is a file of all that the filters find, newest first, of its own tenant alone, and runs nothing', async (t) => {
  const world = await somePortal(t)
  const [vendor, organizationId] = [await world.addVendor(), await world.addOrganization()]
  const { companyId } = vendor
  const company = await world.signInAs({ companyId }, 'owner')
  const practice = await world.signInAs({ organizationId }, 'owner')
  const operator = await world.signInAs('operator', 'support')
  await world.pool.query(
    `insert into audit_event (side, tenant_id, actor, action, facts, reason, ip, request_id)
     select side, tenant_id, '=cmd|A ' || n, 'company.update', '{"name": "A, B=1"}', 'Ticket ' || n, '192.0.2.7', 'r' || n
       from generate_series(1, 2500) n, (values ('company', $1), ('company', 'other')) as of (side, tenant_id)`,
    [companyId],
  )
  await world.pool.query(
    `insert into audit_event (side, tenant_id, actor, action) values ('organization', $1, 'Pat', 'grant.change'), ('operator', null, 'Otto', 'x')`,
    [organizationId],
  )

  const answer = await company.get(`/companies/${companyId}/events.csv`)

  assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/)
  assert.match(answer.headers.get('content-disposition') ?? '', new RegExp(`filename="history-${companyId}\\.csv"`))
  const [heading, ...lines] = answer.text.trimEnd().split('\r\n')
  assert.equal(heading, 'occurred_at,actor,what,details,reason,ip,request_id,id')
  assert.equal(lines.length, 2500)
  const ids = lines.map((line) => Number(line.split(',').at(-1)))
  assert.deepEqual(
    ids,
    ids.toSorted((one, other) => other - one),
  )
  const first = /Z,'=cmd\|A 2500,"Named the company “A, B=1”",,Ticket 2500,192\.0\.2\.7,r2500,\d+$/
  assert.match(lines[0] ?? '', first)
  const count = async (query: string) =>
    (await company.get(`/companies/${companyId}/events.csv?${query}`)).text.trimEnd().split('\r\n').length - 1
  assert.equal(await count('search=ticket 1234'), 1)
  assert.equal(await count('person=a 1234'), 1)
  assert.equal(await count('person=ticket'), 0, 'a person is looked for among persons alone')
  assert.equal(await count('kind=settings'), 2500)
  assert.equal(await count('kind=keys'), 0)
  assert.equal(await count('search=settings of the company'), 2500, 'by the words of the page')
  const linesOf = async (path: string, person: SignedIn) => (await person.get(path)).text.split('\r\n').slice(1)
  const ofPractice = (await linesOf(`/organizations/${organizationId}/events.csv`, practice)).join('\n')
  assert.match(ofPractice, /^\S+,Pat,Changed a vendor’s access,/)
  assert.match((await linesOf('/operator/events.csv', operator)).join('\n'), /^\S+,Otto,X,,,,,\d+\n$/)
})

test('days of a history are the practice’s own, both included', async (t) => {
  const world = await somePortal(t)
  const organizationId = await world.addOrganization()
  await world.pool.query(`update organization set time_zone = 'America/Denver' where id = $1`, [organizationId])
  const owner = await world.signInAs({ organizationId }, 'owner')
  await world.pool.query(
    `insert into audit_event (side, tenant_id, actor, action, occurred_at)
     values ('organization', $1, 'A', 'seal.mail', '2026-03-02T06:59:59Z'), ('organization', $1, 'B', 'seal.mail', '2026-03-02T07:00:00Z'),
            ('organization', $1, 'C', 'seal.mail', '2026-03-04T06:59:59Z'), ('organization', $1, 'D', 'seal.mail', '2026-03-04T07:00:00Z')`,
    [organizationId],
  )
  const path = `/organizations/${organizationId}`
  const between = async (query: string) => (await eventsOf(owner, path, query)).map(({ actor }) => actor).join('')
  assert.equal(await between('?from=2026-03-02&to=2026-03-03'), 'CB')
  assert.equal(await between('?from=2026-03-02'), 'DCB')
  assert.equal(await between('?to=2026-03-01'), 'A')
  assert.equal((await owner.get(`${path}/events?from=2026-03-02&to=2026-03-01`)).body.code, 'parameter_invalid')
  assert.equal((await owner.get(`${path}/events?kind=teeth`)).body.code, 'parameter_invalid')
})

test('what people do in the portal is in the histories as sentences, with names and counts and without ids and codes', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const { organizationId } = location
  await world.addLocation({ organizationId })
  await location.upload('patients', { one: aRecord('patients') })
  const { companyId } = await world.addVendor()
  const practice = await world.signInAs({ organizationId }, 'owner')
  const company = await world.signInAs({ companyId }, 'owner')
  const operator = await world.signInAs('operator', 'admin')
  const [ofPractice, ofCompany] = [`/organizations/${organizationId}`, `/companies/${companyId}`]
  const done = async (answer: Promise<{ status: number; text: string; body: unknown }>) => {
    const { status, text, body } = await answer
    assert.equal(status, 200, text)
    return body as { [name: string]: string }
  }
  const access = async (all: string[], locations: object[] = []) => {
    const { access_version } = await done(practice.get(`${ofPractice}/vendors/${companyId}`))
    await done(
      practice.put(`${ofPractice}/vendors/${companyId}/access`, { access_version, all_locations: all, locations }),
    )
  }

  const ada = { email: 'ada@example.com', name: 'Ada' }
  const invited = await done(practice.post(`/tenants/${organizationId}/members`, { ...ada, role: 'member' }))
  await done(practice.patch(`/tenants/${organizationId}/members/${invited.id}`, { role: 'admin' }))
  await done(practice.delete(`/tenants/${organizationId}/members/${invited.id}`))
  await done(practice.patch(ofPractice, { name: 'Smiles', time_zone: 'America/Denver' }))
  await done(practice.patch(`${ofPractice}/locations/${location.id}`, { time_zone: 'America/Boise' }))
  await done(practice.post(`${ofPractice}/enrolment_codes`))
  await done(practice.put(`${ofPractice}/seal_mail`, { is_mailed: true }))
  await access(['patients', 'treatments'])
  await access(['treatments'], [{ id: location.id, datasets: ['appointments'] }])
  await access([], [{ id: location.id, datasets: ['appointments', 'treatments'], notes: ['treatments'] }])
  await done(practice.delete(`${ofPractice}/vendors/${companyId}/access`))
  assert.deepEqual((await eventsOf(practice, ofPractice)).map(({ what }) => what).toReversed(), [
    'Invited “Ada <ada@example.com>” as member',
    'Made “Ada <ada@example.com>” admin',
    'Removed “Ada <ada@example.com>”',
    'Named the practice “Smiles” and set its time zone to America/Denver',
    'Set the time zone of “Location” to America/Boise',
    'Generated an enrollment code for an agent',
    'Turned on mails of seals to the owner',
    'Granted “Vendor” access to Patients and Treatments at all locations',
    'Granted “Vendor” access to Appointments at “Location”, and removed its access to Patients at all locations',
    'Granted “Vendor” access to notes of Treatments at “Location”, and removed its access to Treatments at “Location” and locations of the future',
    'Removed the access of “Vendor” to Appointments and Treatments with notes at “Location”',
  ])
  const [latest] = await eventsOf(practice, ofPractice, '?kind=access')
  assert.equal(latest?.details, 'Before: Appointments and Treatments with notes at “Location”. After: nothing.')

  const { client_id } = await done(company.post(`${ofCompany}/key_pairs/regeneration`, await livePair()))
  await done(company.post(`${ofCompany}/key_pairs/revocation`, { client_id }))
  await done(company.post(`${ofCompany}/key_pairs`))
  await done(company.patch(ofCompany, { name: 'Acme' }))
  await done(operator.post(`/operator/companies/${companyId}/state`, { state: 'suspended' }))
  await done(operator.post(`/operator/companies/${companyId}/state`, { state: 'closed' }))
  async function livePair() {
    const { data } = (await done(company.get(`${ofCompany}/key_pairs`))) as unknown as { data: { client_id: string }[] }
    return { client_id: data[0]?.client_id ?? assert.fail() }
  }
  const inCompany = (await eventsOf(company, ofCompany)).map(({ what }) => what).toReversed()
  assert.deepEqual(inCompany, [
    'Granted your company access to Patients and Treatments at all locations',
    'Granted your company access to Appointments at “Location”, and removed its access to Patients at all locations',
    'Granted your company access to notes of Treatments at “Location”, and removed its access to Treatments at “Location” and locations of the future',
    'Removed the access of your company to Appointments and Treatments with notes at “Location”',
    'Generated a key pair in place of the one before',
    'Revoked the key pair',
    'Generated a key pair',
    'Named the company “Acme”',
    'Suspended the company “Acme”',
    'Closed the company “Acme”',
  ])
  const atOperator = (await eventsOf(operator, '/operator')).map(({ what }) => what).toReversed()
  assert.deepEqual(atOperator, ['Suspended the company “Acme”', 'Closed the company “Acme”'])
})
