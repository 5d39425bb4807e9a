import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { datasetNames } from '@bridgework/contract'
import { aPlan, someWorld } from '../../../testing/test-world.ts'
import { permitRead } from '../../consent/read-permit.ts'
import { createPageReader } from './page.ts'
import { wholeDataset } from './selection.ts'

const names = ['New 1', 'New 2', 'New 3', 'New 4', 'New 5']

for (const { kind, sortedMax, statements } of [
  { kind: 'small', sortedMax: 5, statements: ['small_delta', 'small_delta', 'small_delta'] },
  // Tried as a smaller one and counted on the first page, and then no more.
  {
    kind: 'large',
    sortedMax: 4,
    statements: ['small_delta', 'count_modified', 'read.id.modified', 'read.id.modified', 'read.id.modified'],
  },
]) {
  test(`the pages of a ${kind} delta have each changed record once, in order, and its total`, async (t) => {
    const { pool, permit, since } = await withFiveChanged(t)
    const asked: string[] = []
    const watched = {
      query: (query: { name: string }) => {
        asked.push(query.name.replace('records.', ''))
        return pool.query(query as never)
      },
    }
    const pages = createPageReader(
      watched as never,
      () => new Date(),
      () => {},
      { sortedMax },
    )
    const selection = { ...wholeDataset, modifiedAfter: since }
    const read = (after = '0') => pages.readAfter(permit, selection, after, 2)

    const first = await read()
    const second = await read(first.documents.at(-1)?.[0])
    const third = await read(second.documents.at(-1)?.[0])

    assert.deepEqual(
      [first, second, third].map((page) => [page.documents.length, page.hasMore, page.total]),
      [
        [2, true, 5],
        [2, true, 5],
        [1, false, 5],
      ],
    )
    const documents = [first, second, third].flatMap((page) => page.documents)
    assert.deepEqual(
      documents.map(([, document]) => JSON.parse(document).attributes.plan_name),
      names,
    )
    assert.deepEqual(asked, statements)
  })
}

test('a delta in which nothing is left has no record and a total of 0', async (t) => {
  const { pool, permit } = await withFiveChanged(t)
  const page = await createPageReader(
    pool,
    () => new Date(),
    () => {},
  ).readAfter(permit, { ...wholeDataset, modifiedAfter: permit.state.lastStamp }, '0', 2)
  assert.deepEqual(page, { documents: [], hasMore: false, total: 0 })
})

test('one large page is read for a company at a time, and no other company and no small page waits for it', async (t) => {
  const { world, location, pool, permit } = await withFiveChanged(t)
  const other = await world.tokens.verify(await (await world.addVendor([location])).token())
  const permitOfOther = await permitRead(pool, other, location.id, permit.dataset, { previewOff: false })
  const ends: (() => void)[] = []
  const held = {
    query: async (query: unknown) => {
      await new Promise<void>((end) => ends.push(end))
      return pool.query(query as never)
    },
  }
  const pages = createPageReader(
    held as never,
    () => new Date(),
    () => {},
  )
  const read = (of: typeof permit, items: number) => pages.readAfter(of, wholeDataset, '0', items)

  const all = [read(permit, 5000), read(permit, 5000), read(permitOfOther, 5000)]
  await nextTurn()
  all.push(read(permit, 1000))
  assert.equal(ends.length, 3)
  ends.shift()?.()
  assert.equal((await all[0])?.total, 8)
  await nextTurn()
  assert.equal(ends.length, 3)
  for (const end of ends) end()
  assert.deepEqual(
    (await Promise.all(all)).map((page) => page.documents.length),
    [8, 8, 8, 8],
  )
})

test('a large page that fails lets the next be read', async (t) => {
  const { pool, permit } = await withFiveChanged(t)
  let fails = true
  const failing = {
    query: (query: never) => {
      if (fails) throw new Error('away')
      return pool.query(query)
    },
  }
  const pages = createPageReader(
    failing as never,
    () => new Date(),
    () => {},
  )
  await assert.rejects(pages.readAfter(permit, wholeDataset, '0', 5000), /away/)
  fails = false
  assert.equal((await pages.readAfter(permit, wholeDataset, '0', 5000)).documents.length, 8)
})

/** A location with eight plans of which five were renamed after `since`. */
async function withFiveChanged(t: Parameters<typeof someWorld>[0]) {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 8 })
  const vendor = await world.addVendor([location])
  const token = await world.tokens.verify(await vendor.token())
  const plans = datasetNames.find((name) => name === 'insurance_plans')
  assert.ok(plans)
  const permitNow = () => permitRead(world.pool, token, location.id, plans, { previewOff: false })
  const since = (await permitNow()).state.lastStamp
  const changes = names.map((plan_name, index) => [`p${index + 1}`, aPlan({ plan_name })])
  await location.upload('insurance_plans', Object.fromEntries(changes))
  const permit = await permitNow()
  return { world, location, pool: world.pool, permit, since }
}
