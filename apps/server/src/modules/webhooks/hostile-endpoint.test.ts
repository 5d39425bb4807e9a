import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../apis/vendor-api/testing/test-answer.ts'
import { aRecord, someWorld } from '../../testing/test-world.ts'
import { createWebhookAccess, failingDaysMax, listAttempts, sendMessage } from './attempt.ts'
import { listEndpoints, signedEndpoint } from './endpoint.ts'
import { sendTest } from './sender.ts'
import { addEndpoint, makeDue, senderContext, someReceiver, startSender } from './testing/test-receiver.ts'

const soon = 15_000

async function someHostile(t: TestContext, options: { timeoutMs?: number } = {}) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const receiver = await someReceiver(t)
  const { endpoint } = await addEndpoint(world, vendor, receiver.url, ['dataset'])
  const context = senderContext(world, options)
  const attempts = () => listAttempts(world.pool, endpoint.id, { before: null, limit: 100 })
  const endpointNow = async () => (await listEndpoints(world.pool, vendor.companyId))[0] ?? assert.fail()
  return { world, location, vendor, receiver, endpoint, context, attempts, endpointNow }
}

test('an endpoint that hangs, trickles, redirects, sends a megabyte, or ends the connection is a failure in words, of bounded cost', async (t) => {
  const { receiver, endpoint, context } = await someHostile(t, { timeoutMs: 400 })
  let redirected = 0
  const inside = createServer((_, response) => {
    redirected += 1
    response.end()
  })
  inside.listen(0, '127.0.0.1')
  t.after(() => void inside.close())
  const attempt = () => sendTest(context, endpoint.id)

  receiver.answer(() => {})
  const hung = await attempt()
  assert.deepEqual([hung.status, hung.failure], [null, 'no answer within 15 seconds.'])
  receiver.answer((response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(timer))
  })
  assert.equal((await attempt()).status, null, 'an answer must end')
  receiver.answer((response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${(inside.address() as AddressInfo).port}/` }).end(),
  )
  assert.equal((await attempt()).status, 307)
  assert.equal(redirected, 0)
  receiver.answer((response) => response.writeHead(500).end('x\0'.repeat(2 ** 19)))
  const large = await attempt()
  assert.deepEqual([large.status, large.answer?.length], [500, 1024])
  receiver.answer((response) => response.socket?.destroy())
  assert.match((await attempt()).failure ?? '', /^the (connection failed|answer is not one of a website)/)
  receiver.answer((response) => response.writeHead(200).end('<script>alert(1)</script>'))
  assert.deepEqual((await attempt()).answer, '<script>alert(1)</script>')
})

test('addresses inside the operator’s network are refused without a connection', async (t) => {
  const { world, receiver, endpoint } = await someHostile(t)
  const access = createWebhookAccess({ allowPrivate: false })
  const signed = await signedEndpoint(world.pool, endpoint.id)
  for (const url of [
    receiver.url,
    receiver.url.replace('http:', 'https:'),
    'https://localhost/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:127.0.0.1]/',
  ]) {
    const outcome = await sendMessage(
      { access, secretKey: world.secretKey },
      { ...signed, url },
      { id: 'msg_1', body: '{}' },
      new Date(),
    )
    assert.equal(outcome.failure, 'it is not at a public address of the internet.', url)
  }
  assert.equal(receiver.state.connections, 0)
})

test('Retry-After is waited for, failures are tried at growing intervals, 410 ends the endpoint, and five days of failures too', async (t) => {
  const { world, location, receiver, context, attempts, endpointNow } = await someHostile(t)
  const dueIn = async () =>
    Number(
      (await world.pool.query('select extract(epoch from due_at - clock_timestamp()) as seconds from webhook_endpoint'))
        .rows[0]?.seconds,
    )
  const failed = async (count: number) => {
    await makeDue(world)
    await eventually(async () => (await attempts()).length >= count, soon, `${count} attempts`)
  }
  receiver.answer((response) => response.writeHead(503, { 'retry-after': '600' }).end())
  startSender(t, context)
  await location.upload('patients', { one: aRecord('patients') })
  await eventually(async () => (await attempts()).length === 1, soon, 'an attempt')
  assert.ok((await dueIn()) > 500)
  receiver.answer((response) => response.writeHead(500).end())
  await failed(2)
  await failed(3)
  await eventually(async () => (await dueIn()) > 5, soon, 'a longer wait')
  assert.ok((await dueIn()) < 60)
  await world.ownerPool.query(
    `update webhook_endpoint set failing_since = now() - interval '${failingDaysMax} days 1 second'`,
  )
  await failed(4)
  await eventually(async () => (await endpointNow()).stoppedBecause === 'failing', soon, 'it is stopped')
  assert.equal((await endpointNow()).pending > 0, true, 'what was not received waits')

  await world.ownerPool.query(
    `update webhook_endpoint set stopped_because = null, stopped_at = null, failing_since = null`,
  )
  receiver.answer((response) => response.writeHead(410).end())
  await failed(5)
  await eventually(async () => (await endpointNow()).stoppedBecause === 'gone', soon, 'it is gone')
})

test('twenty endpoints that hang keep a quick one of another vendor waiting for no message', async (t) => {
  const { world, location, receiver, context } = await someHostile(t, { timeoutMs: 3_000 })
  const hanging = await someReceiver(t)
  const [underWay, most] = [new Map<string, number>(), { count: 0 }]
  hanging.answer((response) => {
    const url = response.req.url ?? ''
    const count = (underWay.get(url) ?? 0) + 1
    underWay.set(url, count)
    most.count = Math.max(most.count, count)
    response.on('close', () => underWay.set(url, (underWay.get(url) ?? 1) - 1))
  })
  for (let count = 0; count < 2; count += 1) {
    const other = await world.addVendor([location])
    for (let number = 0; number < 10; number += 1) await addEndpoint(world, other, `${hanging.url}?${count}-${number}`)
  }
  startSender(t, context)
  await location.upload('patients', { one: aRecord('patients') })
  await eventually(async () => receiver.of(`${location.id}/patients`).length === 1, soon, 'the first message')
  const begun = performance.now()
  await location.upload('patients', { two: aRecord('patients') })
  await eventually(async () => receiver.of(`${location.id}/patients`).length === 2, soon, 'the second message')
  t.diagnostic(`${Math.round(performance.now() - begun)} ms`)
  assert.equal(most.count, 1, 'one attempt at a time for each that hangs')
})
