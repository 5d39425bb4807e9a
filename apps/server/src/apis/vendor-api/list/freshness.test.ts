import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractNumber, datasetNames } from '@bridgework/contract'
import { contractHeader } from '@bridgework/contract/ingest'
import { someWorld } from '../../../testing/test-world.ts'

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const always = Object.fromEntries(weekdays.map((day) => [day, [{ opens: '00:00', closes: '24:00' }]]))
const never = Object.fromEntries(weekdays.map((day) => [day, []]))

test('sync_status, the location and each page say how current the copy is, with the practice’s hours in mind', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const agent = await world.addAgent(location.organizationId)
  const path = `/locations/${location.id}`
  const states = async () => {
    const status = (await vendor.get(`${path}/sync_status`)).body.data
    assert.deepEqual(
      status.map(({ id }) => id),
      datasetNames,
    )
    const page = (await vendor.get(`${path}/patients`)).body.meta.freshness.state
    const here = (await vendor.get(path)).body.data as unknown as { attributes: { sync: { state: string } } }
    const listed = (await vendor.get('/locations')).body.data[0]?.attributes.sync as { state: string }
    assert.equal(listed.state, here.attributes.sync.state)
    return [status.find(({ id }) => id === 'patients')?.attributes.state, page, listed.state]
  }
  const told = (officeHours: object) =>
    world.ownerPool.query(`update location set time_zone = 'America/Denver', office_hours = $1`, [officeHours])
  const all = (state: string) => [state, state, state]

  assert.deepEqual(await states(), all('pending'))
  await world.confirmReads(agent, location.id, datasetNames.slice(1))
  assert.deepEqual(await states(), ['current', 'current', 'pending'], 'a location is as complete as its last dataset')
  await world.confirmReads(agent, location.id, datasetNames.slice(0, 1))
  assert.deepEqual(await states(), all('current'))

  await world.ownerPool.query(`update dataset_state set synced_at = now() - interval '2 hours'`)
  await told(always)
  assert.deepEqual(await states(), all('stale'), 'the agent was heard just now')
  await told(never)
  assert.deepEqual(await states(), all('current'), 'nobody works there')
})

test('a location is disconnected when its agent is not heard in its office hours any more', async (t) => {
  const clock = { aheadMs: 0 }
  const world = await someWorld(t, { now: () => new Date(Date.now() + clock.aheadMs) })
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const agent = await world.addAgent(location.organizationId)
  const path = `/locations/${location.id}`
  const state = async () => (await vendor.get(`${path}/patients`)).body.meta.freshness.state
  await world.confirmReads(agent, location.id, ['patients'])
  for (const [minutes, expected] of [
    [14, 'current'],
    [59, 'stale'],
    [62, 'disconnected'],
  ] as const) {
    clock.aheadMs = minutes * 60_000
    assert.equal(await state(), expected, `${minutes}`)
  }
  await world.ownerPool.query(`update agent_contact set last_contact_at = now() + interval '62 minutes'`)
  clock.aheadMs += 11_000
  assert.equal(await state(), 'stale', 'it is heard again, and has not read yet')
})

test('a dataset that the source does not have is not_provided, and nothing waits for it', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const { agent, organizationId } = location
  const { rows } = await world.pool.query('select source_id from location where id = $1', [location.id])
  const report = async (datasets?: readonly string[]) => {
    const described = { ...aSourceLocation, source_id: rows[0].source_id }
    const body = { locations: [described], ...(datasets && { datasets }) }
    assert.equal((await world.post(`/organizations/${organizationId}/locations`, agent, body)).status, 200)
  }
  const path = `/locations/${location.id}`
  const states = async () => {
    const status = (await vendor.get(`${path}/sync_status`)).body.data
    const here = (await vendor.get(path)).body.data as unknown as { attributes: { sync: { state: string } } }
    const page = (await vendor.get(`${path}/appointments`)).body.meta.freshness.state
    const named = (state: string) => status.filter(({ attributes }) => attributes.state === state).map(({ id }) => id)
    return { location: here.attributes.sync.state, appointments: page, named }
  }
  const provided = ['patients', 'insurance_plans', 'of_a_later_contract']

  await report(provided)
  await world.confirmReads(agent, location.id, ['patients'])
  assert.equal((await states()).location, 'pending', 'the plans are still to come')
  await world.confirmReads(agent, location.id, ['insurance_plans'])
  const now = await states()
  assert.deepEqual([now.location, now.appointments], ['current', 'not_provided'])
  assert.deepEqual(now.named('current').sort(), ['insurance_plans', 'patients'])
  assert.equal(now.named('not_provided').length, datasetNames.length - 2)

  await report([])
  assert.equal((await states()).location, 'not_provided')
  await report()
  assert.equal((await states()).location, 'pending', 'an agent that does not say is taken to read every dataset')
})

test('sync_status names the attributes that the source never has, and those that its agent is too old for', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const { agent, organizationId } = location
  const { rows } = await world.pool.query('select source_id from location where id = $1', [location.id])
  const lacking = async (contract: number, attributes?: Record<string, readonly string[]>) => {
    const described = { ...aSourceLocation, source_id: rows[0].source_id }
    const body = { locations: [described], ...(attributes && { attributes_not_provided: attributes }) }
    const headers = { [contractHeader]: String(contract) }
    assert.equal((await world.post(`/organizations/${organizationId}/locations`, agent, body, headers)).status, 200)
    const { data } = (await vendor.get(`/locations/${location.id}/sync_status`)).body
    return Object.fromEntries(
      data.flatMap(({ id, attributes }) => {
        const names = attributes.attributes_not_provided as string[]
        return names.length > 0 ? [[id, names]] : []
      }),
    )
  }

  const reported = {
    patients: ['country', 'guarantor_source_id', 'constructor', 'of_a_later_contract'],
    appointments: ['treatment_source_ids', 'created_at'],
    insurance_plans: ['fee_schedule_source_id'],
    of_a_later_contract: ['x'],
  }
  const seen = {
    patients: ['country', 'guarantor_id'],
    appointments: ['treatment_ids', 'created_at'],
    insurance_plans: ['fee_schedule'],
  }
  assert.deepEqual(await lacking(contractNumber, reported), seen)
  assert.deepEqual(await lacking(contractNumber), {}, 'an agent that does not say is taken to have every attribute')
  assert.deepEqual(await lacking(1), { patients: ['title'], appointments: ['created_at'] })
})

const aSourceLocation = {
  name: 'Location',
  address_line_1: null,
  address_line_2: null,
  city: null,
  state: null,
  postal_code: null,
  country: null,
  phone: null,
  email: null,
  website_url: null,
  time_zone: 'America/New_York',
  currency: null,
  is_active: true,
  practice_management_system: { name: null, version: null },
}
