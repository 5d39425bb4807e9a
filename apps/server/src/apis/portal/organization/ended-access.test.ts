import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndedAccess } from '@bridgework/contract/portal'
import { somePortal } from '../testing/test-portal.ts'

test('after a revocation the vendor sees what ended and when, until it is granted again, and neither who did it nor what it never had', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const { organizationId } = location
  const second = await world.addLocation({ organizationId })
  await world.pool.query(`update location set name = 'Elm Street' where id = $1`, [second.id])
  const { companyId } = await world.addVendor()
  const practice = await world.signInAs({ organizationId }, 'owner')
  const vendor = await world.signInAs({ companyId }, 'member')
  const path = `/organizations/${organizationId}/vendors/${companyId}`
  const change = async (locations: object[], all_locations: string[] = []) => {
    const { access_version } = (await practice.get(path)).body
    const answer = await practice.put(`${path}/access`, { access_version, all_locations, locations })
    assert.equal(answer.status, 200, answer.text)
  }
  const ended = async () => {
    const answer = await vendor.get(`/companies/${companyId}/ended_access`)
    assert.equal(answer.status, 200, answer.text)
    assert.doesNotMatch(answer.text, /Person|@example/)
    return answer.body.data as unknown as EndedAccess[]
  }
  const inWords = async () =>
    (await ended()).map(({ organization_name, datasets }) => [
      organization_name,
      ...datasets.map(
        (each) =>
          `${each.notes_alone ? 'notes of ' : ''}${each.dataset} at ${each.location_names?.join(', ') ?? 'all'}`,
      ),
    ])
  const { rows } = await world.pool.query('select name from organization where id = $1', [organizationId])
  const name = rows[0].name

  const at = (id: string, datasets: string[], notes: string[] = []) => ({ id, datasets, notes })
  await change([at(location.id, ['patients', 'treatments'], ['treatments']), at(second.id, ['patients'])])
  assert.deepEqual(await ended(), [])
  const before = Date.now()
  await change([at(location.id, ['treatments'])])
  assert.deepEqual(await inWords(), [[name, 'patients at Elm Street, Location', 'notes of treatments at Location']])
  const [{ ended_at } = { ended_at: '' }] = await ended()
  assert.ok(Math.abs(Date.parse(ended_at) - before) < 60_000)

  await change([at(location.id, ['treatments'])], ['patients'])
  assert.deepEqual(await inWords(), [[name, 'notes of treatments at Location']], 'what is granted again has not ended')
  await practice.delete(`${path}/access`)
  assert.deepEqual(
    (await inWords()).map((each) => each.toSorted()),
    [
      [name, 'patients at all', 'treatments at Location'].toSorted(),
      [name, 'patients at Elm Street, Location'].toSorted(),
    ],
  )
  const { companyId: other } = await world.addVendor()
  const stranger = await world.signInAs({ companyId: other }, 'owner')
  assert.deepEqual((await stranger.get(`/companies/${other}/ended_access`)).body.data, [])
  assert.equal((await stranger.get(`/companies/${companyId}/ended_access`)).body.code, 'company_unknown')
})
