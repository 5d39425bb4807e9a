import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { markRestored } from '../../apis/operator/installation/database-restored.ts'
import { eventually } from '../../apis/vendor-api/testing/test-answer.ts'
import { createPool } from '../../platform/database/pool.ts'
import { aRecord, someWorld, type TestWorld } from '../../testing/test-world.ts'
import { createLocation } from '../onboarding/upsert-locations.ts'
import { listAttempts } from './attempt.ts'
import { claimDeliveries } from './delivery.ts'
import { listEndpoints, pauseEndpoint, resumeEndpoint, rotateEndpointSecret } from './endpoint.ts'
import { createChangeFeed } from './feed.ts'
import { signedHeaders } from './signature.ts'
import {
  addEndpoint,
  makeDue,
  type Received,
  senderContext,
  someReceiver,
  startSender,
} from './testing/test-receiver.ts'

const soon = 15_000

/** A practice with a vendor whose endpoint is called, and what a sender needs. What was granted before is no message. */
async function someWebhook(t: TestContext, options: { timeoutMs?: number } = {}) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const receiver = await someReceiver(t)
  // The first read of a granted dataset is a change of its own.
  await vendor.get(`/locations/${location.id}/patients?items=1`)
  await settle(world)
  const { endpoint, secret } = await addEndpoint(world, vendor, receiver.url)
  const context = senderContext(world, options)
  let patients = 0
  /** A change of a dataset, and the id of its row. */
  const change = async (dataset: 'patients' | 'fee_schedules' | 'appointments' = 'patients') => {
    patients += 1
    const answer = await location.upload(dataset, { [`r${patients}`]: aRecord(dataset) })
    assert.equal(answer.status, 200, answer.text)
    return `${location.id}/${dataset}`
  }
  const attempts = () => listAttempts(world.pool, endpoint.id, { before: null, limit: 100 })
  const endpointNow = async () => (await listEndpoints(world.pool, vendor.companyId))[0] ?? assert.fail()
  const receives = (id: string, count: number) =>
    eventually(async () => receiver.of(id).length >= count, soon, `${count} of ${id}`)
  return { world, location, vendor, receiver, endpoint, secret, context, change, attempts, endpointNow, receives }
}

/** As if all that there is were from long ago. */
async function settle({ ownerPool }: TestWorld): Promise<void> {
  await ownerPool.query(
    `update dataset_state set first_stamp = first_stamp - 120000000, last_stamp = last_stamp - 120000000;
     update dataset_grant set granted_at = granted_at - interval '2 minutes';
     update access_grant set granted_at = granted_at - interval '2 minutes';
     update location set updated_at = updated_at - interval '2 minutes';
     update key_pair set created_at = created_at - interval '2 minutes';
     update agreement set published_at = published_at - interval '2 minutes';
     update agreement_acceptance set accepted_at = accepted_at - interval '2 minutes'`,
  )
}

const sequences = (received: readonly Received[]) => received.map(({ body }) => body.sequence)

test('a committed change is sent once: the row of /changes with a number, signed, and nothing of a patient', async (t) => {
  const { world, vendor, receiver, secret, context, change, receives, attempts } = await someWebhook(t)
  startSender(t, context)
  const id = await change()
  await receives(id, 1)
  const second = await change('fee_schedules')
  await receives(second, 1)
  const [first] = receiver.of(id)
  assert.ok(first)
  const { headers, text, body } = first
  const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000)
  assert.ok(Math.abs(timestamp.getTime() - Date.now()) < 60_000)
  const signed = signedHeaders([secret], { id: String(headers['webhook-id']), timestamp, body: text })
  assert.equal(headers['webhook-signature'], signed['webhook-signature'])
  assert.match(String(headers['webhook-id']), /^msg_[\da-f-]{36}$/)

  const changes = (await vendor.get('/changes?items=5000')).body as unknown as {
    data: Received['body']['data'][]
    meta: { epoch: string }
  }
  assert.deepEqual(
    body.data,
    changes.data.find((row) => row.type === 'dataset' && row.id === id),
  )
  assert.deepEqual([body.type, body.epoch], ['dataset', changes.meta.epoch])
  assert.doesNotMatch(text, /Ada|first_name|birth/)
  assert.deepEqual(sequences(receiver.received), [1, 2])
  assert.deepEqual(
    (await attempts()).map(({ status, rowId, sequence }) => [status, rowId, sequence]),
    [
      [204, second, '2'],
      [204, id, '1'],
    ],
  )
  // Looked at again and again meanwhile, with the overlap: what was sent is not sent again.
  const { rows } = await world.pool.query('select from webhook_delivery where is_pending')
  assert.equal(rows.length, 0)
})

test('a retry sends what is true then, under the same number; the same row keeps its id', async (t) => {
  const { world, receiver, context, change, receives, endpointNow } = await someWebhook(t)
  receiver.answer((response) => response.writeHead(500).end('not now'))
  startSender(t, context)
  const id = await change()
  await receives(id, 1)
  await eventually(async () => (await endpointNow()).failingSince !== null, soon, 'the failure is noted')
  await makeDue(world)
  await receives(id, 2)
  await change()
  const waits = async () =>
    (await world.pool.query('select from webhook_delivery where message_id is null')).rowCount === 1
  await eventually(waits, soon, 'the change is noted')
  receiver.answer((response) => response.writeHead(204).end())
  await makeDue(world)
  await receives(id, 3)
  const [first, second, third] = receiver.of(id)
  assert.ok(first && second && third)
  assert.equal(first.headers['webhook-id'], second.headers['webhook-id'])
  assert.notEqual(second.headers['webhook-id'], third.headers['webhook-id'])
  assert.deepEqual(sequences([first, second, third]), [1, 1, 1])
  const watermark = ({ body }: Received) => String(body.data.attributes.next_fetch_modified_since)
  assert.equal(watermark(first), watermark(second))
  assert.ok(watermark(third) > watermark(second))
  await eventually(async () => (await endpointNow()).failingSince === null, soon, 'a success ends the failure')
})

test('an endpoint that was paused for a week gets each row once, as it is now, and what it no longer may know not at all', async (t) => {
  const { world, location, vendor, receiver, endpoint, context, change, receives, endpointNow } = await someWebhook(t)
  await pauseEndpoint(world.pool, endpoint.id)
  startSender(t, context)
  const noted = async (count: number) =>
    eventually(async () => (await endpointNow()).pending >= count, soon, `${count} rows wait`)
  const id = await change()
  await noted(1)
  for (let times = 0; times < 3; times += 1) await change()
  const other = await change('fee_schedules')
  await noted(2)
  await world.revoke(vendor.companyId, location)
  await world.grant(vendor.companyId, location, ['patients'])
  await eventually(
    async () => (await world.pool.query(`select from webhook_delivery where type = 'grant'`)).rowCount === 7,
    soon,
    'the end of the grants is noted',
  )
  assert.equal(receiver.received.length, 0)
  await resumeEndpoint(world.pool, endpoint.id)
  await eventually(async () => (await endpointNow()).pending === 0, soon, 'all is sent')
  const rows = (type: string, rowId: string) => receiver.of(rowId).filter(({ body }) => body.type === type)
  assert.equal(rows('dataset', id).length, 1)
  assert.equal(rows('dataset', other).length, 0)
  const [ended] = rows('grant', other)
  assert.ok(ended?.body.data.attributes.ended_at)
  const numbers = sequences(receiver.received).toSorted((one, two) => one - two)
  assert.deepEqual(
    numbers,
    Array.from(numbers, (_, index) => index + 1),
    'no number is left out',
  )
  await receives(id, 1)
})

test('a process that dies between sending and noting it: the message is sent again with the same id, and nothing is lost', async (t) => {
  const { world, receiver, endpoint, context, change, receives, endpointNow } = await someWebhook(t)
  const feed = createChangeFeed({ pool: world.pool, datasets: ['patients'] })
  await feed.look()
  const id = await change()
  await feed.look()
  const [claimed] = await claimDeliveries(world.pool, endpoint.id, 10)
  assert.equal(claimed?.rowId, id)
  // The claim of a process that is gone ends after a minute.
  await world.ownerPool.query(`update webhook_delivery set claimed_until = now() - interval '1 second'`)
  startSender(t, context)
  await receives(id, 1)
  assert.equal(receiver.of(id)[0]?.headers['webhook-id'], `msg_${claimed.messageId}`)
  await eventually(async () => (await endpointNow()).pending === 0, soon, 'it is noted')
})

test('a process that dies while it notes changes loses none: the cursor moves when all is noted', async (t) => {
  const { world, context, change, receives } = await someWebhook(t)
  const pool = createPool(world.serverUrl, { max: 1, log: () => {}, applicationName: 'dies' })
  t.after(() => pool.end())
  const feed = createChangeFeed({ pool, datasets: ['patients'], sweepEveryMs: 0 })
  await feed.look()
  const id = await change()
  // Killed before it moves the cursor.
  await world.ownerPool.query(
    `create function fail() returns trigger language plpgsql as $$ begin raise 'killed'; end $$;
     create trigger fail before update on webhook_cursor execute function fail()`,
  )
  await assert.rejects(feed.look(), /killed/)
  await world.ownerPool.query('update webhook_delivery set is_pending = false, row_hash = $1', [Buffer.from('lost')])
  await world.ownerPool.query('drop trigger fail on webhook_cursor')
  startSender(t, context)
  await receives(id, 1)
})

test('two processes at once send each message once, and no row is lost', async (t) => {
  const { world, location, receiver, context, change, endpointNow } = await someWebhook(t)
  for (let number = 0; number < 2; number += 1) startSender(t, { ...context })
  const ids: string[] = []
  for (const dataset of ['patients', 'fee_schedules', 'appointments'] as const) ids.push(await change(dataset))
  const added = await createLocation(world.pool, location.organizationId, {
    ...{ sourceId: randomUUID(), name: 'Second', timeZone: null, officeHours: null },
  })
  assert.ok(added.id)
  await eventually(async () => ids.every((id) => receiver.of(id).length > 0), soon, 'all rows')
  await eventually(async () => (await endpointNow()).pending === 0, soon, 'none waits')
  const sent = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(sent).size, sent.length)
  for (const id of ids) assert.equal(receiver.of(id).length, 1)
})

test('after a restore everything is told again, with the new epoch', async (t) => {
  const { world, receiver, context, change, receives } = await someWebhook(t)
  startSender(t, context)
  const id = await change()
  await receives(id, 1)
  await markRestored(world.ownerPool)
  await receives(id, 2)
  const [before, after] = receiver.of(id)
  assert.notEqual(before?.body.epoch, after?.body.epoch)
})

test('during a rotation a message has a signature by each secret', async (t) => {
  const { world, receiver, endpoint, secret, context, change, receives } = await someWebhook(t)
  const next = await rotateEndpointSecret(world.pool, world.secretKey, endpoint.id)
  startSender(t, context)
  const id = await change()
  await receives(id, 1)
  const [first] = receiver.of(id)
  assert.ok(first)
  const timestamp = new Date(Number(first.headers['webhook-timestamp']) * 1000)
  const message = { id: String(first.headers['webhook-id']), timestamp, body: first.text }
  assert.equal(first.headers['webhook-signature'], signedHeaders([next, secret], message)['webhook-signature'])

  await world.ownerPool.query(`update webhook_endpoint set previous_until = now()`)
  const other = await change('fee_schedules')
  await receives(other, 1)
  assert.equal(String(receiver.of(other)[0]?.headers['webhook-signature']).split(' ').length, 1)
})

test('a company that is suspended is told nothing until it is resumed', async (t) => {
  const { world, vendor, receiver, context, change, receives, endpointNow } = await someWebhook(t)
  await world.ownerPool.query(`update company set state = 'suspended' where id = $1`, [vendor.companyId])
  startSender(t, context)
  const id = await change()
  await eventually(async () => (await endpointNow()).pending === 1, soon, 'it waits')
  assert.equal(receiver.received.length, 0)
  await world.ownerPool.query(`update company set state = 'active' where id = $1`, [vendor.companyId])
  await receives(id, 1)
})
