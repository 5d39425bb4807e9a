import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { vendorApiPath } from '@bridgework/contract'
import { packNext } from '../../modules/records/segments/segment-packer.ts'
import { aPlan, aRecord, aSchedule, someWorld, type TestVendor, type TestWorld } from '../../testing/test-world.ts'
import { assertProblem, eventually } from './testing/test-answer.ts'
import { readExport } from './testing/test-export.ts'
import { slotsTaken } from './testing/test-in-flight.ts'

const packAll = async (world: TestWorld) => {
  const options = { checkMs: 0, staleMs: 60_000, runRecords: 250 }
  while ((await packNext(world.pool, world.log, { options })) !== null);
}

/** An export that is read as its test reads it. */
async function openExport(world: TestWorld, vendor: TestVendor, path: string, coding = 'identity') {
  const headers = { authorization: `Bearer ${await vendor.token()}`, 'accept-encoding': coding }
  return await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${world.url}${vendorApiPath}${path}`, { headers }, resolve).on('error', reject)
  })
}

test('S13: an export is what the list says, record by record, from segments and from rows, and is disclosed part by part', async (t) => {
  const world = await someWorld(t, { reader: { partRecords: 500 } })
  const location = await world.addLocation({ insurancePlans: 1_230 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const list = (await vendor.get(`${path}?items=5000`)).body
  await packAll(world)
  // One segment is stale: its records are read.
  await location.upload('insurance_plans', { p300: aPlan({ plan_name: 'Zoë "\\ \u2028 🦷' }), p301: null })
  const { data, meta } = (await vendor.get(`${path}?items=5000`)).body
  await world.disclosures.flush()
  const { rows: before } = await world.pool.query('select coalesce(max(id), 0) as id from disclosure')

  for (const coding of ['gzip', 'identity', 'zstd', 'zstd, gzip']) {
    const answer = await openExport(world, vendor, `${path}/export`, coding)
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const isPacked = coding.includes('gzip')
    assert.equal(answer.headers['content-encoding'], isPacked ? 'gzip' : undefined)
    const lines = (isPacked ? gunzipSync(bytes) : bytes).toString().split('\n')
    assert.equal(lines.pop(), '')
    const last = JSON.parse(lines.pop() ?? '')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      data,
      coding,
    )
    assert.deepEqual(last.meta, {
      has_more: false,
      next_after: null,
      records: 1_230,
      next_fetch_modified_since: meta.next_fetch_modified_since,
      epoch: meta.epoch,
      freshness: meta.freshness,
      request_id: answer.headers['x-request-id'],
    })
    assert.equal(answer.headers['x-next-fetch-modified-since'], meta.next_fetch_modified_since)
    assert.deepEqual([answer.headers['x-total'], answer.headers['cache-control']], ['1230', 'no-store'])
  }
  assert.notDeepEqual(data, list.data)
  const { rows } = await world.pool.query(
    'select after_id, last_id, record_ids, records, filters from disclosure where id > $1 order by id limit 3',
    [before[0]?.id],
  )
  const ids = ['0', ...data.map(({ id }) => id)]
  const part = (after: number, records: number) => {
    return { after_id: ids[after], last_id: ids[after + records], record_ids: null, records, filters: {} }
  }
  assert.deepEqual(rows, [part(0, 500), part(500, 500), part(1_000, 230)])

  const token = await vendor.token()
  const curl = ['-s', '--max-time', '10', '-H', `Authorization: Bearer ${token}`, '-H', 'Accept-Encoding: gzip']
  const address = `${world.url}${vendorApiPath}${path}/export`
  const { stdout: file } = await promisify(execFile)('sh', ['-c', 'curl "$@" | gzip -dc', 'sh', ...curl, address], {
    maxBuffer: 2 ** 26,
  })
  assert.deepEqual(
    file
      .split('\n')
      .slice(0, -2)
      .map((line) => JSON.parse(line)),
    data,
  )
})

test('a part of an export with documents before, between and after its segments has each record once, in order', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1_230 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  await packAll(world)
  // The first and the third segment of four are stale, and 230 records are in none.
  await location.upload('insurance_plans', { p1: null, p600: aPlan({ plan_name: 'Changed' }) })
  const { data } = (await vendor.get(`${path}?items=5000`)).body

  const { records, meta } = await readExport(vendor, `${path}/export`)

  assert.deepEqual(records, data)
  assert.equal(meta?.records, 1_230)
})

test('an export goes on after any record, with the rest, and says then no moment that a delta may begin with', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 5 })
  const vendor = await world.addVendor([location])
  const path = `/locations/${location.id}/insurance_plans`
  const { data } = (await vendor.get(path)).body
  const rest = await readExport(vendor, `${path}/export?after=${data[1]?.id}`)
  assert.deepEqual(rest.records, data.slice(2))
  assert.deepEqual([rest.meta?.records, rest.meta?.next_fetch_modified_since, rest.watermark], [3, null, null])
  const end = await readExport(vendor, `${path}/export?after=${data[4]?.id}`)
  assert.deepEqual([end.records, end.meta?.has_more, end.meta?.records], [[], false, 0])
})

test('datasets by page number are exported too, and a company with notes gets them', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const [plain, noted] = [await world.addVendor([location]), await world.addVendor()]
  await world.grant(noted.companyId, location, ['appointments'], { notes: true })
  await location.upload('fee_schedules', { s1: aSchedule(), s2: aSchedule({ name: 'Other' }) })
  const record = aRecord('appointments', { note: 'Call before.' })
  await location.upload('appointments', Object.fromEntries(Array.from({ length: 300 }, (_, index) => [index, record])))
  await packAll(world)
  const schedules = `/locations/${location.id}/fee_schedules`
  assert.deepEqual((await readExport(plain, `${schedules}/export`)).records, (await plain.get(schedules)).body.data)
  const notesIn = async (vendor: TestVendor) => {
    const { records } = await readExport(vendor, `/locations/${location.id}/appointments/export`)
    return records.filter(({ attributes }) => attributes.note === 'Call before.').length
  }
  assert.deepEqual([await notesIn(plain), await notesIn(noted)], [0, 300])
})

test('filters and fields are refused with the list that takes them', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 1 })
  const vendor = await world.addVendor([location])
  for (const query of ['items=5', 'q[fetch_modified_since]=2026-01-01T00:00:00Z', 'fields[insurance_plan]=plan_name']) {
    const refused = await vendor.get(`/locations/${location.id}/insurance_plans/export?${query}`)
    assertProblem(refused, 'parameter_invalid')
    assert.match(refused.body.errors, /Accepted: after\. .* use the list insurance_plans\.$/)
  }
  assertProblem(await vendor.get(`/locations/${location.id}/insurance_plans/export?after=x`), 'parameter_invalid')
})

/** A company with one slot, a large location and a small one, and what the reader of an export waits for. */
async function withLargeExport(t: Parameters<typeof someWorld>[0], reader: object) {
  const world = await someWorld(t, { limits: { initial: 1, incremental: 1 }, reader })
  const [large, small] = [await world.addLocation(), await world.addLocation({ insurancePlans: 1 })]
  const long = 'x'.repeat(500)
  const plan = aPlan({ plan_name: long, group_number: long, carrier_name: long, payer_id: long, employer_name: long })
  const plans = Array.from({ length: 4_000 }, (_, index) => [`p${index}`, plan])
  assert.equal((await large.upload('insurance_plans', Object.fromEntries(plans))).status, 200)
  const vendor = await world.addVendor([large, small])
  const askSmall = () => vendor.get(`/locations/${small.id}/insurance_plans`)
  const cuts = () => world.events.flatMap((event) => (event.event === 'response.cut' ? [event.because] : []))
  return { world, vendor, large, path: `/locations/${large.id}/insurance_plans/export`, askSmall, cuts }
}

test('C16: an export holds one initial slot; a reader that stalls is cut, which frees it, and what it read can be gone on with', async (t) => {
  const { world, vendor, path, askSmall, cuts } = await withLargeExport(t, { stallMs: 800, partRecords: 1_000 })
  const answer = await openExport(world, vendor, path)
  answer.pause()
  assertProblem(await askSmall(), 'sync_slots_exceeded')
  await eventually(async () => (await slotsTaken(world)) === 0, 10_000, 'the stalled reader is cut')
  assert.deepEqual(cuts(), ['stalled'])
  assert.equal((await askSmall()).status, 200)
  await assert.rejects(async () => {
    for await (const _ of answer);
  })
})

test('an export to a slow reader ends by itself, says where it goes on, and is never held longer than a page', async (t) => {
  const deadlineMs = 4_000
  const { world, vendor, path, cuts } = await withLargeExport(t, { deadlineMs, partRecords: 200 })
  let after = '0'
  const ids: string[] = []
  for (let count = 0; ; count += 1) {
    const answer = await openExport(world, vendor, `${path}?after=${after}`)
    const lines: string[] = ['']
    for await (const chunk of answer) {
      const [first = '', ...more] = String(chunk).split('\n')
      lines[lines.length - 1] += first
      // Slow at first, until the export may send no further part; then it has the rest of the time to take what was sent.
      if (count === 0 && lines.length === 1) await sleep(deadlineMs * 0.75)
      lines.push(...more)
    }
    assert.equal(lines.pop(), '')
    const { meta } = JSON.parse(lines.pop() ?? '')
    ids.push(...lines.map((line) => JSON.parse(line).id))
    if (!meta.has_more) break
    assert.equal(meta.next_after, ids.at(-1))
    after = meta.next_after
  }
  assert.notEqual(after, '0', 'the first one ended before the dataset')
  assert.equal(new Set(ids).size, 4_000)
  assert.deepEqual([ids.length, cuts()], [4_000, []])
})

test('a grant that ends while an export is sent ends it before the next part, without its last line', async (t) => {
  const { world, vendor, large, path } = await withLargeExport(t, { partRecords: 100 })
  const answer = await openExport(world, vendor, path)
  answer.pause()
  await world.revoke(vendor.companyId, large)
  let text = ''
  await assert.rejects(async () => {
    for await (const chunk of answer) text += chunk
  })
  assert.equal(text.includes('"meta"'), false)
  await eventually(async () => (await slotsTaken(world)) === 0, 2_000, 'the slot is free')
  assertProblem(await vendor.get(path), 'location_denied')
})
