import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { RequestOutcome } from '@bridgework/contract/portal'
import type { Queryable } from '../../platform/database/queryable.ts'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import type { CompanyId } from '../../platform/identity/identity.ts'
import { someWorld } from '../../testing/test-world.ts'
import { createUsageRecorder } from './recorder.ts'
import { anyRequest, lastRequestsOf, listRequests, requestsKept, trimRequests } from './request-log.ts'
import { allOf } from './testing/test-requests.ts'

const now = new Date('2026-11-20T10:00:00Z')
const day = 24 * 60 * 60_000

/** Requests of one company and outcome, one each second, the last one at `until`. */
async function fill(db: Queryable, companyId: CompanyId, outcome: RequestOutcome, count: number, until: Date) {
  await db.query(
    `insert into vendor_request (company_id, answered_at, request_id, method, route, outcome, status, duration_ms)
     select $1, $4::timestamptz - make_interval(secs => $3::integer - n), n::text, 'GET', '/locations', $2, 200, 1
       from generate_series(1, $3::integer) n`,
    [companyId, outcome, count, until],
  )
}

test('requests are kept for 30 days, and of each outcome the last so many: those that fail displace none that succeeded', async (t) => {
  const { pool } = await createTestDatabase(t)
  const [busy, quiet, gone] = [0, 1, 2].map(() => randomUUID() as CompanyId) as [CompanyId, CompanyId, CompanyId]
  await fill(pool, busy, 'ok', 300, now)
  await fill(pool, busy, 'error', requestsKept.error + 500, now)
  await fill(pool, busy, 'unauthenticated', requestsKept.unauthenticated + 1, now)
  await fill(pool, quiet, 'ok', 2, new Date(now.getTime() - 30 * day))
  await fill(pool, quiet, 'ok', 3, now)
  await fill(pool, gone, 'throttled', 5, new Date(now.getTime() - 31 * day))
  await trimRequests(pool, now)

  const { rows } = await pool.query(
    `select company_id, outcome, count(*)::integer, min(request_id::integer) as first from vendor_request group by 1, 2`,
  )
  const kept = new Map(rows.map((row) => [`${row.company_id} ${row.outcome}`, [row.count, row.first]]))
  assert.deepEqual(
    kept,
    new Map([
      [`${busy} ok`, [300, 1]],
      [`${busy} error`, [requestsKept.error, 501]],
      [`${busy} unauthenticated`, [requestsKept.unauthenticated, 2]],
      // One of the two is 30 days old to the second, the other one older.
      [`${quiet} ok`, [4, 1]],
    ]),
  )
  assert.deepEqual(await lastRequestsOf(pool, [quiet, gone]), new Map([[quiet, now]]))
})

test('a list goes on where the page before ended, over all outcomes in the order of the answers', async (t) => {
  const { pool } = await createTestDatabase(t)
  const company = randomUUID() as CompanyId
  for (let round = 0; round < 10; round += 1) {
    await fill(pool, company, round % 2 === 0 ? 'ok' : 'throttled', 1, new Date(now.getTime() + round))
  }
  const all = await allOf(pool, company)
  assert.deepEqual(
    all.map(({ answeredAt }) => answeredAt.getTime() - now.getTime()),
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
  )
  const range = { from: new Date(now.getTime() + 2), until: new Date(now.getTime() + 8) }
  assert.equal((await allOf(pool, company, range)).length, 6)
  const filter = { ...anyRequest, ...range, outcomes: ['ok', 'throttled'] as const }
  const page = await listRequests(pool, company, filter, { before: all[4]?.id ?? '', limit: 2 })
  assert.deepEqual(
    page.map(({ id }) => id),
    all.slice(5, 7).map(({ id }) => id),
  )
})

test('a stranger who tries a client id again and again adds at most four requests a second to its company’s log', async (t) => {
  const { pool } = await createTestDatabase(t)
  const companyId = randomUUID() as CompanyId
  const recorder = createUsageRecorder({ pool, log: () => {}, now: () => now })
  for (let index = 0; index < 5_000; index += 1) {
    recorder.observe({
      event: 'request.answered',
      requestId: String(index),
      method: 'POST',
      route: '/api/v1/vendors/auth/token',
      status: 401,
      durationMs: 1,
      companyId,
      isUnproved: true,
    })
  }
  await recorder.flush()
  assert.deepEqual(
    (await allOf(pool, companyId)).map(({ requestId }) => requestId),
    ['4999', '4998', '4997', '4996'],
  )
})

test('an expired token is listed at its company; a forged one with the same claims is not', async (t) => {
  const clock = { now: new Date() }
  const world = await someWorld(t, { now: () => clock.now })
  const vendor = await world.addVendor()
  const token = await vendor.token()
  clock.now = new Date(clock.now.getTime() + 7 * 60 * 60_000)
  const [header, payload] = token.split('.')
  const send = (bearer: string) =>
    world.request('/api/v1/vendors/locations', { headers: { authorization: `Bearer ${bearer}` } })
  for (const bearer of [token, token, `${header}.${payload}.${'A'.repeat(86)}`])
    assert.equal((await send(bearer)).status, 401)
  await world.usage.flush()

  const found = await allOf(world.pool, vendor.companyId)
  assert.deepEqual(
    found.map(({ outcome, code, because }) => [outcome, code, because]),
    [
      ['unauthenticated', 'token_invalid', 'expired'],
      ['unauthenticated', 'token_invalid', 'expired'],
    ],
  )
})
