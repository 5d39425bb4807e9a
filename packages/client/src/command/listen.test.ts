import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { aRecord } from '../../../../apps/server/src/testing/test-world.ts'
import { verifyWebhook } from '../webhook.ts'
import { begin, command, someCommand } from './testing/test-command.ts'

test('listen sends what changes to a server of one’s own, signed as a webhook, and again as it is then until it is received', async (t) => {
  const { vendor, location, env } = await someCommand(t)
  // What was not read since its grant has no watermark that could change.
  await vendor.get(`/locations/${location.id}/patients?items=1`)
  const { url, received, answerWith } = await someServer(t, 500)
  const listening = begin(['listen', '--forward', url], env)
  t.after(() => listening.interrupt())
  await listening.says(/Listening/)
  const secret = /whsec_\S+/.exec(listening.text())?.[0] ?? assert.fail()
  assert.equal(received.length, 0, 'what there was before is no message')

  await location.upload('patients', { one: aRecord('patients') })
  await listening.says(/ 500 {2}dataset \d+\/patients/)
  await location.upload('patients', { two: aRecord('patients') })
  answerWith(204)
  await listening.says(/ 204 {2}dataset \d+\/patients/)
  const messages = received.map(({ headers, body }) => verifyWebhook({ secret, headers, body }))
  const last = messages.at(-1) ?? assert.fail()
  assert.equal(last.data.id, `${location.id}/patients`)
  assert.equal(messages[0]?.sequence, last.sequence)
  assert.doesNotMatch(received.map(({ body }) => body).join(), /Ada|birth/)
  listening.interrupt()
  assert.equal(await listening.ended, 130)
})

test('listen says what is missing: an address, and a secret that is one', async (t) => {
  const { env } = await someCommand(t)
  for (const [argv, why] of [
    [['listen'], /--forward must be an address/],
    [['listen', '--forward', 'localhost:3000'], /--forward must be an address/],
    [['listen', '--forward', 'http://localhost:3000', '--secret', 'abc'], /begins with whsec_/],
  ] as const) {
    const { code, err } = await command([...argv], env)
    assert.notEqual(code, 0)
    assert.match(err, why)
  }
})

test('listen goes on where it was stopped: what was not received then is sent, with the same secret and higher numbers', async (t) => {
  const { vendor, location, env } = await someCommand(t)
  for (const dataset of ['patients', 'appointments']) await vendor.get(`/locations/${location.id}/${dataset}?items=1`)
  const { url, received, answerWith } = await someServer(t, 204)
  const argv = ['listen', '--forward', url]
  const first = begin(argv, env)
  t.after(() => first.interrupt())
  await first.says(/Listening\./)
  const secret = /whsec_\S+/.exec(first.text())?.[0] ?? assert.fail()
  await location.upload('patients', { one: aRecord('patients') })
  await first.says(/ 204 {2}dataset \d+\/patients/)
  const { code, err } = await command(argv, env)
  assert.equal(code, 2)
  assert.match(err, /Another listen uses/)
  answerWith(500)
  await location.upload('appointments', { one: aRecord('appointments') })
  await first.says(/ 500 {2}dataset \d+\/appointments/)
  first.interrupt()
  assert.equal(await first.ended, 130)
  const before = received.length

  answerWith(204)
  await location.upload('patients', { two: aRecord('patients') })
  const second = begin(argv, env)
  t.after(() => second.interrupt())
  for (const dataset of ['appointments', 'patients']) await second.says(new RegExp(` 204 {2}dataset \\d+/${dataset}`))
  assert.match(second.text(), /Listening from where the last run stopped/)
  second.interrupt()
  assert.equal(await second.ended, 130)
  const messages = received.map(({ headers, body }) => verifyWebhook({ secret, headers, body }))
  const [last, next] = [messages[before - 1], messages[before]]
  assert.ok(Number(next?.sequence) > Number(last?.sequence), 'sequences go on')

  const third = begin([...argv, '--anew'], env)
  t.after(() => third.interrupt())
  await third.says(/Listening\./)
  assert.ok(!third.text().includes(secret))
  // Ended while it waits for changes, and not while it connects: the service would wait for that connection.
  await location.upload('patients', { three: aRecord('patients') })
  await third.says(/ 204 {2}dataset \d+\/patients/)
  third.interrupt()
  await third.ended
})

/** A server that keeps what it receives, and answers with a status. */
async function someServer(t: TestContext, first: number) {
  const received: { headers: IncomingMessage['headers']; body: string }[] = []
  let status = first
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ headers: request.headers, body })
    response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const answerWith = (next: number) => {
    status = next
  }
  return { url, received, answerWith }
}
