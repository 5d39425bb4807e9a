import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { whenStarted } from '../../sandbox/demo-practices.ts'
import { someDemoPractices } from '../../sandbox/testing/test-demo-practices.ts'
import { someWorld } from '../../testing/test-world.ts'

describe('the sandbox API', () => {
  let made: Awaited<ReturnType<typeof someSandbox>>
  const endings: (() => unknown)[] = []
  before(async () => {
    made = await someSandbox({ after: (work) => void endings.unshift(work) })
  })
  after(async () => {
    for (const end of endings) await end()
  })
  const sandbox = () => made

  test('a vendor orders faults for its next requests, and for a single one in a header; other vendors have none', async () => {
    const { vendor, other, act, state } = sandbox()
    assert.equal((await act(vendor, { action: 'fault', fault: '429', requests: 2 })).status, 200)
    assert.deepEqual((await state(vendor)).fault, { fault: '429', requests_left: 2 })
    assert.equal((await other.get('/locations')).status, 200)
    for (const status of [429, 429, 200]) {
      const answer = await vendor.get('/locations')
      assert.equal(answer.status, status)
      assert.equal(answer.headers.get('retry-after'), status === 429 ? '2' : null)
    }
    assert.equal((await state(vendor)).fault, null)

    for (const [fault, status, code] of [
      ['503', 503, 'unavailable'],
      ['401', 401, 'token_invalid'],
      ['teapot', 422, 'parameter_invalid'],
      ['slow:99999', 422, 'parameter_invalid'],
    ] as const) {
      const answer = await vendor.get('/locations', { 'x-sandbox-fault': fault })
      assert.deepEqual([answer.status, answer.body.code], [status, code])
    }
    const beganAt = performance.now()
    assert.equal((await vendor.get('/locations', { 'x-sandbox-fault': 'slow:300' })).status, 200)
    assert.ok(performance.now() - beganAt >= 295)
    for (const bytes of [0, 20]) await assert.rejects(vendor.get('/locations', { 'x-sandbox-fault': `cut:${bytes}` }))
    assert.equal((await vendor.get('/locations', { 'x-sandbox-fault': 'cut:9999999' })).status, 200)

    await act(vendor, { action: 'fault', fault: '503', requests: 5 })
    await act(vendor, { action: 'clear_faults' })
    assert.equal((await vendor.get('/locations')).status, 200)
  })

  test('a vendor gets tokens of a minute, and ends and gives its grant', async () => {
    const { world, vendor, act, state } = sandbox()
    await act(vendor, { action: 'token_lifetime', seconds: 60 })
    assert.equal((await state(vendor)).token_lifetime_seconds, 60)
    const { token } = (
      await world.request('/api/v1/vendors/auth/token', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_id: vendor.clientId, client_secret: vendor.clientSecret }),
      })
    ).body
    const { iat, exp } = JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString())
    assert.equal(exp - iat, 60)

    await act(vendor, { action: 'end_grant' })
    assert.deepEqual((await vendor.get('/locations')).body.data, [])
    assert.deepEqual((await state(vendor)).practice.datasets_granted, [])
    await act(vendor, { action: 'give_grant' })
    assert.equal((await vendor.get('/locations')).body.data.length, 3)
  })

  test('a vendor changes, removes and brings back records, renames a carrier, holds a removal, and resets its practice', async () => {
    const { vendor, other, act, state } = sandbox()
    const rowsOf = async (body: object) => {
      const { meta } = (await act(vendor, body)).body
      return Number('rows' in meta ? meta.rows : Number.NaN)
    }
    const idsOf = async (each: typeof vendor) => (await each.get('/locations')).body.data.map(({ id }) => id)
    const plans = async () => {
      const pages = (await idsOf(vendor)).map((id) => vendor.get(`/locations/${id}/insurance_plans?items=5000`))
      return (await Promise.all(pages)).flatMap(({ body }) => body.data)
    }
    const carriersOf = async () => new Set((await plans()).map(({ attributes }) => attributes.carrier_name))
    const hidden = async () => (await plans()).filter(({ attributes }) => attributes.is_hidden).length

    assert.equal(await rowsOf({ action: 'change', records: 5 }), 5)
    const before = await hidden()
    assert.equal(await rowsOf({ action: 'remove', records: 3 }), 3)
    assert.ok((await hidden()) >= before + 2)
    assert.equal(await rowsOf({ action: 'bring_back' }), 3)
    const carriers = await carriersOf()
    assert.equal(await rowsOf({ action: 'rename_carrier' }), 1)
    assert.equal([...(await carriersOf())].filter((name) => !carriers.has(name)).length, 1)

    const people = async () => {
      const pages = (await idsOf(vendor)).map((id) => vendor.get(`/locations/${id}/patients?items=5000`))
      return (await Promise.all(pages)).flatMap(({ body }) => body.data)
    }
    const merged = async () => (await people()).filter(({ attributes }) => attributes.status === 'merged')
    const mergedBefore = new Set((await merged()).map(({ id }) => id))
    assert.ok((await rowsOf({ action: 'merge' })) > 1)
    const mergedNow = (await merged()).filter(({ id }) => !mergedBefore.has(id))
    assert.ok(mergedNow.length > 0)
    const known = new Set((await people()).map(({ id }) => id))
    for (const { attributes } of mergedNow) assert.ok(known.has(String(attributes.merged_into_id)))

    const held = async () => {
      const statuses = await Promise.all((await idsOf(vendor)).map((id) => vendor.get(`/locations/${id}/sync_status`)))
      return statuses.flatMap(({ body }) => body.data).filter(({ attributes }) => attributes.removal_held !== null)
        .length
    }
    assert.ok((await rowsOf({ action: 'hold_removal' })) >= 10)
    await until(async () => (await held()) === 1)
    await act(vendor, { action: 'bring_back' })
    await until(async () => (await held()) === 0)

    await act(vendor, { action: 'silence', minutes: 30 })
    assert.ok(Date.parse((await state(vendor)).practice.silent_until) > Date.now() + 25 * 60_000)
    const ids = await idsOf(vendor)
    const otherIds = await idsOf(other)
    assert.equal((await act(vendor, { action: 'reset' })).status, 200)
    assert.ok((await idsOf(vendor)).every((id) => !ids.includes(id)))
    assert.deepEqual(await idsOf(other), otherIds)
  })

  test('the sandbox is driven with a token, with actions of the list, and by a vendor with a practice', async () => {
    const { world, vendor, act, practices } = sandbox()
    assert.equal((await world.request('/sandbox/v1')).status, 401)
    for (const body of [
      { action: 'explode' },
      { action: 'change' },
      { action: 'change', records: 1, more: true },
      null,
    ]) {
      const answer = await act(vendor, body)
      assert.deepEqual([answer.status, answer.body.code], [422, 'field_invalid'])
    }
    const late = await world.addVendor()
    assert.equal((await act(late, { action: 'clear_faults' })).body.code, 'sandbox_practice_unknown')
    const demo = { ...practices, find: async () => ({ organizationId: '1' as never, isOwn: false }) }
    const shared = await world.anotherServer({ practices: demo })
    const authorization = `Bearer ${await vendor.token()}`
    const reset = await world.request('/sandbox/v1/actions', {
      on: shared.url,
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"action":"reset"}',
    })
    assert.deepEqual([reset.status, reset.body.code], [409, 'sandbox_reset_denied'])
    const starting = await world.anotherServer({ practices: whenStarted(() => null) })
    const early = await world.request('/sandbox/v1', { on: starting.url, headers: { authorization } })
    assert.deepEqual([early.status, early.body.code], [503, 'sandbox_busy'])
  })

  test('production has no sandbox API, and its vendor API obeys no header of it', async () => {
    const { world, vendor, practices } = sandbox()
    const production = await world.anotherServer({ environment: 'production', practices })
    const headers = { authorization: `Bearer ${await vendor.token()}`, 'x-sandbox-fault': '503' }
    const on = production.url
    assert.equal((await world.request('/sandbox/v1', { on, headers })).body.code, 'route_unknown')
    assert.equal((await world.request('/sandbox/v1/actions', { on, headers, method: 'POST' })).status, 404)
    assert.equal((await world.request('/api/v1/vendors/locations', { on, headers })).status, 200)
  })
})

/** Two vendors with a practice each, once for all tests of this file: what a vendor orders is its own. */
async function someSandbox(t: { after: (work: () => unknown) => void }) {
  const { practices, start } = someDemoPractices()
  const world = await someWorld(t, { practices })
  const [vendor, other] = [await world.addVendor(), await world.addVendor()]
  await start(t, world)
  const bearer = async (each: typeof vendor) => ({ authorization: `Bearer ${await each.token()}` })
  return {
    ...{ world, vendor, other, practices },
    act: async (each: typeof vendor, body: unknown) =>
      await world.request('/sandbox/v1/actions', {
        method: 'POST',
        headers: { ...(await bearer(each)), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    // The answer of our own route, whose shape is the contract's.
    state: async (each: typeof vendor) =>
      (await world.request('/sandbox/v1', { headers: await bearer(each) })).body.data as unknown as State,
  }
}

type State = {
  practice: { datasets_granted: string[]; silent_until: string }
  fault: object | null
  token_lifetime_seconds: number
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(120_000)
  while (!(await isSo())) await sleep(50, undefined, { signal: deadline })
}
