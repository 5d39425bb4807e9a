import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signWebhook, verifyWebhook, WebhookVerificationError } from './webhook.ts'

// The test of the reference implementation: github.com/standard-webhooks/standard-webhooks, libraries/javascript.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const body = '{"test": 2432232314}'
const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
const headers = {
  'Webhook-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': signature,
}
const at = (seconds: number) => () => new Date((1_614_265_330 + seconds) * 1000)
const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('the published vector of Standard Webhooks verifies, as text and as bytes, with headers of any kind', () => {
  for (const given of [headers, new Headers(headers), { ...headers, 'webhook-signature': [signature] }])
    for (const sent of [body, Buffer.from(body)]) {
      const message = verifyWebhook({ secret, headers: given, body: sent, now: at(0) })
      assert.deepEqual(message, { id: headers['Webhook-Id'], test: 2432232314 })
    }
  assert.equal(signWebhook(secret, { id: headers['Webhook-Id'], body, now: at(0)() })['webhook-signature'], signature)
})

test('one of several signatures is enough, and one of several secrets', () => {
  const both = { ...headers, 'webhook-signature': `v1,AAAA v1a,BBBB ${signature}` }
  verifyWebhook({ secret, headers: both, body, now: at(0) })
  verifyWebhook({ secret: [other, secret], headers, body, now: at(0) })
})

test('a message that is old, from the future, changed, signed by another secret, or not signed is refused', () => {
  const refused: [string, Partial<Parameters<typeof verifyWebhook>[0]>, RegExp][] = [
    ['old', { now: at(301) }, /too old/],
    ['from the future', { now: at(-301) }, /future/],
    ['changed', { body: `${body} ` }, /No signature/],
    ['another id', { headers: { ...headers, 'Webhook-Id': 'msg_2' } }, /No signature/],
    ['another secret', { secret: other }, /No signature/],
    ['a short signature', { headers: { ...headers, 'webhook-signature': 'v1,g0hM' } }, /No signature/],
    [
      'another version',
      { headers: { ...headers, 'webhook-signature': signature.replace('v1', 'v2') } },
      /No signature/,
    ],
    ['no signature', { headers: { ...headers, 'webhook-signature': '' } }, /missing/],
    ['no time', { headers: { ...headers, 'webhook-timestamp': 'now' } }, /seconds/],
    ['an empty secret', { secret: '' }, /not one of a webhook/],
    ['no secret', { secret: [] }, /No signature/],
  ]
  for (const [what, changed, why] of refused)
    assert.throws(
      () => verifyWebhook({ secret, headers, body, now: at(0), ...changed }),
      (error) => error instanceof WebhookVerificationError && why.test(error.message),
      what,
    )
  verifyWebhook({ secret, headers, body, now: at(300) })
  const text = 'not JSON'
  assert.throws(
    () =>
      verifyWebhook({ secret, headers: signWebhook(secret, { id: 'msg_1', body: text, now: new Date() }), body: text }),
    /not JSON/,
  )
})
