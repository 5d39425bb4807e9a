import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Webhook, WebhookAttempt } from '@bridgework/contract/portal'
import { senderContext, someReceiver, startSender } from '../../../modules/webhooks/testing/test-receiver.ts'
import { aRecord } from '../../../testing/test-world.ts'
import { eventually } from '../../vendor-api/testing/test-answer.ts'
import { actionsOf, read, someOwner } from '../testing/test-company.ts'

const soon = 15_000

test('a company adds, tests, pauses, resumes and removes a webhook; its secret is in the answer that makes it and nowhere else', async (t) => {
  const { world, owner, path } = await someOwner(t)
  const receiver = await someReceiver(t)
  const made = read<{ id: string; secret: string }>(
    await owner.post(`${path}/webhooks`, { url: receiver.url, types: ['key', 'dataset'] }),
  )
  assert.match(made.secret, /^whsec_/)
  const one = `${path}/webhooks/${made.id}`
  receiver.answer((response) => response.writeHead(500).end('<b>no</b>'))
  const tested = read<WebhookAttempt>(await owner.post(`${one}/test`))
  assert.partialDeepStrictEqual(tested, { is_received: false, status: 500, answer: '<b>no</b>', type: 'test' })
  assert.equal(receiver.received[0]?.body.sequence, 0)

  const listed = async () => read<{ data: Webhook[] }>(await owner.get(`${path}/webhooks`)).data[0] ?? assert.fail()
  assert.partialDeepStrictEqual(await listed(), { url: receiver.url, types: ['key', 'dataset'], state: 'active' })
  read(await owner.post(`${one}/pause`))
  assert.equal((await listed()).stopped_because, 'person')
  read(await owner.post(`${one}/resume`))
  const next = read<{ secret: string }>(await owner.post(`${one}/secret`))
  assert.notEqual(next.secret, made.secret)
  assert.ok((await listed()).previous_secret_until)
  read(await owner.patch(one, { types: ['grant'] }))
  assert.deepEqual((await listed()).types, ['grant'])

  for (const again of [`${path}/webhooks`, `${one}/attempts`, `${path}/events`])
    assert.ok(!(await owner.get(again)).text.includes('whsec_'), again)
  const { rows } = await world.pool.query<{ row: string }>('select row::text as row from webhook_endpoint as row')
  assert.ok(!rows[0]?.row.includes('whsec_'))
  assert.ok(!JSON.stringify(world.events).includes('whsec_'))
  read(await owner.delete(one))
  assert.deepEqual(
    (await actionsOf(owner, path)).filter(([action]) => action === 'webhook.change').map(([, what]) => what),
    [
      `Removed the webhook “${receiver.url}”`,
      `Set the types of the webhook “${receiver.url}” to grant`,
      `Gave the webhook “${receiver.url}” a new secret`,
      `Resumed the webhook “${receiver.url}”`,
      `Paused the webhook “${receiver.url}”`,
      `Sent a test to the webhook “${receiver.url}”`,
      `Added the webhook “${receiver.url}” for key and dataset`,
    ],
  )
  assert.deepEqual((await owner.get(`${one}/attempts`)).body.code, 'webhook_unknown')
})

test('a message is sent again when a person asks for it, and attempts come in pages', async (t) => {
  const { world, vendor, owner, path } = await someOwner(t)
  const receiver = await someReceiver(t)
  const location = await world.addLocation()
  await world.grant(vendor.companyId, location)
  const { id } = read<{ id: string }>(await owner.post(`${path}/webhooks`, { url: receiver.url, types: ['dataset'] }))
  startSender(t, senderContext(world))
  await location.upload('patients', { one: aRecord('patients') })
  const row = `${location.id}/patients`
  await eventually(async () => receiver.of(row).length === 1, soon, 'the message')
  const attempts = async (query = '') =>
    read<{ data: WebhookAttempt[]; next_before: string | null }>(
      await owner.get(`${path}/webhooks/${id}/attempts${query}`),
    )
  const find = async () => (await attempts()).data.find((each) => each.row_id === row)
  await eventually(async () => (await find()) !== undefined, soon, 'the attempt is listed')
  const attempt = (await find()) ?? assert.fail()
  assert.partialDeepStrictEqual(attempt, { is_received: true, status: 204, answer: '' })
  read(await owner.post(`${path}/webhooks/${id}/attempts/${attempt.id}/resend`))
  await eventually(async () => receiver.of(row).length === 2, soon, 'the message once more')
  await world.ownerPool.query(
    `insert into webhook_attempt (endpoint_id, message_id, type, row_id, attempted_at, duration_ms)
     select $1, gen_random_uuid(), 'test', 'test', now(), 1 from generate_series(1, 30)`,
    [id],
  )
  const first = await attempts()
  assert.equal(first.data.length, 25)
  const rest = await attempts(`?before=${first.next_before}`)
  assert.ok(rest.data.every((each) => BigInt(each.id) < BigInt(first.next_before ?? 0)))
})

test('bad addresses, unknown types, a second webhook of one address and an eleventh are refused', async (t) => {
  const { owner, path } = await someOwner(t)
  const add = (url: string, types = ['key']) => owner.post(`${path}/webhooks`, { url, types })
  for (const url of [
    '',
    'ftp://example.com',
    'https://user:password@example.com',
    'https://example.com/#part',
    'example',
  ])
    assert.equal((await add(url)).body.code, 'field_invalid', url)
  assert.equal((await add('https://example.com', [])).status, 422)
  assert.equal((await add('https://example.com', ['patients'])).status, 422)
  read(await add('https://example.com/0'))
  assert.equal((await add('https://example.com/0')).body.code, 'webhook_exists')
  for (let number = 1; number < 10; number += 1) read(await add(`https://example.com/${number}`))
  assert.equal((await add('https://example.com/10')).body.code, 'webhooks_exceeded')
})

test('nobody reads, tests or removes the webhook of another company', async (t) => {
  const { world, owner, path } = await someOwner(t)
  const { id } = read<{ id: string }>(
    await owner.post(`${path}/webhooks`, { url: 'https://example.com/', types: ['key'] }),
  )
  const other = await world.addVendor()
  const stranger = await world.signInAs({ companyId: other.companyId }, 'owner')
  const strange = `/companies/${other.companyId}/webhooks/${id}`
  for (const answer of [
    await stranger.get(`${strange}/attempts`),
    await stranger.post(`${strange}/test`),
    await stranger.post(`${strange}/secret`),
    await stranger.delete(strange),
  ])
    assert.equal(answer.body.code, 'webhook_unknown')
  assert.equal((await stranger.get(`${path}/webhooks`)).status, 404)
})
