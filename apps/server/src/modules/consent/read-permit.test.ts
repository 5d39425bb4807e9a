import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatasetName } from '@bridgework/contract'
import type { Pool } from 'pg'
import { type LocationId, newUuid } from '../../platform/identity/identity.ts'
import { acceptAgreement, publishAgreement } from '../credentials/agreement.ts'
import { regenerateKeyPair, revokeKeyPair } from '../credentials/key-pair.ts'
import { closeCompany, resumeCompany, suspendCompany } from '../directory/company.ts'
import { grantAccess, revokeAccess } from './grant.ts'
import { permitRead, requirePrincipal } from './read-permit.ts'
import { noLocation, someAccessWorld, tokenOf } from './testing/test-world.ts'

const plans: DatasetName = 'insurance_plans'
const schedules: DatasetName = 'fee_schedules'
const on = { previewOff: false }

test('A01, A02, A03: a company reads what was granted to it, and nothing of a practice that is another one’s, nobody’s or no longer its own', async (t) => {
  const world = await someAccessWorld(t)
  const [c1, c2] = [await world.addCompany(), await world.addCompany()]
  const practices = [1, 2, 3, 4, 5].map(() => world.addOrganization())
  const [p1, p2, p3, p4, p5] = (await Promise.all(practices)).map(({ organization, locations }) => ({
    organizationId: organization.id,
    locationId: locations[0]?.id ?? noLocation,
  }))
  assert.ok(p1 && p2 && p3 && p4 && p5)
  const scope = { locationIds: 'all', datasets: 'all', by: 'test' } as const
  for (const { organizationId } of [p1, p3, p5]) {
    await grantAccess(world.pool, { ...scope, companyId: c1.company.id, organizationId })
  }
  for (const { organizationId } of [p2, p3]) {
    await grantAccess(world.pool, { ...scope, companyId: c2.company.id, organizationId })
  }
  await revokeAccess(world.pool, { ...scope, companyId: c1.company.id, organizationId: p5.organizationId })

  for (const { organizationId, locationId } of [p1, p3]) {
    const permit = await permitRead(world.pool, c1.token, locationId, plans, on)
    assert.equal(permit.companyId, c1.company.id)
    assert.equal(permit.keyPairId, c1.pair.keyPairId)
    assert.equal(permit.organizationId, organizationId)
    assert.equal(permit.locationId, locationId)
    assert.equal(permit.dataset, plans)
  }
  for (const { locationId } of [p2, p4, p5]) {
    await assert.rejects(permitRead(world.pool, c1.token, locationId, plans, on), {
      code: 'location_denied',
    })
  }
  await assert.rejects(permitRead(world.pool, c1.token, noLocation, plans, on), {
    code: 'location_unknown',
  })
})

test('A10: of a granted location only the granted datasets can be read', async (t) => {
  const world = await someAccessWorld(t)
  const { company, token } = await world.addCompany()
  const { organization, locations } = await world.addOrganization()
  const id = locations[0]?.id ?? noLocation
  const scope = {
    companyId: company.id,
    organizationId: organization.id,
    locationIds: [id],
    datasets: [schedules],
    by: 'test',
  }
  await grantAccess(world.pool, scope)

  assert.equal((await permitRead(world.pool, token, id, schedules, on)).dataset, schedules)
  await assert.rejects(permitRead(world.pool, token, id, plans, on), { code: 'dataset_denied' })
})

test('a malformed location id is answered like one that does not exist', async (t) => {
  const world = await someAccessWorld(t)
  const { token } = await world.addCompany()
  for (const id of [
    '0',
    '01',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '',
    ' 1',
    'abc',
    '9007199254740992',
    '99999999999999999999',
    "1' or '1'='1",
    '\0',
  ]) {
    await assert.rejects(permitRead(world.pool, token, id, plans, on), { code: 'location_unknown' }, JSON.stringify(id))
  }
})

test('S10: refusals come in the documented order: token, agreement, location, preview, grant of the location, grant of the dataset', async (t) => {
  const world = await someAccessWorld(t)
  const { company, owner, token } = await world.addCompany()
  const { organization, locations } = await world.addOrganization()
  const id = locations[0]?.id ?? noLocation
  const off = { previewOff: true }
  const ask = (location: string, options: { previewOff: boolean }) =>
    permitRead(world.pool, token, location, plans, options)

  await assert.rejects(ask('abc', off), { code: 'location_unknown' })
  await assert.rejects(ask(id, off), { code: 'preview_off' })
  await assert.rejects(ask(id, on), { code: 'location_denied' })
  await grantAccess(world.pool, {
    companyId: company.id,
    organizationId: organization.id,
    locationIds: 'all',
    datasets: [schedules],
    by: 'test',
  })
  await assert.rejects(ask(id, off), { code: 'preview_off' })
  await assert.rejects(ask(id, on), { code: 'dataset_denied' })
  await publishAgreement(world.pool, { version: 2, body: 'Be kinder.', enforcedAt: new Date(0) })
  await assert.rejects(ask('abc', off), { code: 'agreement_required' })
  await suspendCompany(world.pool, company.id)
  await assert.rejects(ask('abc', off), { code: 'token_invalid' })
  await resumeCompany(world.pool, company.id)
  await acceptAgreement(world.pool, { companyId: company.id, memberId: owner.id, version: 2 })
  assert.equal((await permitRead(world.pool, token, id, schedules, on)).locationId, id)
})

test('B20, B21, A20: the token of a revoked or replaced key pair, of a suspended or closed company, or of a mixed pair is refused at the next request', async (t) => {
  const world = await someAccessWorld(t)
  const { company, owner, token, pair } = await world.addCompany()
  const other = await world.addCompany()
  const by = { companyId: company.id, memberId: owner.id }
  const refused = { code: 'token_invalid' }
  const assertRefused = async (principal: typeof token) => {
    await assert.rejects(requirePrincipal(world.pool, principal), refused)
    await assert.rejects(permitRead(world.pool, principal, noLocation, plans, on), refused)
  }
  const { epoch, ...principal } = await requirePrincipal(world.pool, token)
  assert.deepEqual(principal, { brand: 'Principal', companyId: company.id, keyPairId: pair.keyPairId })
  assert.match(epoch, /^[\da-f-]{36}$/)

  await assertRefused({ ...token, keyPairId: other.pair.keyPairId })
  await assertRefused({ ...token, companyId: other.company.id })
  await assertRefused({ ...token, keyPairId: newUuid() })
  await suspendCompany(world.pool, company.id)
  await assertRefused(token)
  await resumeCompany(world.pool, company.id)
  await requirePrincipal(world.pool, token)
  const next = tokenOf(company, await regenerateKeyPair(world.pool, world.secretKey, by))
  await assertRefused(token)
  await requirePrincipal(world.pool, next)
  await revokeKeyPair(world.pool, { companyId: company.id, memberId: null })
  await assertRefused(next)
  await closeCompany(world.pool, other.company.id)
  await assertRefused(other.token)
})

test('B22: an opt-out closes that location at the next request, and the others stay open', async (t) => {
  const world = await someAccessWorld(t)
  const { company, token } = await world.addCompany()
  const { organization, locations } = await world.addOrganization(2)
  const [left, right] = locations.map((location) => location.id) as [LocationId, LocationId]
  const scope = { companyId: company.id, organizationId: organization.id, datasets: 'all', by: 'test' } as const
  await grantAccess(world.pool, { ...scope, locationIds: [left, right] })
  await permitRead(world.pool, token, left, plans, on)

  await revokeAccess(world.pool, { ...scope, locationIds: [left] })

  await assert.rejects(permitRead(world.pool, token, left, plans, on), { code: 'location_denied' })
  assert.equal((await permitRead(world.pool, token, right, plans, on)).locationId, right)
})

test('a new agreement leaves a company its grace period, then refuses it until the owner accepts', async (t) => {
  const world = await someAccessWorld(t)
  const { company, owner, token } = await world.addCompany()
  const later = await world.addCompany()

  await publishAgreement(world.pool, { version: 2, body: 'Be kinder.', enforcedAt: new Date(Date.now() + 3_600_000) })
  await requirePrincipal(world.pool, token)
  await acceptAgreement(world.pool, { companyId: later.company.id, memberId: later.owner.id, version: 2 })
  await requirePrincipal(world.pool, later.token)

  await world.ownerPool.query('update agreement set enforced_at = now() where version = 2')
  await requirePrincipal(world.pool, later.token)
  await assert.rejects(requirePrincipal(world.pool, token), { code: 'agreement_required' })
  await acceptAgreement(world.pool, { companyId: company.id, memberId: owner.id, version: 2 })
  await requirePrincipal(world.pool, token)
})

test('a permit carries the dataset’s state and the database’s time in whole microseconds', async (t) => {
  const world = await someAccessWorld(t)
  const { company, token } = await world.addCompany()
  const { organization, locations } = await world.addOrganization()
  const id = locations[0]?.id ?? noLocation
  await grantAccess(world.pool, {
    companyId: company.id,
    organizationId: organization.id,
    locationIds: [id],
    datasets: 'all',
    by: 'test',
  })

  const permit = await permitRead(world.pool, token, id, plans, on)

  const { firstStamp, lastStamp, ...rest } = permit.state
  assert.deepEqual(rest, { total: 0, visible: 0, syncedAt: null, initialSyncCompletedAt: null, isProvided: true })
  assert.ok(Number.isSafeInteger(firstStamp) && firstStamp < lastStamp && lastStamp === permit.grantedStamp)
  assert.ok(Number.isSafeInteger(permit.databaseNow) && permit.databaseNow >= lastStamp)
  assert.ok(Math.abs(permit.databaseNow / 1000 - Date.now()) < 60_000)
  assert.ok(permit.grantedAt instanceof Date)
  assert.equal(permit.epoch, (await requirePrincipal(world.pool, token)).epoch)
})

test('requests that ask in one turn get each the answer that it would get alone, and their statements are few', async (t) => {
  const world = await someAccessWorld(t)
  const companies = [await world.addCompany(), await world.addCompany(), await world.addCompany()]
  const practices = [await world.addOrganization(2), await world.addOrganization(2)]
  for (const [index, { company }] of companies.entries()) {
    for (const { organization, locations } of practices) {
      await grantAccess(world.pool, {
        companyId: company.id,
        organizationId: organization.id,
        locationIds: [locations[index % 2]?.id ?? noLocation],
        datasets: index === 0 ? [plans] : [plans, schedules],
        by: 'test',
      })
    }
  }
  const [, second, third] = companies
  assert.ok(second && third)
  await suspendCompany(world.pool, third.company.id)
  const places = [...practices.flatMap(({ locations }) => locations.map(({ id }) => id)), noLocation, 'abc']
  const tokens = [...companies.map(({ token }) => token), { ...second.token, keyPairId: third.pair.keyPairId }]
  const asked = places.flatMap((place) =>
    tokens.flatMap((token) => [plans, schedules].map((dataset) => ({ place, token, dataset }))),
  )
  let statements = 0
  const pool = new Proxy(world.pool, {
    get(target, name) {
      if (name === 'query') statements += 1
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const ask = async ({ place, token, dataset }: (typeof asked)[0]) => {
    try {
      const { databaseNow, ...permit } = await permitRead(pool, token, place, dataset, { ...on, drawOn: world.pool })
      assert.ok(databaseNow > 0)
      return permit
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  const alone = []
  for (const each of asked) alone.push(await ask(each))
  assert.deepEqual(new Set(alone.filter((answer) => typeof answer === 'string')), new Set(refusals))
  assert.ok(alone.some((answer) => typeof answer !== 'string'))
  statements = 0
  assert.deepEqual(await Promise.all(asked.map(ask)), alone)
  assert.ok(statements <= 3, `${statements} statements for ${asked.length} requests`)
})

test('many requests of a turn ask in one statement after it', async (t) => {
  const world = await someAccessWorld(t)
  const { company, token } = await world.addCompany()
  const { organization, locations } = await world.addOrganization()
  const scope = { companyId: company.id, organizationId: organization.id, locationIds: 'all', datasets: 'all' } as const
  await grantAccess(world.pool, { ...scope, by: 'test' })
  const id = locations[0]?.id ?? noLocation
  await permitRead(world.pool, token, id, plans, on)
  const asked: number[] = []
  const pool = new Proxy(world.pool, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name)
      return (query: { values: unknown[] }) => {
        asked.push(String(query.values[0]).split(',').length)
        return target.query(query as never)
      }
    },
  })
  const permits = Array.from({ length: 11 }, () => permitRead(pool, token, id, plans, on))
  assert.deepEqual(asked, [])
  assert.equal((await Promise.all(permits)).length, 11)
  assert.deepEqual(asked, [11])
})

test('however many grants there are, a connection plans the statements once and reads of them only those that are asked for', async (t) => {
  const world = await someAccessWorld(t)
  const { company, token } = await world.addCompany()
  const { organization, locations } = await world.addOrganization(40)
  const scope = { companyId: company.id, organizationId: organization.id, locationIds: 'all', datasets: 'all' } as const
  await grantAccess(world.pool, { ...scope, by: 'test' })
  const id = locations[0]?.id ?? noLocation
  await permitRead(world.pool, token, id, plans, on)
  await world.ownerPool.query('analyze')
  const client = await world.pool.connect()
  try {
    const pool = client as unknown as Pool
    await client.query('begin')
    for (let time = 0; time < 20; time += 1) {
      await permitRead(pool, token, id, plans, on)
      await Promise.all([1, 2].map(() => permitRead(pool, token, id, plans, on)))
    }
    // What this transaction alone has read.
    const read = await client.query<{ through: number; by_index: number }>(
      `select sum(seq_tup_read)::integer as through, sum(idx_tup_fetch)::integer as by_index
         from pg_stat_xact_user_tables where relname in ('dataset_grant', 'dataset_state')`,
    )
    await client.query('commit')
    // Two rows for each of the three permits of a round: the grant and the state. The planner reads a few more.
    const { through, by_index: byIndex } = read.rows[0] ?? assert.fail()
    assert.equal(through, 0)
    assert.ok(byIndex >= 20 * 3 * 2 && byIndex < 20 * 3 * 3, `${byIndex} rows by index`)
    const { rows } = await client.query<{ name: string; custom: number }>(
      `select name, custom_plans::integer as custom from pg_prepared_statements order by name`,
    )
    // PostgreSQL always tries the first five with their values.
    assert.deepEqual(rows, [
      { name: 'permit-read', custom: 5 },
      { name: 'permits-read', custom: 5 },
    ])
  } finally {
    client.release()
  }
})

test('moments are those that are stored, to the microsecond', async (t) => {
  const world = await someAccessWorld(t)
  const { company, token } = await world.addCompany()
  const { organization, locations } = await world.addOrganization()
  const scope = { companyId: company.id, organizationId: organization.id, locationIds: 'all', datasets: 'all' } as const
  await grantAccess(world.pool, { ...scope, by: 'test' })
  const id = locations[0]?.id ?? noLocation
  const read = () => permitRead(world.pool, token, id, plans, on)
  await read()
  for (const fraction of ['000000', '001000', '122999', '123000', '999999']) {
    for (const column of ['granted_at', 'synced_at']) {
      const table = column === 'granted_at' ? 'dataset_grant' : 'dataset_state'
      await world.ownerPool.query(`update ${table} set ${column} = $1`, [`2026-11-25T05:06:07.${fraction}Z`])
    }
    const { grantedAt, state } = await read()
    const expected = `2026-11-25T05:06:07.${fraction.slice(0, 3)}Z`
    assert.deepEqual([grantedAt.toISOString(), state.syncedAt?.toISOString()], [expected, expected])
  }
  const clock = async () => {
    const { rows } = await world.pool.query('select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now')
    return Number(rows[0]?.now)
  }
  const [before, { databaseNow }, after] = [await clock(), await read(), await clock()]
  assert.ok(before <= databaseNow && databaseNow <= after)
})

const refusals = ['dataset_denied', 'location_denied', 'location_unknown', 'token_invalid']

test('A19: a grant that was revoked ends at the next request, also among others of the same turn', async (t) => {
  const world = await someAccessWorld(t)
  const [one, other] = [await world.addCompany(), await world.addCompany()]
  const { organization, locations } = await world.addOrganization()
  const id = locations[0]?.id ?? noLocation
  const scopeOf = (companyId: typeof one.company.id) =>
    ({ companyId, organizationId: organization.id, locationIds: 'all', datasets: 'all', by: 'test' }) as const
  await grantAccess(world.pool, scopeOf(one.company.id))
  await grantAccess(world.pool, scopeOf(other.company.id))
  const both = () => Promise.allSettled([one, other].map(({ token }) => permitRead(world.pool, token, id, plans, on)))
  assert.deepEqual(
    (await both()).map(({ status }) => status),
    ['fulfilled', 'fulfilled'],
  )
  await revokeAccess(world.pool, scopeOf(one.company.id))
  const [revoked, kept] = await both()
  assert.equal(revoked?.status === 'rejected' && revoked.reason.code, 'location_denied')
  assert.equal(kept?.status, 'fulfilled')
})
