import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRecord, someWorld, type TestWorld } from '../../testing/test-world.ts'
import { createEnrolmentCode } from '../agents/agent-key.ts'
import { grantAccess, revokeAccess } from '../consent/grant.ts'
import { removeNotesSlice } from '../records/removals/note-remover.ts'
import { companyEndings } from './company-endings.ts'
import { countHeld, eraseTenant, finishErasing, type Leaving } from './erase.ts'
import { organizationEndings } from './organization-endings.ts'
import { exportedTables, notExported } from './organization-export.ts'
import { fillTenants, snapshot, tablesOf } from './testing/test-filled-tenant.ts'

const quiet = { signal: new AbortController().signal, onDeleted: () => {}, lateMs: 0 }

test('K31: every table of the schema has a decision: erased, kept with a reason, or never a row of the tenant', async (t) => {
  const tables = await tablesOf(await someWorld(t))
  for (const endings of [organizationEndings, companyEndings]) {
    assert.deepEqual(Object.keys(endings).toSorted(), tables)
    for (const [table, ending] of Object.entries(endings))
      if ('because' in ending) assert.match(ending.because, /\w/, table)
  }
  const ofPractices = tables.filter((table) => organizationEndings[table]?.ends !== 'none')
  const byRows = Object.keys(exportedTables).filter((table) => exportedTables[table]?.rows === undefined)
  assert.deepEqual([...byRows, ...Object.keys(notExported)].toSorted(), ofPractices)
  for (const [table, why] of Object.entries(notExported)) assert.match(why, /\w/, table)
  for (const [table, { about }] of Object.entries(exportedTables)) assert.match(about, /\w/, table)
})

for (const side of ['organization', 'company'] as const) {
  test(`K31: an erased ${side} leaves no row but those that are kept, and every other tenant has every row it had`, async (t) => {
    const { world, leaving, mentions } = await someTenants(t, side)
    const endings = side === 'organization' ? organizationEndings : companyEndings
    const held = await countHeld(world.pool, leaving)
    // Without a row in each table the counts below would prove nothing.
    assert.deepEqual(
      held.map(({ table }) => table).toSorted(),
      Object.keys(endings)
        .filter((table) => endings[table]?.ends !== 'none')
        .toSorted(),
    )
    const before = await snapshot(world)

    let alongside = 0
    await eraseTenant({ pool: world.pool, ...quiet }, leaving, 'test', async () => void alongside++)

    assert.equal(alongside, 1, 'what happens alongside happens once')
    const kept = held.filter(({ isKept }) => isKept)
    const left = await countHeld(world.pool, leaving)
    assert.deepEqual(left, kept)
    const after = await snapshot(world)
    for (const [table, rows] of before) {
      const lost = rows.filter((row) => !after.get(table)?.includes(row))
      assert.deepEqual(
        lost.filter((row) => !mentions(row)),
        [],
        `${table} keeps the rows of others`,
      )
    }
    const named = [...after].filter(([, rows]) => rows.some(mentions)).map(([table]) => table)
    const mayName = kept.map(({ table }) => table)
    assert.deepEqual(
      named.filter((table) => !mayName.includes(table)),
      [],
    )
    assert.deepEqual(await revokedGrants(world, leaving), [])
  })
}

test('an erased vendor’s grants leave no note that nobody else may read', async (t) => {
  const world = await someWorld(t)
  const [both, alone] = [await world.addLocation(), await world.addLocation()]
  const [leaving, staying] = [await world.addVendor(), await world.addVendor()]
  for (const location of [both, alone])
    await world.grant(leaving.companyId, location, ['appointments'], { notes: true })
  await world.grant(staying.companyId, both, ['appointments'], { notes: true })
  const record = aRecord('appointments', { note: 'Call before.' })
  for (const location of [both, alone]) await location.upload('appointments', { 1: record })

  await eraseTenant({ pool: world.pool, ...quiet }, { side: 'company', id: leaving.companyId }, 'test')
  while ((await removeNotesSlice(world.pool, world.log)) !== null);

  const { rows } = await world.pool.query('select location_id from record where document_with_notes like $1', [
    '%Call before.%',
  ])
  assert.deepEqual(rows, [{ location_id: both.id }])
})

for (const grantsAlready of [true, false]) {
  test(`an access that is being granted while the vendor is erased ends with it${grantsAlready ? '' : ', also where it had none'}`, async (t) => {
    const world = await someWorld(t)
    const [location, other] = [await world.addLocation(), await world.addLocation()]
    const vendor = await world.addVendor([other, ...(grantsAlready ? [location] : [])], ['insurance_plans'])
    const { companyId } = vendor
    const leaving: Leaving = { side: 'company', id: companyId }
    const { organizationId } = location
    const { promise: mayGrant, resolve: letGrant } = Promise.withResolvers<void>()
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
    const scope = { companyId, organizationId, by: 'test', locationIds: 'all', datasets: 'all' } as const
    const granting = grantAccess(world.pool, scope, async () => {
      hold()
      await mayGrant
    })
    await isHeld
    const erasing = eraseTenant({ pool: world.pool, ...quiet }, leaving, 'test')
    await untilOneWaits(world)
    letGrant()
    await granting
    await erasing

    const left = (await countHeld(world.pool, leaving)).filter(({ isKept }) => !isKept)
    assert.deepEqual([left, await revokedGrants(world, leaving)], [[], []])
    await assert.rejects(grantAccess(world.pool, scope), { code: 'company_closed', errors: /was erased on/ })
  })
}

test('a vendor is erased while many practices grant and revoke: none waits for another in a circle, and no access is left', async (t) => {
  const world = await someWorld(t)
  const vendor = await world.addVendor()
  const { companyId } = vendor
  const locations = await Promise.all(Array.from({ length: 6 }, () => world.addLocation()))
  const outcomes: string[] = []
  const change = async ({ organizationId }: (typeof locations)[number]) => {
    const scope = { companyId, organizationId, by: 'test', locationIds: 'all', datasets: 'all' } as const
    for (let round = 0; round < 5_000 && !outcomes.includes('company_closed'); round += 1) {
      await (round % 2 === 0 ? grantAccess : revokeAccess)(world.pool, scope).catch((error) => {
        outcomes.push(error.code)
      })
    }
  }
  const changing = Promise.all(locations.map(change))
  const leaving: Leaving = { side: 'company', id: companyId }
  await eraseTenant({ pool: world.pool, ...quiet }, leaving, 'test')
  await changing

  assert.deepEqual([...new Set(outcomes)], ['company_closed'])
  const left = (await countHeld(world.pool, leaving)).filter(({ isKept }) => !isKept)
  assert.deepEqual([left, await revokedGrants(world, leaving)], [[], []])
})

test('an agent, a vendor and a new grant of an erased practice are refused in words; other practices are read on', async (t) => {
  const { world, filled, vendor, other } = await someTenants(t, 'organization')
  const { location, organization } = filled
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 200)
  await eraseTenant({ pool: world.pool, ...quiet }, organization, 'test')

  const upload = await location.upload('patients', { 9: null })
  assert.deepEqual([upload.status, upload.body.code], [401, 'agent_key_invalid'])
  const read = await vendor.get(`/locations/${location.id}/patients`)
  assert.deepEqual([read.status, read.body.code], [403, 'location_denied'])
  assert.equal((await vendor.get(`/locations/${other.location.id}/patients`)).status, 200)
  const erased = { code: 'organization_erased', errors: /was erased on \d{4}-\d{2}-\d{2}\. Create a new one\.$/ }
  const enroll = createEnrolmentCode(world.pool, world.secretKey, { organizationId: organization.id })
  await assert.rejects(enroll, erased)
  const grant = { companyId: vendor.companyId, organizationId: organization.id, by: 'test' } as const
  await assert.rejects(grantAccess(world.pool, { ...grant, locationIds: 'all', datasets: 'all' }), erased)
})

test('an erased vendor gets no token, its tokens are refused at once, and it gets no new key pair', async (t) => {
  const { world, vendor, filled } = await someTenants(t, 'company')
  const { clientId, clientSecret } = vendor
  assert.equal((await vendor.get('/locations')).status, 200)
  await eraseTenant({ pool: world.pool, ...quiet }, filled.company, 'test')

  const body = JSON.stringify({ client_id: clientId, client_secret: clientSecret })
  const headers = { 'content-type': 'application/json' }
  const token = await world.request('/api/v1/vendors/auth/token', { method: 'POST', headers, body })
  assert.deepEqual([token.status, token.body.code], [401, 'credentials_invalid'])
  const read = await vendor.get('/locations')
  assert.deepEqual([read.status, read.body.code], [401, 'token_invalid'])
})

test('what was stopped in the middle, and what a request wrote afterwards, is erased by the server', async (t) => {
  const { world, filled } = await someTenants(t, 'organization')
  const stop = new AbortController()
  const erasing = eraseTenant(
    { pool: world.pool, signal: stop.signal, onDeleted: () => stop.abort() },
    filled.organization,
    'test',
  )
  await assert.rejects(erasing, { code: 'stopped' })
  const erasable = async (leaving: Leaving) => (await countHeld(world.pool, leaving)).filter(({ isKept }) => !isKept)
  assert.ok((await erasable(filled.organization)).some(({ table }) => table === 'record'))
  await finishErasing(world.pool)
  assert.deepEqual(await erasable(filled.organization), [])

  await eraseTenant({ pool: world.pool, ...quiet }, filled.company, 'test')
  await world.pool.query('insert into key_pair_use values (gen_random_uuid(), now())')
  await world.pool.query('insert into vendor_usage values ($1, now())', [filled.company.id])
  await world.pool.query('insert into agent_contact values ($1, now())', [filled.location.agent.agentId])
  await finishErasing(world.pool)
  assert.deepEqual([await erasable(filled.organization), await erasable(filled.company)], [[], []])
})

/** Two practices and two vendors that read them; one of either kind leaves. */
async function someTenants(t: Parameters<typeof someWorld>[0], side: Leaving['side']) {
  const world = await someWorld(t)
  const vendor = await world.addVendor()
  const filled = await fillTenants(world, vendor)
  const other = await fillTenants(world, side === 'company' ? await world.addVendor() : vendor)
  const leaving: Leaving = side === 'company' ? filled.company : filled.organization
  const [ofPractice, ofVendor] = filled.people
  const person = side === 'company' ? ofVendor : ofPractice
  const { agentId } = filled.location.agent
  const keys = await world.pool.query('select id from key_pair where company_id = $1', [filled.company.id])
  const ids =
    side === 'company' ? [filled.company.id, keys.rows[0]?.id] : [filled.organization.id, filled.location.id, agentId]
  const words = [...ids, person?.userId, person?.memberId, person?.email, person?.email.toUpperCase()].map(String)
  const mentions = (row: string) => words.some((word) => row.includes(word))
  return { world, vendor, filled, other, leaving, mentions }
}

/** Until a transaction waits for another, for 5 s at most. */
async function untilOneWaits({ pool }: TestWorld): Promise<void> {
  for (const until = Date.now() + 5_000; Date.now() < until; ) {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    if (rowCount !== 0) return
  }
}

/** The grants of the tenant that are still in force. */
async function revokedGrants({ pool }: TestWorld, { side, id }: Leaving): Promise<unknown[]> {
  const { rows } = await pool.query(`select from access_grant where ${side}_id = $1 and revoked_at is null`, [id])
  return rows
}
