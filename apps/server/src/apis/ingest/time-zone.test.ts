import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames, getDataset, hasInstants } from '@bridgework/contract'
import { assignTimeZone } from '../../modules/directory/location.ts'
import { updateOrganization } from '../../modules/directory/organization.ts'
import { someWorld } from '../../testing/test-world.ts'

test('an agent learns the time zones that people set for its organization and for single locations', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const other = await world.addLocation({ organizationId: location.organizationId })
  const agent = await world.addAgent(location.organizationId)
  const self = async () => {
    const headers = { authorization: `Bearer ${agent.agentKey}` }
    const { body } = await world.request('/ingest/v1/agents/self', { headers })
    return [body.time_zone, body.location_time_zones]
  }
  assert.deepEqual(await self(), [null, []])
  await updateOrganization(world.pool, location.organizationId, { name: 'Practice', timeZone: 'America/Denver' })
  await assignTimeZone(world.pool, other.id, 'America/Boise')
  const { rows } = await world.pool.query('select source_id from location where id = $1', [other.id])
  const own = [{ source_id: rows[0]?.source_id, time_zone: 'America/Boise' }]
  assert.deepEqual(await self(), ['America/Denver', own])
  await assignTimeZone(world.pool, other.id, null)
  assert.deepEqual(await self(), ['America/Denver', []])
  for (const wrong of ['CST', 'EST', '-06:00', 'Central Standard Time', 'Mars/Base', '']) {
    await assert.rejects(assignTimeZone(world.pool, other.id, wrong), /IANA name/, wrong)
    const change = { name: 'Practice', timeZone: wrong }
    await assert.rejects(updateOrganization(world.pool, location.organizationId, change), /IANA name/, wrong)
  }
})

test('no record with a time is taken of a location whose time zone is not known', async (t) => {
  const world = await someWorld(t)
  const { id, organizationId } = await world.addLocation()
  const agent = await world.addAgent(organizationId)
  await world.pool.query('update location set time_zone = null where id = $1', [id])
  const dated = datasetNames.filter(hasInstants)
  assert.deepEqual(dated, ['appointments', 'ledger_transactions'])
  let number = 0
  const send = async (dataset: (typeof datasetNames)[number]) => {
    number += 1
    const answer = await world.request(`/ingest/v1/locations/${id}/${dataset}/records`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.agentKey}`,
        'content-type': 'application/x-ndjson',
        'idempotency-key': `${agent.agentId}-${number}`,
      },
      body: `${JSON.stringify({ source_id: '1', attributes: getDataset(dataset).example })}\n`,
    })
    return [answer.status, answer.body.code]
  }
  for (const dataset of datasetNames) {
    assert.deepEqual(await send(dataset), dated.includes(dataset) ? [422, 'time_zone_required'] : [200, undefined])
  }
  await world.pool.query("update location set time_zone = 'America/Chicago' where id = $1", [id])
  for (const dataset of dated) assert.deepEqual(await send(dataset), [200, undefined])
})

test('a location is accepted with an IANA time zone or none', async (t) => {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const agent = await world.addAgent(organizationId)
  const tell = async (timeZone: string | null) => {
    const texts = [
      'address_line_1',
      'address_line_2',
      'city',
      'state',
      'postal_code',
      'country',
      'phone',
      'email',
      'website_url',
      'currency',
    ]
    const location = {
      ...Object.fromEntries(texts.map((name) => [name, null])),
      source_id: '1',
      name: 'Main Street',
      time_zone: timeZone,
      is_active: true,
      practice_management_system: { name: null, version: null },
    }
    const answer = await world.post(`/organizations/${organizationId}/locations`, agent, { locations: [location] })
    return [answer.status, answer.body.errors]
  }
  for (const good of ['America/Chicago', 'UTC', null]) assert.deepEqual(await tell(good), [200, undefined])
  for (const wrong of ['CST', '+00:00', 'Mars/Base']) {
    assert.deepEqual(await tell(wrong), [
      422,
      'time_zone of location 1 must be an IANA name like America/New_York, or null.',
    ])
  }
})
