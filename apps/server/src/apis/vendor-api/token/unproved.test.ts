import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecret } from '../../../modules/credentials/secret.ts'
import { someWorld } from '../../../testing/test-world.ts'

test('the log says whose key pair a refused request named, and that nobody proved it; of an unknown one it says nothing', async (t) => {
  const world = await someWorld(t)
  const { clientId, clientSecret, companyId } = await world.addVendor()
  const ask = async (id: string, secret: string) => {
    const body = JSON.stringify({ client_id: id, client_secret: secret })
    const headers = { 'content-type': 'application/json' }
    const answer = await world.request('/api/v1/vendors/auth/token', { method: 'POST', headers, body })
    const event = world.events.findLast((each) => each.event === 'request.answered')
    return [answer.status, event?.companyId, event?.isUnproved]
  }
  assert.deepEqual(await ask(clientId, newSecret('bws')), [401, companyId, true])
  assert.deepEqual(await ask(newSecret('bwc'), newSecret('bws')), [401, undefined, undefined])
  assert.deepEqual(await ask(clientId, clientSecret), [200, companyId, undefined])
})
