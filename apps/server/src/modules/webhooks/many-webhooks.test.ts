import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames } from '@bridgework/contract'
import { createOutgoing } from '../../platform/outgoing/outgoing.ts'
import { aRecord, type TestLocation, type TestVendor, type TestWorld } from '../../testing/test-world.ts'
import { someNotices } from '../notices/testing/test-notices.ts'
import { sendMessage } from './attempt.ts'
import { type Endpoint, listEndpoints, signedEndpoint } from './endpoint.ts'
import { addEndpoint, senderContext, someReceiver, startSender } from './testing/test-receiver.ts'

/** The soak sets it to 10,000: as many rows are to be told, one for each dataset of each location to each endpoint. */
const messages = Number(process.env.BRIDGEWORK_TEST_WEBHOOKS ?? 60)

/** What a vendor's server does with a message, `minutes` after the first one. */
const behaviours: Record<string, (response: ServerResponse, minutes: number) => unknown> = {
  takes: (response) => response.writeHead(204).end(),
  'fails for an hour': (response, minutes) => response.writeHead(minutes < 60 ? 500 : 204).end(),
  'asks to wait': (response, minutes) =>
    minutes < 60 ? response.writeHead(503, { 'retry-after': '1800' }).end() : response.writeHead(204).end(),
  fails: (response) => response.writeHead(500).end('x'.repeat(2 ** 20)),
  hangs: () => {},
  trickles: (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 50)
    response.on('close', () => clearInterval(timer))
  },
  'ends the connection': (response) => response.socket?.destroy(),
  'redirects inside': (response) => response.writeHead(307, { location: redirected.url }).end(),
  'is gone': (response) => response.writeHead(410).end(),
}
const names = Object.keys(behaviours)
const recovering = ['takes', 'fails for an hour', 'asks to wait']
const redirected = { url: '' }

test('H08: after days of failures each endpoint has what is true now, or is stopped with a notice to its company', async (t) => {
  const world = await someNotices(t)
  const vendorCount = Math.ceil(messages / 1_000)
  const locationCount = Math.max(1, Math.round(messages / (vendorCount * names.length * datasetNames.length)))
  const locations: TestLocation[] = []
  for (let count = 0; count < locationCount; count += 1) locations.push(await world.addLocation())
  const [receiver, inside] = [await someReceiver(t), await someReceiver(t)]
  redirected.url = inside.url
  const minutes = { passed: 0 }
  receiver.answer((response) => behaviours[behaviourOf(response)]?.(response, minutes.passed))

  const vendors: { vendor: TestVendor; noticesNow: () => ReturnType<typeof world.noticesOf> }[] = []
  for (let count = 0; count < vendorCount; count += 1) {
    const vendor = await world.addVendor(locations)
    const admin = await world.addReader({ side: 'company', id: vendor.companyId }, 'admin')
    vendors.push({ vendor, noticesNow: () => world.noticesOf(admin.memberId) })
    for (const name of names) await addEndpoint(world, vendor, `${receiver.url}?${count}/${encodeURIComponent(name)}`)
  }
  const begunAt = performance.now()
  const upload = async (number: number) => {
    for (const location of locations)
      for (const dataset of datasetNames)
        assert.equal((await location.upload(dataset, { [`r${number}`]: aRecord(dataset) })).status, 200)
  }
  startSender(t, senderContext(world, { timeoutMs: 300 }))
  await upload(0)

  // A quarter of an hour at a time until the hour is over; then a day at a time, until the others are given up.
  const isStopped = ({ stoppedBecause }: Endpoint) => stoppedBecause !== null
  for (let round = 1; ; round += 1) {
    await untilAttempted(world)
    const states = (await Promise.all(vendors.map(({ vendor }) => listEndpoints(world.pool, vendor.companyId)))).flat()
    if (round === 1 || round === 3 || round === 5) await upload(round)
    if (round > 7 && states.every((state) => isStopped(state) || state.pending === 0)) break
    assert.ok(round < 40, JSON.stringify(states.filter((state) => !isStopped(state) && state.pending > 0)))
    const step = round <= 7 ? 15 : 24 * 60
    await pass(world, step)
    minutes.passed += step
  }
  t.diagnostic(
    `${vendorCount * names.length} endpoints, ${receiver.received.length} attempts, ${receiver.state.connections} connections, ${Math.round((performance.now() - begunAt) / 1000)} s`,
  )

  assert.equal(inside.state.connections, 0, 'a redirect is not followed')
  await world.round()
  let newest = 0
  for (const [index, { vendor, noticesNow }] of vendors.entries()) {
    const endpoints = await listEndpoints(world.pool, vendor.companyId)
    const notices = await noticesNow()
    const { data } = (await vendor.get('/changes?items=5000')).body as unknown as { data: Row[] }
    const expected = data.filter(({ type }) => type === 'dataset')
    assert.equal(expected.length, locations.length * datasetNames.length)
    for (const name of names) {
      const query = `?${index}/${encodeURIComponent(name)}`
      const { stoppedBecause } = endpoints.find(({ url }) => url.endsWith(query)) ?? assert.fail(query)
      if (recovering.includes(name)) {
        assert.equal(stoppedBecause, null, name)
        const told = new Map(
          receiver.received.flatMap(({ body, path }) => (path.endsWith(query) ? [[body.data.id, body.data]] : [])),
        )
        for (const row of expected) {
          const watermark = told.get(row.id)?.attributes.next_fetch_modified_since
          assert.equal(watermark, row.attributes.next_fetch_modified_since, `${name}: ${row.id}`)
          newest += 1
        }
      } else {
        assert.equal(stoppedBecause, name === 'is gone' ? 'gone' : 'failing', name)
        const isTold = notices.some(({ event, body }) => event === 'webhook_stopped' && body.includes(query))
        assert.ok(isTold, `${name}: ${notices.map(({ event, body }) => `${event} ${body}`).join('\n')}`)
      }
    }
  }
  assert.equal(newest, vendors.length * recovering.length * locations.length * datasetNames.length)
})

type Row = { id: string; type: string; attributes: Record<string, unknown> }

function behaviourOf({ req }: ServerResponse): string {
  return decodeURIComponent(req.url?.split('/').at(-1) ?? '')
}

/** Until nothing is due and no attempt is under way. */
async function untilAttempted({ pool }: TestWorld): Promise<void> {
  const due = `select from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
     where d.is_pending and e.stopped_because is null
       and (d.claimed_until > clock_timestamp() or (e.due_at <= clock_timestamp() and d.due_at <= clock_timestamp()))
     limit 1`
  const deadline = AbortSignal.timeout(600_000)
  // Changes are noted every 25 ms; what was noted is attempted at once.
  for (let quiet = 0; quiet < 4; ) {
    quiet = (await pool.query(due)).rowCount === 0 ? quiet + 1 : 0
    await sleep(50, undefined, { signal: deadline })
  }
}

/** Lets so many minutes pass for all endpoints: what they wait for is so much nearer. */
async function pass({ ownerPool }: TestWorld, minutes: number): Promise<void> {
  await ownerPool.query(
    `update webhook_endpoint
        set due_at = due_at - $1 * interval '1 minute', failing_since = failing_since - $1 * interval '1 minute'`,
    [minutes],
  )
  await ownerPool.query(`update webhook_delivery set due_at = due_at - $1 * interval '1 minute'`, [minutes])
}

const insideAddresses = [
  ...['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1'],
  ...['192.0.0.8', '192.88.99.1', '240.0.0.1', '127.255.255.254'],
  ...['198.18.0.1', '192.0.2.1', '203.0.113.9', '255.255.255.255', '[::1]', '[::]', '[fe80::1]', '[fc00::1]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[2001:db8::1]', '[ff02::1]'],
]
const spellings = ['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '127.0.1', '0x7f000001', '１２７.0.0.1', '⑫7.0.0.1']
const localNames = ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'metadata.localhost.']
/** Names whose DNS entries lead inside. */
const namesOfInside = insideAddresses.map((_, index) => `inside-${index}.example`)

test('H08: a hundred hostile addresses cost no connection', async (t) => {
  const world = await someNotices(t)
  const vendor = await world.addVendor()
  const receiver = await someReceiver(t)
  const { endpoint } = await addEndpoint(world, vendor, receiver.url)
  const signed = await signedEndpoint(world.pool, endpoint.id)
  const hosts = [...insideAddresses, ...spellings, ...localNames]
  const addresses = [
    ...hosts.flatMap((host) => [`https://${host}/hook`, `https://${host}:8443/`]),
    ...namesOfInside.map((name) => `https://${name}/hook`),
    ...['http://vendor.example/', 'https://user:secret@vendor.example/', 'ftp://vendor.example/', 'file:///etc/passwd'],
  ]
  assert.ok(addresses.length >= 100, `${addresses.length}`)
  let sockets = 0
  const count = () => {
    sockets += 1
  }
  subscribe('net.client.socket', count)
  t.after(() => unsubscribe('net.client.socket', count))
  const send = async (url: string, allowPrivate: boolean) => {
    const resolve = async (name: string) => {
      const address = insideAddresses[namesOfInside.indexOf(name)]?.replace(/^\[|\]$/g, '') ?? '127.0.0.1'
      return [{ address, family: address.includes(':') ? 6 : 4 }]
    }
    const { fetch } = createOutgoing({ allowPrivate, resolve })
    const message = { id: 'msg_1', body: '{}' }
    return await sendMessage(
      { access: { fetch, allowPrivate }, secretKey: world.secretKey },
      { ...signed, url },
      message,
      new Date(),
    )
  }
  for (const url of addresses) assert.ok((await send(url, false)).failure, url)
  assert.equal(sockets, 0)
  assert.equal((await send(receiver.url, true)).status, 204)
  assert.equal(sockets, 1, 'a connection would have been counted')
})
