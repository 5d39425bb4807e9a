import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, someTarget } from './sync/testing/test-mirror.ts'
import { all, aRecord, clientOf, someClient } from './testing/test-client.ts'
import { startProxy } from './testing/test-proxy.ts'

test('an option that is misspelt is refused before anything is asked: a filter that is ignored is a full sync', async (t) => {
  const { client, location, events } = await someClient(t)
  const { id: locationId } = location
  // As JavaScript, or a cast, may call it.
  const { patients, insurancePlans, locations, organizations } = client as unknown as Record<
    string,
    Record<string, (options: object) => unknown>
  >

  const misspelt =
    /Unknown option "modified_since" of patients\.(list|first|bytes)\. Did you mean "modifiedSince"\? Options: locationId, modifiedSince, /
  for (const method of ['list', 'first', 'bytes'])
    await assert.rejects(async () => patients?.[method]?.({ locationId, modified_since: '2026-01-31' }), misspelt)
  assert.throws(
    () => insurancePlans?.list?.({ locationId, patientId: '1' }),
    /Unknown option "patientId" of insurancePlans\.list\. Options: /,
  )
  assert.throws(() => locations?.list?.({ organization_id: '1' }), /Did you mean "organizationId"\?/)
  assert.throws(() => organizations?.list?.({ page: 2 }), /Unknown option "page" of organizations\.list/)
  const store = await openStore('ndjson', await someTarget(t, 'ndjson'))
  const { sync, verify } = client as unknown as Record<'sync' | 'verify', (options: object) => Promise<unknown>>
  await assert.rejects(async () => sync.call(client, { store, dataset: ['patients'] }), /Did you mean "datasets"\?/)
  await assert.rejects(async () => verify.call(client, { store, location: ['1'] }), /Did you mean "locations"\?/)
  await store.close()
  assert.deepEqual(events, [])
  assert.deepEqual(await all(client.patients.list({ locationId })), [])
})

test('when the last caller gives up, the requests for a token end within 0.1 s, and another caller’s go on', async (t) => {
  const { world, vendor, location } = await someClient(t)
  let isDown = true
  let asked = 0
  const proxy = await startProxy(t, world.url, () => {
    asked += 1
    return isDown ? '503' : 'pass'
  })
  const client = clientOf(world, vendor, { baseUrl: proxy.url, retry: { attempts: 1000, delayMaxMs: 10 } })
  const [one, other] = [new AbortController(), new AbortController()]
  const calls = [one, other].map(({ signal }) => client.patients.first({ locationId: location.id, signal }))
  const [first, second] = calls.map((call) => call.then(String, ({ message }) => message))
  while (asked < 3) await sleep(5)

  one.abort(new Error('enough'))
  assert.equal(await first, 'enough')
  const askedThen = asked
  await sleep(100)
  assert.ok(asked > askedThen, 'the other still waits for its token')
  other.abort(new Error('enough'))
  assert.equal(await second, 'enough')
  await sleep(100)
  const askedLast = asked
  await sleep(300)
  assert.equal(asked, askedLast, 'no call waits for a token any more')

  isDown = false
  assert.equal(await client.patients.first({ locationId: location.id }), null)
})

test('an answer that is not Bridgework’s ends a call at once, and says what may have answered', async (t) => {
  const { world, vendor } = await someClient(t)
  for (const [status, type, body] of [
    [200, 'text/html', '<html>Please sign in to the guest network</html>'],
    [200, 'text/plain', 'OK'],
    [500, 'text/html', '<html>Some other server</html>'],
    [200, 'application/json', '{"status":"ok"}'],
  ] as const) {
    const { baseUrl, asked } = await someServer(t, status, type, body)
    const refusal = { code: 'answer_invalid', status, message: /is not from Bridgework|has no token/ }
    await assert.rejects(all(clientOf(world, vendor, { baseUrl }).locations.list()), refusal)
    await assert.rejects(all(clientOf(world, vendor, { baseUrl }).locations.list()), { message: /base URL/ })
    assert.equal(asked(), 2, `${status} ${type}: once for each call`)
  }
})

test('a network that answers 403 or 404 itself has revoked nothing', async (t) => {
  const { world, vendor, location } = await someClient(t, { insurancePlans: 1 })
  const portal: typeof fetch = (input, init) =>
    String(input).includes('/patients')
      ? Promise.resolve(new Response('<html>Blocked</html>', { status: 403, headers: { 'content-type': 'text/html' } }))
      : fetch(input, init)
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
  await clientOf(world, vendor).sync({ store })
  await location.upload('patients', { p1: aRecord('patients') })

  const { revoked, failed, current } = await clientOf(world, vendor, { fetch: portal }).sync({ store })
  assert.deepEqual([revoked, failed.map(({ dataset }) => dataset), current], [[], ['patients'], 6])
  await store.close()
})

test('a record that was created during a sync, or after it, is newer and not missing', async (t) => {
  const { world, vendor, location } = await someClient(t)
  await location.upload('patients', { p1: aRecord('patients'), p2: aRecord('patients') })
  const store = await openStore('sqlite', await someTarget(t, 'sqlite'))
  // The export has been made, and is still on its way, when the practice adds a patient.
  const slow: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!String(input).includes('/patients/export')) return response
    const answer = new Response(await response.arrayBuffer(), response)
    await location.upload('patients', { p3: aRecord('patients') })
    return answer
  }
  await clientOf(world, vendor, { fetch: slow }).sync({ store, datasets: ['patients'] })
  await location.upload('patients', { p4: aRecord('patients'), p2: aRecord('patients', { first_name: 'Later' }) })

  const [found] = await clientOf(world, vendor).verify({ store, datasets: ['patients'] })

  const { missing, stray, wrong, newer } = found ?? {}
  assert.deepEqual({ missing, stray, wrong, newer }, { missing: 0, stray: 0, wrong: 0, newer: 3 })
  await store.close()
})

/** A server that answers everything in the same way. */
async function someServer(t: TestContext, status: number, type: string, body: string) {
  let asked = 0
  const server = createServer((_, response) => {
    asked += 1
    response.writeHead(status, { 'content-type': type }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
}
