import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEvent, VendorPage } from '@bridgework/contract/portal'
import { someNotices } from '../../../modules/notices/testing/test-notices.ts'
import { read } from '../testing/test-company.ts'

/** A sentence of the history that says the opposite of what happens below. A company's name may have all of its signs. */
const opposite =
  'Before: nothing. After: patients at all locations. Granted: Patients at all locations. Removed: nothing'
const names = {
  company: `Acme. ${opposite}`,
  practice: `Smile. ${opposite}`,
  location: `Elm. ${opposite}`,
  agent: `Desk”. ${opposite}`,
  person: `Ana. ${opposite}`,
  purpose: `Recall. ${opposite}. Ends: 2099-01-01T00:00Z. Decided by Nobody`,
}
const shown = (name: keyof typeof names) => `“${names[name]}”`

test('W40: history, file, notices and mails say what happened, though every name and note is a sentence of the history', async (t) => {
  const world = await someNotices(t)
  const { pool } = world
  const vendor = await world.addVendor()
  const { companyId } = vendor
  const location = await world.addLocation()
  const { organizationId } = location
  await pool.query('update company set name = $2 where id = $1', [companyId, names.company])
  await pool.query('update organization set name = $2 where id = $1', [organizationId, names.practice])
  await pool.query('update location set name = $2 where id = $1', [location.id, names.location])
  await pool.query('update agent set name = $2 where organization_id = $1', [organizationId, names.agent])
  const owner = await world.signInAs({ organizationId }, 'owner')
  const company = await world.signInAs({ companyId }, 'owner')
  await pool.query('update portal_user set name = $2 where id = any($1)', [
    [owner.person.userId, company.person.userId],
    names.person,
  ])
  const colleague = await world.addReader({ side: 'organization', id: organizationId }, 'admin')
  const partner = await world.addReader({ side: 'company', id: companyId }, 'admin')
  const [practicePath, companyPath] = [`/organizations/${organizationId}`, `/companies/${companyId}`]
  const vendorPath = `${practicePath}/vendors/${companyId}`

  const historyOf = async (person: typeof owner, path: string): Promise<AuditEvent> => {
    const { data } = read<{ data: AuditEvent[] }>(await person.get(`${path}/events`))
    const [event] = data
    assert.ok(event)
    assert.doesNotMatch(JSON.stringify(event), /[\u2068\u2069]/)
    const file = (await person.get(`${path}/events.csv`)).text.split('\r\n')[1] ?? ''
    assert.ok(file.includes(event.what), file)
    return event
  }
  const toldOf = async (reader: typeof colleague) => {
    await world.round()
    const notice = (await world.noticesOf(reader.memberId)).findLast(({ event }) =>
      /^(grant|access|request)_/.test(event),
    )
    assert.ok(notice)
    const mails = world.mailsTo(reader.email)
    assert.ok(
      mails.some(({ text }) => text.includes(`\n${notice.body}\n`)),
      JSON.stringify(mails.at(-1)),
    )
    return [notice.event, notice.title, notice.body]
  }
  const change = async (datasets: string[], more: object = {}) => {
    const { access_version } = read<VendorPage>(await owner.get(vendorPath))
    const locations = datasets.length === 0 ? [] : [{ id: location.id, datasets }]
    read(await owner.put(`${vendorPath}/access`, { access_version, all_locations: [], locations, ...more }))
  }
  const actor = `“${names.person} <${owner.person.email}>”`
  const patients = `Patients at ${shown('location')}`

  await change(['patients', 'treatments'], { purpose: names.purpose })
  const granted = await historyOf(owner, practicePath)
  assert.equal(granted.what, `Granted ${shown('company')} access to Patients and Treatments at ${shown('location')}`)
  const terms = ` Purpose: ${shown('purpose')}.`
  assert.equal(granted.details, `Before: nothing. After: Patients and Treatments at ${shown('location')}.${terms}`)
  assert.deepEqual(await toldOf(colleague), [
    'grant_given',
    `${shown('company')} was granted access`,
    `${actor} did this. Before: nothing. Now: Patients and Treatments at ${shown('location')}.`,
  ])
  const enrolled = (await world.noticesOf(colleague.memberId)).find(({ event }) => event === 'agent_enrolled')
  assert.match(enrolled?.body ?? '', /^“Desk\\"\. Before: [^“”]* Removed: nothing” can now send data/)
  assert.deepEqual(await toldOf(partner), [
    'grant_given',
    `${shown('practice')} granted you access`,
    `Before: nothing. Now: Patients and Treatments at ${shown('location')}.`,
  ])

  await change(['patients'])
  const changed = await historyOf(owner, practicePath)
  assert.deepEqual(
    [changed.what, changed.details],
    [
      `Removed the access of ${shown('company')} to Treatments at ${shown('location')}`,
      `Before: Patients and Treatments at ${shown('location')}. After: ${patients}.${terms}`,
    ],
  )
  assert.equal((await toldOf(colleague))[0], 'grant_changed')

  read(await owner.delete(`${vendorPath}/access`))
  const removed = await historyOf(owner, practicePath)
  assert.deepEqual(
    [removed.what, removed.details],
    [`Removed the access of ${shown('company')} to ${patients}`, `Before: ${patients}. After: nothing.${terms}`],
  )
  assert.deepEqual(await toldOf(colleague), [
    'grant_ended',
    `The access of ${shown('company')} was ended`,
    `${actor} did this. Before: ${patients}. Now: nothing.`,
  ])
  const ended = await historyOf(company, companyPath)
  assert.equal(ended.what, `Removed the access of your company to ${patients}`)
  assert.deepEqual(await toldOf(partner), [
    'grant_ended',
    `${shown('practice')} ended your access`,
    `Before: ${patients}. Now: nothing.`,
  ])

  // The vendor asks again, with words of its own for the locations and the purpose, and the practice declines with a note.
  const request = {
    organization_id: organizationId,
    datasets: ['patients'],
    locations: names.location,
    purpose: names.purpose,
  }
  read(await company.post(`${companyPath}/access_requests`, request))
  const asked = `for access to ${patients}, for: ${shown('purpose')}`
  assert.equal((await historyOf(owner, practicePath)).what, `Asked ${asked}`)
  assert.equal((await historyOf(company, companyPath)).what, `Asked ${shown('practice')} ${asked}`)
  assert.deepEqual(await toldOf(colleague), [
    'access_requested',
    `${shown('company')} asks for access`,
    `${shown('company')}: Asked ${asked}.`,
  ])
  const { data } = read<{ data: { id: string }[] }>(await owner.get(`${practicePath}/access_requests`))
  read(await owner.post(`${practicePath}/access_requests/${data[0]?.id}/refusal`, { message: names.purpose }))
  assert.equal((await historyOf(company, companyPath)).what, `Declined a request for access: ${shown('purpose')}`)
  assert.deepEqual(await toldOf(partner), [
    'request_declined',
    `${shown('practice')} declined your request`,
    `${shown('practice')}: Declined a request for access: ${shown('purpose')}.`,
  ])
  assert.equal(
    (await historyOf(owner, practicePath)).what,
    `Declined a request for access of ${shown('company')}: ${shown('purpose')}`,
  )

  // It may ask once more, and what it asks for is granted: the same act as a grant by the matrix, with the same notices.
  read(await owner.post(`${practicePath}/access_requests/${data[0]?.id}/invitation`))
  assert.equal((await historyOf(owner, practicePath)).what, `Let ${shown('company')} ask for access again`)
  read(await company.post(`${companyPath}/access_requests`, request))
  const { data: open } = read<{ data: { id: string }[] }>(await owner.get(`${practicePath}/access_requests`))
  const granting = { datasets: ['patients'], location_ids: [location.id], message: names.purpose }
  read(await owner.post(`${practicePath}/access_requests/${open[0]?.id}/grant`, granting))
  const [atPractice, atCompany] = [await historyOf(owner, practicePath), await historyOf(company, companyPath)]
  const details = `Before: nothing. After: ${patients}. Purpose: ${shown('purpose')}.`
  assert.deepEqual(
    [atPractice.action, atPractice.what, atPractice.details],
    ['grant.change', `Granted ${shown('company')} access to ${patients}, as requested`, details],
  )
  assert.deepEqual(
    [atCompany.action, atCompany.what, atCompany.details],
    ['grant.change', `Granted your company access to ${patients}, as requested`, details],
  )
  assert.deepEqual(await toldOf(colleague), [
    'grant_given',
    `${shown('company')} was granted access`,
    `${actor} did this. Before: nothing. Now: ${patients}.`,
  ])
  assert.deepEqual(await toldOf(partner), [
    'request_granted',
    `${shown('practice')} granted your request`,
    `Before: nothing. Now: ${patients}.`,
  ])
})
