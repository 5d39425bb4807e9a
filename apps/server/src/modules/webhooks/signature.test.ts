import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWebhookSecret, signedHeaders } from './signature.ts'

test('a message is signed as the reference implementation of Standard Webhooks signs it, and during a rotation by both secrets', () => {
  // The test of https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries/javascript.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: new Date(1_614_265_330_000),
    body: '{"test": 2432232314}',
  }
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  assert.deepEqual(signedHeaders([secret], message), {
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': signature,
  })
  const other = newWebhookSecret()
  assert.match(other, /^whsec_[A-Za-z\d+/]{43}=$/)
  const both = signedHeaders([other, secret], message)['webhook-signature']
  assert.equal(both, `${signedHeaders([other], message)['webhook-signature']} ${signature}`)
})
