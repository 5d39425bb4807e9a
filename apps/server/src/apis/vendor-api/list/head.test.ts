import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames, vendorApiPath } from '@bridgework/contract'
import { aRecord, someWorld, type TestVendor, type TestWorld } from '../../../testing/test-world.ts'
import { holdInFlight } from '../testing/test-in-flight.ts'

async function headOf(world: TestWorld, vendor: TestVendor, path: string, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${await vendor.token()}`
  return world.request(vendorApiPath + path, { method: 'HEAD', headers: { authorization, ...headers } })
}

async function somePatients() {
  return { p1: aRecord('patients'), p2: aRecord('patients'), p3: aRecord('patients') }
}

test('HEAD is answered wherever GET is, with its status and without a body, allowed or refused', async (t) => {
  const world = await someWorld(t)
  const [location, foreign] = [await world.addLocation(), await world.addLocation()]
  await location.upload('patients', await somePatients())
  const vendor = await world.addVendor([location])
  const { body } = await vendor.get(`/locations/${location.id}/patients`)
  const ofLocation = (id: string) => [
    `/locations/${id}`,
    `/locations/${id}/sync_status`,
    ...datasetNames.flatMap((name) => [
      `/locations/${id}/${name}`,
      `/locations/${id}/${name}/digest`,
      `/locations/${id}/${name}/export`,
    ]),
    `/locations/${id}/patients/${body.data[0]?.id}`,
    `/locations/${id}/patients/999999999`,
    `/locations/${id}/patients?items=0`,
    `/locations/${id}/patients?q[fetch_modified_since]=2199-01-01T00:00:00Z`,
    `/locations/${id}/nothing`,
  ]
  const paths = ['/organizations', `/organizations/${location.organizationId}`, '/locations', '/openapi.json']

  for (const path of [...paths, ...ofLocation(location.id), ...ofLocation(foreign.id), ...ofLocation('7')]) {
    const [get, head] = [await vendor.get(path), await headOf(world, vendor, path)]
    assert.deepEqual([head.status, head.text], [get.status, ''], path)
    assert.ok(head.headers.get('x-request-id'))
  }
  const open = await world.request(`${vendorApiPath}/locations`, { method: 'HEAD' })
  assert.deepEqual([open.status, open.headers.get('www-authenticate')], [401, 'Bearer'])
  const refused = await world.request(`${vendorApiPath}/locations`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${await vendor.token()}` },
  })
  assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'])
})

test('a HEAD of a list or a digest reads nothing: no count, no disclosure, no slot', async (t) => {
  const world = await someWorld(t, { limits: { initial: 1, incremental: 1 } })
  const [location, other] = [await world.addLocation({ insurancePlans: 1 }), await world.addLocation()]
  await other.upload('patients', await somePatients())
  const vendor = await world.addVendor([location, other])
  const paths = ['', '?q[patient_id]=1', '/digest', '/export'].map(
    (rest) => `/locations/${other.id}/${rest.startsWith('?') ? 'appointments' : 'patients'}${rest}`,
  )

  const held = await holdInFlight(world, [() => vendor.get(`/locations/${location.id}/insurance_plans`)], 1)
  try {
    for (const path of paths) {
      const { status, headers } = await headOf(world, vendor, path, { 'accept-encoding': 'gzip' })
      assert.equal(status, 200, path)
      // Its length would tell how many records there are.
      for (const name of ['content-length', 'link', 'content-encoding', 'transfer-encoding'])
        assert.equal(headers.get(name), null, `${path} ${name}`)
    }
  } finally {
    await held.release()
  }
  const { rows } = await world.ownerPool.query('select from disclosure where location_id = $1', [other.id])
  assert.equal(rows.length, 0)
})

test('a HEAD of a single record tells that there is one, so it is on record', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  await location.upload('patients', await somePatients())
  const vendor = await world.addVendor([location])
  const { body } = await vendor.get(`/locations/${location.id}/patients`)
  await world.ownerPool.query('truncate disclosure')
  const id = body.data[1]?.id ?? ''

  const { status, headers } = await headOf(world, vendor, `/locations/${location.id}/patients/${id}`)
  assert.deepEqual([status, headers.get('content-length')], [200, null])
  const { rows } = await world.ownerPool.query('select records, counted, record_ids from disclosure')
  assert.deepEqual(rows, [{ records: 0, counted: 1, record_ids: [id] }])
})

test('an empty id is no id: the path is unknown, and a stranger does not learn even that', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const organization = `/organizations/`
  for (const path of [`/locations/${location.id}/patients/`, '/locations/', '/locations//patients', organization]) {
    const { status, body } = await vendor.get(path)
    assert.deepEqual([status, body.code], [404, 'route_unknown'], path)
    const stranger = await world.request(vendorApiPath + path)
    assert.deepEqual([stranger.status, stranger.body.code], [401, 'token_required'], path)
  }
})
