import assert from 'node:assert/strict'
import { test } from 'node:test'
import { somePortal } from '../testing/test-portal.ts'

type Entry = {
  location_id: string
  key: string
  snippet: string
  domains: string[]
  own_domains: string[]
  excluded_paths: string[]
  is_installed: boolean
  sightings: { origin: string; is_own_domain: boolean }[]
}

test('a practice finds the line to paste, sees at once where its script ran, and says which domains are its own', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const path = `/organizations/${location.organizationId}/attribution`
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const member = await world.signInAs({ organizationId: location.organizationId }, 'member')
  const entry = async () => {
    const { body } = await member.get(path)
    const { data, total } = body as unknown as { data: Entry[]; total: number }
    assert.equal(total, 1)
    return data[0] ?? assert.fail()
  }
  const before = await entry()
  const source = / src="http:\/\/localhost(\/attribution\/[\w-]{22}\.js)"/.exec(before.snippet)?.[1] ?? ''
  assert.equal((await world.request(source)).status, 200, 'what is to be pasted is there')
  assert.deepEqual([before.domains, before.own_domains, before.is_installed, before.sightings], [[], [], false, []])

  await world.request(`/attribution/${before.key}`, {
    method: 'POST',
    headers: { origin: 'https://www.smile.example' },
  })
  assert.deepEqual(
    (await entry()).sightings.map(({ origin, is_own_domain }) => [origin, is_own_domain]),
    [['https://www.smile.example', false]],
  )

  const settings = { domains: ['smile.example'], excluded_paths: ['/portal'] }
  assert.equal((await member.patch(`${path}/${location.id}`, settings)).body.code, 'role_denied')
  const { status, body } = await owner.patch(`${path}/${location.id}`, settings)
  const after = body as unknown as Entry
  assert.deepEqual(
    [status, after.own_domains, after.excluded_paths, after.is_installed],
    [200, ['smile.example'], ['/portal'], true],
  )
  assert.deepEqual((await entry()).is_installed, true)
  assert.match((await world.request(source)).text, /\["\/portal"\]/)
  const { rows } = await world.pool.query(`select action, facts from audit_event order by id desc limit 1`)
  assert.deepEqual(rows, [{ action: 'attribution.update', facts: { location: { id: location.id, name: 'Location' } } }])
})

test('settings that cannot be are refused by field, and another practice’s location is not found', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const foreign = await world.addLocation()
  const path = `/organizations/${location.organizationId}/attribution`
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  for (const [body, field] of [
    [{ domains: ['https://smile.example/'], excluded_paths: [] }, 'domains'],
    [{ domains: Array.from({ length: 21 }, (_, i) => `d${i}.example`), excluded_paths: [] }, 'domains'],
    [{ domains: [], excluded_paths: ['portal'] }, 'excluded_paths'],
    [{ domains: [] }, 'excluded_paths'],
  ] as const) {
    const answer = await owner.patch(`${path}/${location.id}`, body)
    assert.deepEqual([answer.status, answer.body.code], [422, 'field_invalid'])
    assert.ok(answer.body.errors.includes(field), answer.body.errors)
  }
  const body = { domains: ['evil.example'], excluded_paths: [] }
  assert.equal((await owner.patch(`${path}/${foreign.id}`, body)).body.code, 'location_unknown')
  const stranger = await world.signInAs({ organizationId: foreign.organizationId }, 'owner')
  assert.equal((await stranger.get(path)).body.code, 'organization_unknown')
  assert.equal((await stranger.patch(`${path}/${location.id}`, body)).body.code, 'organization_unknown')
  const { rows } = await world.pool.query(`select from attribution_script where domains <> '{}'`)
  assert.equal(rows.length, 0)
})
