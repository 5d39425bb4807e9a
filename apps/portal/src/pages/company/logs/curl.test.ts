import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canSendAgain, curlOf } from './curl.ts'

const base = 'https://bridgework.example/api/v1/vendors'
const list = { method: 'GET', route: '/locations/:location_id/patients', location_id: '7', client_id: 'bwc_1' }

test('a logged request is a command with places for what the log does not keep', () => {
  assert.equal(
    curlOf({ ...list, parameter: 'q[patient_id]' }, base),
    `printf 'Authorization: Bearer %s' "$token" |
  curl -i -H @- '${base}/locations/7/patients?q%5Bpatient_id%5D=<value>'`,
  )
  const record = { ...list, method: 'HEAD', route: '/locations/:location_id/patients/:id', location_id: null }
  assert.match(
    curlOf({ ...record, parameter: null }, base) ?? '',
    /curl -I -H @- '\S+\/locations\/<location id>\/patients\/<id>'$/,
  )
  const token = { ...list, method: 'POST', route: '/auth/token', location_id: null, parameter: null }
  assert.match(curlOf(token, base) ?? '', /'bwc_1' "\$client_secret" \|\n {2}curl -i '\S+\/auth\/token'/)
  assert.equal(curlOf({ ...list, route: '(unknown)', parameter: null }, base), null)
})

test('only a read of which the log has all can be sent again', () => {
  assert.ok(canSendAgain(list))
  for (const route of [
    '/locations/:location_id/patients/:id',
    '/locations/:location_id/patients/export',
    '(unknown)',
  ]) {
    assert.ok(!canSendAgain({ method: 'GET', route }), route)
  }
  assert.ok(!canSendAgain({ ...list, method: 'HEAD' }))
})
