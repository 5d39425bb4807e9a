import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Pool, PoolClient } from 'pg'
import type { CompanyId, LocationId } from '../../platform/identity/identity.ts'
import { recordAudit } from '../audit/store.ts'
import { type Access, atEachLocation, type Grant, normalized } from './access.ts'
import { drawGrantStamp } from './dataset-grant.ts'
import { changeAccess, type GrantParties, listAccess } from './grant.ts'
import { someAccessWorld } from './testing/test-world.ts'

/** `BRIDGEWORK_TEST_RUNS` times as many runs: the soak's way to the full count. */
const runs = 60 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)

/** How a change ends: at which of its statements, and whether the statement alone fails or the whole session with it. */
type Failure = { at: number; isSessionLost: boolean }

test('K23: an access changes wholly or not at all, whichever statement fails, and what stays readable keeps its stamp and date', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const world = await someAccessWorld(t)
  const { pool } = world
  const { organization, locations } = await world.addOrganization(3)
  const { company } = await world.addCompany()
  const parties = { companyId: company.id, organizationId: organization.id, by: 'test' }
  const locationIds = locations.map(({ id }) => id)
  const ends = { wholly: 0, notAtAll: 0 }

  await fc.assert(
    fc.asyncProperty(someAccess(locationIds), someAccess(locationIds), someFailure, async (from, to, failure) => {
      await changeAccess(pool, parties, () => from)
      await drawStamps(pool, company.id, atEachLocation(from, locationIds))
      const before = await stored(pool, parties)
      const failing = failingPool(pool, failure)
      const audited = (client: Parameters<typeof recordAudit>[0]) => recordAudit(client, anEvent)

      const isDone = await changeAccess(failing.pool, parties, () => to, audited).then(
        () => true,
        (error: unknown) => {
          assert.ok(failing.hasFailed(), String(error))
          return false
        },
      )

      const after = await stored(pool, parties)
      ends[isDone ? 'wholly' : 'notAtAll'] += 1
      if (!isDone) return assert.deepEqual(after, before)
      assert.deepEqual(textsOf(await listAccess(pool, parties)), textsOf(normalized(to)))
      assert.deepEqual([...after.open.keys()], textsOf(atEachLocation(to, locationIds)))
      for (const [grant, row] of before.open) assert.equal(after.open.get(grant) ?? row, row)
      const isChanged = textsOf(normalized(from)).join() !== textsOf(normalized(to)).join()
      assert.equal(after.events - before.events, isChanged ? 1 : 0)
    }),
    { seed, numRuns: runs, endOnFailure: true },
  )
  t.diagnostic(JSON.stringify(ends))
  assert.ok(ends.wholly > 0 && ends.notAtAll > 0)
})

const someFailure = fc.record({ at: fc.integer({ min: 0, max: 16 }), isSessionLost: fc.boolean() })

function someAccess(locationIds: readonly LocationId[]): fc.Arbitrary<Access> {
  const grants = [null, ...locationIds].flatMap((locationId) => [
    { locationId, dataset: 'fee_schedules', notes: false } as const,
    { locationId, dataset: 'appointments', notes: false } as const,
    { locationId, dataset: 'appointments', notes: true } as const,
  ])
  return fc.subarray(grants)
}

async function drawStamps(pool: Pool, companyId: CompanyId, access: Access): Promise<void> {
  for (const { locationId, dataset } of access) {
    if (locationId !== null) await drawGrantStamp(pool, { companyId, locationId, dataset })
  }
}

/** Everything that a change may change: each grant of the history, what is open with its stamp and date, and the events on record. */
async function stored(pool: Pool, { companyId }: GrantParties) {
  const grants = await pool.query('select * from access_grant where company_id = $1 order by id', [companyId])
  const open = await pool.query<Grant & { row: string }>(
    `select location_id as "locationId", dataset, notes_since is not null as notes, g::text as row from dataset_grant g where company_id = $1`,
    [companyId],
  )
  const events = await pool.query<{ count: string }>('select count(*) from audit_event')
  return {
    grants: grants.rows,
    open: new Map(open.rows.map((grant) => [textOf(grant), grant.row] as const).toSorted()),
    events: Number(events.rows[0]?.count),
  }
}

function textsOf(access: Access): string[] {
  return access.map(textOf).toSorted()
}

function textOf({ locationId, dataset, notes }: Grant): string {
  return `${locationId} ${dataset} ${notes}`
}

/** The same pool, whose transaction fails once, before its statement of that number. */
function failingPool(pool: Pool, { at, isSessionLost }: Failure): { pool: Pool; hasFailed: () => boolean } {
  let count = 0
  const connect = async () => {
    const client = await pool.connect()
    const query = async (...args: Parameters<PoolClient['query']>) => {
      count += 1
      if (count !== at + 1) return client.query(...args)
      if (!isSessionLost) throw new Error('a statement failed')
      return client.query('select pg_terminate_backend(pg_backend_pid())')
    }
    return { query, release: client.release.bind(client) }
  }
  // Only connect is used of it.
  return { pool: { connect } as unknown as Pool, hasFailed: () => count > at }
}

const anEvent = {
  side: 'organization',
  tenantId: null,
  userId: null,
  actor: 'test',
  action: 'account.sign_out',
  facts: {},
  ip: null,
  requestId: null,
} as const
