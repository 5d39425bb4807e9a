import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { aRecord } from '../../../../apps/server/src/testing/test-world.ts'
import { verifyWebhook } from '../webhook.ts'
import { begin, command, someCommand } from './testing/test-command.ts'

test('listen sends what changes to a server of one’s own, signed as a webhook, and again as it is then until it is received', async (t) => {
  const { vendor, location, env } = await someCommand(t)
  // What was not read since its grant has no watermark that could change.
  await vendor.get(`/locations/${location.id}/patients?items=1`)
  const received: { headers: IncomingMessage['headers']; body: string }[] = []
  let status = 500
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
  const listening = begin(['listen', '--forward', url], env)
  t.after(() => listening.interrupt())
  await listening.says(/Listening/)
  const secret = /whsec_\S+/.exec(listening.text())?.[0] ?? assert.fail()
  assert.equal(received.length, 0, 'what there was before is no message')

  await location.upload('patients', { one: aRecord('patients') })
  await listening.says(/ 500 {2}dataset \d+\/patients/)
  await location.upload('patients', { two: aRecord('patients') })
  status = 204
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
