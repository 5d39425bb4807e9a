import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DatasetName } from '@bridgework/contract'
import { filledFrom, fillPractices } from '../../testing/test-practices.ts'
import { trackConditions } from './conditions.ts'
import { type NoticeWorld, publicUrl, someNotices } from './testing/test-notices.ts'
import { officeCauses } from './testing/test-office-causes.ts'

/** More than are looked at at once. */
const many = 1_200

/** A practice with a location that is heard and read, and two companies with an admin each, of which the first may read these datasets. */
async function somePractice(t: TestContext, datasets: DatasetName[] = ['patients']) {
  const world = await someNotices(t)
  const causes = officeCauses(() => world)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location], datasets)
  const other = await world.addVendor()
  const readers = await Promise.all(
    [vendor, other].map(({ companyId: id }) => world.addReader({ side: 'company', id }, 'admin')),
  )
  await causes.office({ location }, 0.1, 0.1)
  const seen = async (reader = readers[0]) => told(world, reader)
  return { ...causes, world, location, vendor, readers, seen, seenByOther: () => seen(readers[1]) }
}

/** The notices of locations that a person got. */
async function told(world: NoticeWorld, reader: Awaited<ReturnType<NoticeWorld['addReader']>> | undefined) {
  assert.ok(reader)
  return (await world.noticesOf(reader.memberId)).filter(({ event }) => event.startsWith('location_'))
}

test('a vendor is told of what it may read and of nothing else, with the practice, the location and the guide', async (t) => {
  const { world, location, hold, seen, seenByOther } = await somePractice(t, ['treatments', 'appointments'])
  await hold({ location })
  await world.pool.query(`update dataset_state set synced_at = now() - interval '5 hours' where dataset = 'patients'`)
  await world.round()
  assert.deepEqual(await seen(), [], 'patients do not concern it')

  await world.pool.query(
    `update dataset_state set synced_at = now() - interval '2 hours' where dataset <> 'treatments'`,
  )
  await world.round()

  const [{ event, body, path } = assert.fail(), ...more] = await seen()
  assert.deepEqual([event, more], ['location_stale', []])
  const { rows } = await world.pool.query<{ place: string }>(
    `select 'appointments at “' || l.name || '” of “' || o.name || '”' as place
       from location l join organization o on o.id = l.organization_id where l.id = $1`,
    [location.id],
  )
  assert.ok(body.includes(`: ${rows[0]?.place}. Nothing is lost`), body)
  assert.ok(body.includes(` ${publicUrl}/guides/freshness `), body)
  assert.match(path, /^\/company\/[^/]+\/connections$/)
  assert.deepEqual(await seenByOther(), [], 'no grant, no notice')
})

for (const [what, end] of [
  ['its access was revoked', ({ world, vendor, location }) => world.revoke(vendor.companyId, location)],
  [
    'its access reached its end date',
    ({ world, vendor }) =>
      world.pool.query(`update dataset_grant set ends_at = now() - interval '1 minute' where company_id = $1`, [
        vendor.companyId,
      ]),
  ],
  [
    'it was suspended',
    ({ world, vendor }) => world.pool.query(`update company set state = 'suspended' where id = $1`, [vendor.companyId]),
  ],
  [
    'the location was closed before its data was current',
    ({ world, location }) => world.pool.query('update location set is_active = false where id = $1', [location.id]),
  ],
] as [string, (made: Awaited<ReturnType<typeof somePractice>>) => Promise<unknown>][]) {
  test(`a vendor is not told that data is current again when ${what}`, async (t) => {
    const made = await somePractice(t)
    const { world, office, location, seen } = made
    await office({ location }, 2, 2)
    await world.round()

    await end(made)
    for (let minute = 0; minute < 120; minute += 5) await world.round({ after: 5 })

    const events = (await seen()).map(({ event }) => event)
    assert.deepEqual(
      events.filter((event) => event !== 'location_closed'),
      ['location_silent'],
    )
  })
}

test('a vendor whose access ended while a notice waited is not told', async (t) => {
  const { world, vendor, location, office, seen } = await somePractice(t)
  const later = [await world.addLocation(), await world.addLocation()]
  for (const each of later) await world.grant(vendor.companyId, each, ['patients'])
  for (const each of later) await office({ location: each }, 0.1, 0.1)
  await office({ location }, 10, 10)
  await world.round()
  for (const each of later) await office({ location: each }, 10, 10)
  await world.round({ after: 5 })
  assert.equal((await seen()).length, 1, 'the others wait until an hour has passed')

  for (const each of later.slice(0, 1)) await world.revoke(vendor.companyId, each)
  // As after urgent checks: nothing of locations was looked at since.
  const now = new Date(world.set.now.getTime() + 60 * 60_000)
  await trackConditions(world.pool, { publicUrl, now }, [])

  const [, { body } = assert.fail(), ...more] = await seen()
  assert.deepEqual(more, [])
  assert.doesNotMatch(body, /”; “/, 'one of the two')
})

test('an outage is one notice and one end, whether its agent falls silent or is heard meanwhile', async (t) => {
  const { world, location, office, seen } = await somePractice(t)
  for (let minute = 0; minute < 240; minute += 10) {
    // Heard and silent for longer than it takes for a condition to end.
    await office({ location }, Math.floor(minute / 80) % 2 ? 2 : 0.1, 2 + minute / 60)
    await world.round({ after: 10 })
  }
  assert.deepEqual(
    (await seen()).map(({ event }) => event),
    ['location_stale'],
  )
  await office({ location }, -2, -2)
  for (let minute = 0; minute < 60; minute += 10) await world.round({ after: 10 })
  assert.deepEqual(
    (await seen()).map(({ event }) => event),
    ['location_stale', 'location_stale_ended'],
  )
})

test('what is closed at night is not silent for a vendor, as for the practice', async (t) => {
  const { world, location, seen } = await somePractice(t)
  const { pool, set } = world
  await pool.query(
    `update location set office_hours = '{"monday":[{"opens":"08:00","closes":"17:00"}]}', time_zone = 'America/New_York' where id = $1`,
    [location.id],
  )
  const at = new Date('2026-11-20T20:00:00Z')
  await pool.query('update agent_contact set last_contact_at = $1', [at])
  await pool.query('update dataset_state set synced_at = $1, initial_sync_completed_at = $1', [at])
  // Sunday night, Monday at 8:59 in New York, and at 9:01.
  for (const [now, silent] of [
    ['2026-11-22T23:00:00Z', 0],
    ['2026-11-23T13:59:00Z', 0],
    ['2026-11-23T14:01:00Z', 1],
  ] as const) {
    set.now = new Date(now)
    await world.round()
    assert.equal((await seen()).length, silent, now)
  }
})

test('a vendor of many locations gets one notice of all that are silent, and one daily mail', async (t) => {
  const { world, vendor, readers } = await somePractice(t)
  const { pool, ownerPool, set } = world
  await fillPractices(ownerPool, { count: many, companyId: vendor.companyId })
  // Without an agent nothing is told to these practices, which would only take time here.
  await ownerPool.query(`update agent set revoked_at = now() where id >= $1`, [filledFrom])
  const silentSince = new Date(set.now.getTime() - 5 * 86_400_000)
  await ownerPool.query('update agent_contact set last_contact_at = $2 where agent_id >= $1', [filledFrom, silentSince])
  await ownerPool.query('update dataset_state set synced_at = $2 where location_id >= $1', [filledFrom, silentSince])

  for (const after of [0, 5, 70]) await world.round({ after })
  set.now = new Date(set.now.getTime() + 86_400_000)
  await world.digest()

  const [{ email } = assert.fail()] = readers
  const [{ body } = assert.fail(), ...more] = await told(world, readers[0])
  assert.deepEqual(more, [])
  assert.match(body, new RegExp(`; and ${many - 9} more\\.`))
  const [{ text } = assert.fail(), ...others] = world.mailsTo(email)
  assert.deepEqual(others, [])
  assert.ok(text.includes(body), text)
  assert.equal((await pool.query('select from mail')).rowCount, 0)
})
