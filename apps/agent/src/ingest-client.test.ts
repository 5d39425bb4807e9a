import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IngestProblem, ingestClient } from './ingest-client.ts'

function clientThatHears(answer: () => Response | Promise<Response>) {
  return ingestClient({
    serverUrl: 'https://bridgework.example.com',
    agentKey: 'bwa_secret',
    agentId: '7',
    organizationId: '42',
    fetch: async () => await answer(),
  })
}

const body = new Uint8Array()

test('a hostile answer reaches neither the terminal nor a path', async () => {
  const long = clientThatHears(() =>
    Response.json(
      { code: 'field_invalid', errors: `\u001b[2Jboo\r\nforged line ${'x'.repeat(9_999)}` },
      { status: 400 },
    ),
  )
  await assert.rejects(long.sendRecords('1', 'insurance_plans', 1, body), (error) => {
    assert.ok(error instanceof IngestProblem)
    assert.match(error.errors, /^ \[2Jboo {2}forged line x+$/)
    assert.equal(error.errors.length, 500)
    return true
  })
  const path = clientThatHears(() =>
    Response.json({ locations: [{ source_id: '1', location_id: '../../x', name: '' }] }),
  )
  await assert.rejects(path.sendLocations([], new Map()), IngestProblem)
})

test('the service is sent the datasets of the source, each with the attributes that it lacks', async () => {
  const sent: unknown[] = []
  const client = ingestClient({
    serverUrl: 'https://bridgework.example.com',
    agentKey: 'bwa_secret',
    agentId: '7',
    organizationId: '42',
    fetch: async (_, init) => {
      sent.push(JSON.parse(String(init?.body)))
      return Response.json({ locations: [] })
    },
  })
  await client.sendLocations(
    [],
    new Map([
      ['patients', ['country']],
      ['treatments', []],
    ]),
  )
  assert.deepEqual(sent, [
    {
      locations: [],
      complete: true,
      datasets: ['patients', 'treatments'],
      attributes_not_provided: { patients: ['country'], treatments: [] },
    },
  ])
})

test('an answer that is not the protocol’s is a problem, never a success', async () => {
  for (const answer of ['', 'null', '[]', '"x"', '{}', '<html>', '{"inserted":"1"}']) {
    await assert.rejects(
      clientThatHears(() => new Response(answer)).sendRecords('1', 'fee_schedules', 1, body),
      IngestProblem,
      answer,
    )
  }
})

test('each status and code has an outcome of its own', async () => {
  const kinds: [number, string, IngestProblem['kind']][] = [
    [401, 'agent_key_invalid', 'key_refused'],
    [403, 'agent_denied', 'denied'],
    [404, 'location_unknown', 'unknown'],
    [408, 'request_timeout', 'failing'],
    [409, 'idempotency_in_progress', 'in_progress'],
    [409, 'removal_held', 'removal_held'],
    [413, 'body_too_large', 'too_large'],
    [422, 'record_invalid', 'record_invalid'],
    [422, 'idempotency_key_reused', 'key_reused'],
    [422, 'field_invalid', 'unexpected'],
    [429, 'of_a_later_service', 'busy'],
    [500, 'internal', 'failing'],
    [500, 'of_a_later_service', 'failing'],
    [503, 'busy', 'busy'],
  ]
  for (const [status, code, kind] of kinds) {
    const client = clientThatHears(() => Response.json({ errors: 'e', code, request_id: 'r' }, { status }))
    await assert.rejects(client.identify(), (error) => error instanceof IngestProblem && error.kind === kind, code)
  }
})

test('a body that is too large for a proxy is made smaller, as one that is too large for the service', async () => {
  const proxy = clientThatHears(() => new Response('<html>413 Request Entity Too Large</html>', { status: 413 }))
  await assert.rejects(proxy.sendRecords('1', 'fee_schedules', 1, body), (error) => {
    assert.ok(error instanceof IngestProblem)
    assert.equal(error.kind, 'too_large')
    assert.match(error.errors, /Something other than Bridgework answered .* status 413/)
    return true
  })
})

test('the server’s host is named when it cannot be reached, and the key is not', async () => {
  const client = clientThatHears(() => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }) })
  })
  await assert.rejects(client.identify(), (error) => {
    assert.ok(error instanceof IngestProblem)
    assert.equal(error.errors, 'The name of the server bridgework.example.com is not found (ENOTFOUND).')
    return true
  })
})
