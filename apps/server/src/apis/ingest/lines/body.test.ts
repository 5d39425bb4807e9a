import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IngestRouteName, ingestRoutes, ingestUrl } from '@bridgework/contract/ingest'
import { someWorld } from '../../../testing/test-world.ts'

test('a JSON body of another kind is told what is accepted, in a whole sentence', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  const path = `/locations/${location.id}/insurance_plans`
  const refusal = async (at: string, body: string) => {
    const headers = { authorization: `Bearer ${agent.agentKey}`, 'content-type': 'application/json' }
    const answer = await world.request(`/ingest/v1${at}`, { method: 'POST', headers, body })
    assert.deepEqual([answer.status, answer.body.code], [422, 'field_invalid'], `${at} ${body}: ${answer.text}`)
    return answer.body.errors
  }
  for (const body of ['[]', 'null', '7', '"x"']) {
    for (const at of [`${path}/complete_lists`, '/agents/self/heartbeats', `${path}/complete_lists/1/finish`])
      assert.equal(await refusal(at, body), 'The body must be an object.')
  }
  assert.equal(
    await refusal(`${path}/complete_lists`, '{"began_at_upload":1,"x":1}'),
    'The body has a member that is not known. Known: began_at_upload.',
  )
  assert.equal(await refusal(`${path}/complete_lists`, '{}'), 'began_at_upload is missing.')
  const twice = 'The member began_at_upload of the body is there twice. Send it once.'
  assert.equal(await refusal(`${path}/complete_lists`, '{"began_at_upload":1,"began_at_upload":2}'), twice)
})

test('G08: each route takes a body of its own type, in any spelling of it, and of no other', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const agent = await world.addAgent(location.organizationId)
  const parts = {
    organization_id: location.organizationId,
    location_id: location.id,
    dataset: 'insurance_plans',
    list_id: '1',
    version: '1.0.0',
    number: '0',
  }
  const statusOf = async (name: IngestRouteName, type: string) => {
    const headers = {
      authorization: `Bearer ${agent.agentKey}`,
      'content-type': type,
      'idempotency-key': `${agent.agentId}-1`,
    }
    const init = { method: 'POST', headers, body: 'no JSON' }
    const { status, body } = await world.request(ingestUrl(name, parts), init)
    return `${status} ${status === 415 ? body.code : ''}`.trim()
  }
  const routes = (Object.keys(ingestRoutes) as IngestRouteName[]).filter((name) => ingestRoutes[name].method === 'POST')
  for (const name of routes) {
    const isLines = name === 'sendRecords' || name === 'sendListSlice'
    const [own, other] = isLines
      ? (['application/x-ndjson', 'application/json'] as const)
      : (['application/json', 'application/x-ndjson'] as const)
    for (const type of [own, `${own}; charset=utf-8`, own.toUpperCase()])
      assert.match(await statusOf(name, type), /^4(00|22)$/, `${name} ${type}`)
    for (const type of [other, `${own}x`, 'text/plain', 'application/octet-stream'])
      assert.equal(await statusOf(name, type), '415 content_type_unsupported', `${name} ${type}`)
  }
})
