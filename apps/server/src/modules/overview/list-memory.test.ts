import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationId } from '../../platform/identity/identity.ts'
import { analyzeFilled, fillPractices } from '../../testing/test-practices.ts'
import { someWorld } from '../../testing/test-world.ts'
import { revokeAccess } from '../consent/grant.ts'
import { createListMemory } from './list-memory.ts'

test('the page after one that was answered begins where that ended, for a minute', () => {
  const clock = { ms: 0 }
  const memory = createListMemory<string>(() => clock.ms)
  memory.note('a', { page: 1, items: 10 }, { lastId: '7', counted: 30 })
  assert.deepEqual(memory.recall('a', { page: 2, items: 10 }), { after: '7', total: null })
  for (const [list, page, items] of [
    ['b', 2, 10],
    ['a', 2, 11],
    ['a', 3, 10],
    ['a', 1, 10],
  ] as const)
    assert.equal(memory.recall(list, { page, items }).after, null)
  clock.ms = 60_000
  assert.equal(memory.recall('a', { page: 2, items: 10 }).after, null)
})

test('the length of a list is known for half a millisecond for each of its members, and never where it is short', () => {
  const clock = { ms: 0 }
  const memory = createListMemory<string>(() => clock.ms)
  memory.note('short', { page: 1, items: 10 }, { lastId: null, counted: 1_000 })
  memory.note('long', { page: 1, items: 10 }, { lastId: null, counted: 200_000 })
  const totals = () => ['short', 'long'].map((list) => memory.recall(list, { page: 5, items: 3 }).total)
  assert.deepEqual(totals(), [null, 200_000])
  clock.ms = 99_999
  memory.note('long', { page: 2, items: 10 }, { lastId: null, counted: null })
  assert.deepEqual(totals(), [null, 200_000])
  clock.ms = 100_000
  assert.deepEqual(totals(), [null, null])
})

test('a walk through many locations has each once, whatever process answers a page and whatever is revoked meanwhile', async (t) => {
  const world = await someWorld(t)
  const vendor = await world.addVendor()
  await fillPractices(world.ownerPool, { count: 1_250, companyId: vendor.companyId })
  await analyzeFilled(world.ownerPool)
  const other = await world.anotherServer()
  const token = await vendor.token()
  for (const list of ['locations', 'organizations']) {
    const seen: string[] = []
    for (let page: number | null = 1; page !== null; ) {
      const on = page % 3 === 0 ? other.url : world.url
      const { body, status } = await world.request(`/api/v1/vendors/${list}?items=200&page=${page}`, {
        headers: { authorization: `Bearer ${token}` },
        on,
      })
      assert.equal(status, 200)
      assert.deepEqual([body.pagy.total, body.pagy.pages], [1_250, 7])
      seen.push(...body.data.map(({ id }) => String(id)))
      page = body.meta.next_page as number | null
    }
    assert.equal(seen.length, 1_250)
    assert.deepEqual(
      seen,
      [...new Set(seen)].toSorted((a, b) => Number(a) - Number(b)),
    )
  }

  const pageOf = async (page: number) =>
    (await vendor.get(`/locations?items=200&page=${page}`)).body.data.map(({ id }) => id)
  const first = await pageOf(1)
  await world.ownerPool.query('delete from dataset_grant where location_id = any($1)', [first.slice(0, 50)])
  const second = await pageOf(2)
  assert.equal(Number(second[0]), Number(first.at(-1)) + 1, 'what was revoked on the first page shifts nothing')
})

test('A07: what was revoked is on no page from then on, though the number of all and the ends of pages are remembered', async (t) => {
  const world = await someWorld(t)
  const { companyId, get } = await world.addVendor()
  await fillPractices(world.ownerPool, { count: 1_100, companyId })
  const idsOf = async (list: string) => {
    const ids: string[] = []
    for (let page = 1; page <= 3; page += 1) {
      const { body } = await get(`/${list}?items=300&page=${page}`)
      ids.push(...body.data.map(({ id }) => String(id)))
    }
    return ids
  }
  const before = await Promise.all([idsOf('locations'), idsOf('organizations')])
  // On each page the first one, one in the midst, and the last one, after which the next page begins. Each practice has its location's id.
  const revoked = [0, 150, 299].flatMap((at) => [0, 300, 600].map((page) => before[0][page + at] ?? assert.fail()))
  for (const id of revoked)
    await revokeAccess(world.pool, {
      ...{ companyId, organizationId: id as OrganizationId, by: 'test' },
      ...{ locationIds: 'all', datasets: 'all' },
    })
  const now = await Promise.all([idsOf('locations'), idsOf('organizations')])
  for (const ids of now)
    assert.deepEqual(
      ids.filter((id) => revoked.includes(id)),
      [],
    )
})
