import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aSchedule, someWorld } from '../../../testing/test-world.ts'
import { assertProblem } from '../testing/test-answer.ts'

/** A company with one location: seven plans (cursor mode), seven fee schedules (page mode); and the lists of both modes. */
async function withLists(t: TestContext) {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 7 })
  const schedules = Array.from({ length: 7 }, (_, index) => [`s${index}`, aSchedule({ name: `S${index}` })])
  await location.upload('fee_schedules', Object.fromEntries(schedules))
  const vendor = await world.addVendor([location])
  const cursor = `/locations/${location.id}/insurance_plans`
  const numbered = `/locations/${location.id}/fee_schedules`
  return { world, location, vendor, cursor, numbered, directory: ['/locations', '/organizations'] }
}

test('P01: items above 5000 are capped and never refused, on every list', async (t) => {
  const { vendor, cursor, numbered, directory } = await withLists(t)
  for (const list of [cursor, numbered, ...directory]) {
    for (const items of ['5000', '5001', '99999999', '1234567890123456789']) {
      const answer = await vendor.get(`${list}?items=${items}`)
      assert.deepEqual([answer.status, answer.body.pagy.items], [200, 5000], `${list} ${items}`)
    }
    assert.equal((await vendor.get(list)).body.pagy.items, 100)
    assert.equal((await vendor.get(`${list}?items=1`)).body.data.length, 1)
  }
})

test('P02, P03, P06, P07: a parameter that cannot be is refused by name, on every list, and never ignored', async (t) => {
  const { vendor, cursor, numbered, directory } = await withLists(t)
  const refused: [lists: string[], query: string, text: RegExp][] = []
  const all = [cursor, numbered, ...directory]
  for (const items of ['0', '-1', '1.5', '1e3', '0x10', '%205', '5;', '', 'null', 'NaN', '9'.repeat(20), '%EF%BC%95']) {
    refused.push([all, `items=${items}`, /^items must be a whole number of at least 1/])
  }
  for (const after of ['-1', 'abc', '1e3', '0x10', '', '%00', '9'.repeat(20), '9223372036854775808']) {
    refused.push([[cursor], `after=${after}`, /^after must be a non-negative integer/])
  }
  for (const page of ['0', '-1', '1.5', 'abc', '', '9007199254740991&items=5000']) {
    refused.push([[numbered, ...directory], `page=${page}`, /^page must be a whole number of at least 1/])
  }
  refused.push(
    [all, 'foo=1', /^Unknown parameter "foo"\. Accepted: .*items/],
    [all, 'q[x]=1', /^Unknown parameter "q\[x\]"/],
    [all, 'Items=1', /^Unknown parameter "Items"/],
    [all, 'items=1&items=1', /^Parameter items occurs more than once/],
    [[cursor], 'page=2', /^Unknown parameter "page"\. Accepted: after, items, q\[fetch_modified_since\]/],
    [[numbered], 'after=2', /^Unknown parameter "after"\. Accepted: page, items, q\[fetch_modified_since\]/],
    [directory, 'after=2', /^Unknown parameter "after"/],
    [directory, 'q[fetch_modified_since]=2024-01-01T00:00:00Z', /^Unknown parameter/],
  )
  for (const [lists, query, text] of refused) {
    for (const list of lists) assertProblem(await vendor.get(`${list}?${query}`), 'parameter_invalid', text)
  }
})

test('P04, P07: a cursor or page number beyond, before or between the records is answered', async (t) => {
  const { world, location, vendor, cursor, numbered, directory } = await withLists(t)
  const ids = (await vendor.get(cursor)).body.data.map(({ id }) => id)
  const idsAfter = async (after: string) => {
    const answer = await vendor.get(`${cursor}?after=${after}`)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.pagy.total, 7, 'total does not depend on the cursor')
    return answer.body.data.map(({ id }) => id)
  }
  assert.deepEqual(await idsAfter('0'), ids)
  assert.deepEqual(await idsAfter(ids[2] ?? ''), ids.slice(3))
  assert.deepEqual(await idsAfter(ids[6] ?? ''), [])
  assert.deepEqual(await idsAfter('9223372036854775807'), [])
  // Ids are of all locations: another one's next ones lie between this one's, and are never shown.
  await world.addLocation({ insurancePlans: 3 })
  await location.upload('insurance_plans', { p3: null })
  assert.deepEqual(await idsAfter(String(BigInt(ids[6] ?? 0) + 1n)), [])
  assert.deepEqual(await idsAfter(ids[2] ?? ''), ids.slice(3), 'a removed record’s id is a cursor as before')
  for (const list of [numbered, ...directory]) {
    const beyond = await vendor.get(`${list}?page=9`)
    assert.deepEqual([beyond.status, beyond.body.data, beyond.body.meta.has_more], [200, [], false])
    assert.equal(beyond.headers.get('link'), null)
  }
})

test('the Link header leads through every page, with its filters, and only the first page has the watermark', async (t) => {
  const { vendor, cursor, numbered } = await withLists(t)
  for (const list of [cursor, numbered]) {
    for (const filter of ['', '&q[fetch_modified_since]=1970-01-01T00:00:00.000001%2B00:00']) {
      const seen: string[] = []
      const watermarks: unknown[] = []
      for (let next: string | undefined = `?items=3${filter}`; next; ) {
        const answer = await vendor.get(list + next)
        assert.equal(answer.status, 200, answer.text)
        seen.push(...answer.body.data.map(({ id }) => id))
        watermarks.push(answer.body.meta.next_fetch_modified_since)
        next = /^<(\?.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
        assert.equal(next !== undefined, answer.body.meta.has_more)
      }
      assert.equal(seen.length, 7)
      assert.equal(new Set(seen).size, 7)
      assert.match(String(watermarks[0]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      assert.deepEqual(watermarks.slice(1), [null, null])
    }
  }
})

test('P10: one instant in all its spellings gives the same delta', async (t) => {
  const { location, vendor, cursor, numbered } = await withLists(t)
  await location.upload('insurance_plans', { p2: null })
  const spellings = [
    'q[fetch_modified_since]=2024-01-01T00:00:00Z',
    'q%5Bfetch_modified_since%5D=2024-01-01T00%3A00%3A00Z',
    'q[fetch_modified_since]=2024-01-01T00:00:00.000Z',
    'q[fetch_modified_since]=2024-01-01T02:00:00%2B02:00',
    'q[fetch_modified_since]=2023-12-31T18:30:00.000000000-05:30',
  ]
  for (const list of [cursor, numbered]) {
    const answers = await Promise.all(spellings.map((query) => vendor.get(`${list}?${query}`)))
    for (const { status, body } of answers) {
      assert.deepEqual([status, body.data, body.pagy], [200, answers[0]?.body.data, answers[0]?.body.pagy])
    }
    assert.equal(answers[0]?.body.data.length, 7)
  }
})

test('P11, P13, P15, P16, P17: a moment that is none is refused and never becomes a full sync', async (t) => {
  const { vendor, cursor, numbered } = await withLists(t)
  const moments = [
    ...['2024-02-30T00:00:00Z', '2023-02-29T00:00:00Z', '2024-13-01T00:00:00Z', '2024-00-01T00:00:00Z'],
    ...['2024-01-01T25:00:00Z', '2024-01-01T12:60:00Z', '2024-01-01T12:00:60Z', '2024-01-01T12:00:00'],
    ...['2024-01-01', '1704067200', 'now', 'infinity', '', '1969-12-31T23:59:59Z', 'America/New_York'],
  ]
  for (const list of [cursor, numbered]) {
    for (const moment of moments) {
      const answer = await vendor.get(`${list}?q[fetch_modified_since]=${moment}`)
      assertProblem(answer, 'parameter_invalid', /^q\[fetch_modified_since\] must be an RFC 3339 date-time/)
    }
    const plus = await vendor.get(`${list}?q[fetch_modified_since]=2024-01-01T00:00:00+02:00`)
    assertProblem(plus, 'parameter_invalid', /"\+" in a query must be written as %2B/)
    const ahead = new Date(Date.now() + 6 * 60_000).toISOString()
    const future = await vendor.get(`${list}?q[fetch_modified_since]=${ahead}`)
    assertProblem(future, 'parameter_invalid', /the server's time is \d{4}-\d\d-\d\dT/)
    const { next_fetch_modified_since: own } = (await vendor.get(list)).body.meta
    assert.equal((await vendor.get(`${list}?q[fetch_modified_since]=${own}`)).status, 200, 'its own is always accepted')
    const since = 'q[fetch_modified_since]=2024-01-01T00:00:00Z'
    const shapes = [
      ...['q=2024-01-01T00:00:00Z', 'q[]=2024-01-01T00:00:00Z', 'q[x]=2024-01-01T00:00:00Z', `${since}&${since}`],
      ...['q[fetch_modified_since][a]=2024-01-01T00:00:00Z', `q${'[a]'.repeat(1_000)}=1`, 'fetch_modified_since=1'],
    ]
    for (const shape of shapes) {
      assertProblem(await vendor.get(`${list}?${shape}`), 'parameter_invalid', /Unknown parameter|more than once/)
    }
  }
})
