import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ingestVersion, ingestVersionHeader } from '@bridgework/contract/ingest'
import { createEnrolmentCode } from '../../../modules/agents/agent-key.ts'
import { someWorld } from '../../../testing/test-world.ts'

/**
 * What the agent sends that was released before the protocol had a version, written down as it goes over the wire: nothing here comes from the
 * contract, so no change of the contract changes it. `{…}` is filled in from earlier answers.
 */
const recorded = [
  {
    request: 'POST /ingest/v1/agents',
    headers: { 'content-type': 'application/json' },
    body: '{"enrolment_code":"{code}","name":"FRONTDESK","version":"0.1.0"}',
    answer: [201, ['agent_id', 'agent_key', 'organization_id']],
  },
  {
    request: 'GET /ingest/v1/agents/self',
    headers: {},
    answer: [200, ['agent_id', 'organization_id', 'server_time']],
  },
  {
    request: 'POST /ingest/v1/organizations/{organization_id}/locations',
    headers: { 'content-type': 'application/json' },
    body: '{"locations":[{"source_id":"1","name":"Main","address_line_1":null,"address_line_2":null,"city":null,"state":null,"postal_code":null,"country":"US","phone":null,"email":null,"website_url":null,"time_zone":"America/Chicago","currency":"USD","is_active":true,"practice_management_system":{"name":"Open Dental","version":"24.3"}}]}',
    answer: [200, ['locations']],
  },
  {
    request: 'POST /ingest/v1/locations/{location_id}/fee_schedules/records',
    headers: {
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      'idempotency-key': '{agent_id}-1795348800000',
    },
    body: '{"source_id":"53","attributes":{"fees":[],"is_global":false,"is_hidden":false,"name":"Standard","schedule_type":"standard"}}\n{"source_id":"54","attributes":{"fees":[],"is_global":false,"is_hidden":false,"name":"Other","schedule_type":"standard"}}\n',
    answer: [200, { inserted: 2, changed: 0, unchanged: 0, hidden: 0 }],
  },
  {
    request: 'POST /ingest/v1/locations/{location_id}/fee_schedules/reconcile',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: '{"began_at_upload":1795348800001,"source_ids":["53"]}',
    answer: [200, { hidden: 1 }],
  },
  {
    request: 'POST /ingest/v1/locations/{location_id}/fee_schedules/reconcile',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: '{"began_at_upload":1795348800001,"source_ids":[]}',
    answer: [409, ['code', 'errors', 'missing', 'request_id', 'visible']],
  },
  {
    request: 'POST /ingest/v1/locations/{location_id}/fee_schedules/cycles',
    headers: { 'content-type': 'application/json' },
    body: '{"read_at":"2026-11-20T12:00:00.000Z","complete":true}',
    answer: [200, { synced_at: '2026-11-20T12:00:00.000Z' }],
  },
] as const

test('an agent of the release before the protocol had a version is served as it was', async (t) => {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const { code } = await createEnrolmentCode(world.pool, world.secretKey, { organizationId })
  const known: Record<string, string> = { code }
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? assert.fail(name))

  for (const { request, headers, answer, ...rest } of recorded) {
    const [method = '', path = ''] = filled(request).split(' ')
    const body = 'body' in rest ? filled(rest.body) : undefined
    const isPacked = 'content-encoding' in headers
    const response = await world.request(path, {
      method,
      headers: {
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
        ...('agent_key' in known ? { authorization: `Bearer ${known.agent_key}` } : {}),
      },
      ...(body === undefined ? {} : { body: isPacked ? gzipSync(body) : body }),
    })

    const [status, expected] = answer
    assert.equal(response.status, status, `${request}: ${response.text}`)
    // Members may be added; those that the agent reads stay.
    if ('length' in expected) for (const name of expected) assert.ok(name in response.body, `${request}: ${name}`)
    else assert.partialDeepStrictEqual(response.body as object, expected, request)
    assert.equal(response.headers.get(ingestVersionHeader), String(ingestVersion))
    for (const name of ['agent_id', 'agent_key', 'organization_id']) {
      if (typeof response.body[name] === 'string') known[name] = response.body[name]
    }
    const [location] = (response.body.locations ?? []) as { location_id: string }[]
    if (location) known.location_id = location.location_id
  }
})
