import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { get } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { vendorApiPath } from '@bridgework/contract'
import { packNext } from '../../../modules/records/segments/segment-packer.ts'
import { openConnection, readAnswers } from '../../../platform/http/testing/test-connection.ts'
import { aPlan, aRecord, type Body, someWorld, type TestWorld } from '../../../testing/test-world.ts'
import { parseExport } from '../testing/test-export.ts'

const options = { checkMs: 0, staleMs: 60_000, runRecords: 250 }
const packAll = async (world: TestWorld, changed = {}) => {
  while ((await packNext(world.pool, world.log, { options: { ...options, ...changed } })) !== null);
}

test('a page of segments says what a page of records says, in each coding, and is disclosed in the same way', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 620 })
  const vendor = await world.addVendor([location])
  const list = `/locations/${location.id}/insurance_plans`
  const token = await vendor.token()
  const read = async (query: string, coding: string) => {
    const { bytes, encoding } = await readBytes(`${world.url}${vendorApiPath}${list}?${query}`, token, coding)
    assert.equal(encoding, coding === 'identity' ? undefined : coding)
    const unpack = { gzip: gunzipSync, zstd: zstdDecompressSync, identity: (body: Buffer) => body }[coding]
    return { bytes, text: unpack?.(bytes).toString() ?? '' }
  }
  const queries = ['items=5000', 'items=500', 'items=620', 'items=400', 'items=250&after=', 'items=300&after=']
  const ids = (JSON.parse((await read('items=5000', 'identity')).text) as Body).data.map(({ id }) => id)
  const asked = queries.map((query) =>
    query.endsWith('=') ? `${query}${ids[query.includes('250') ? 249 : 100]}` : query,
  )
  const before = await Promise.all(asked.map((query) => read(query, 'gzip')))
  await packAll(world)
  await world.disclosures.flush()
  const { rows: last } = await world.pool.query('select coalesce(max(id), 0) as id from disclosure')

  for (const [index, query] of asked.entries()) {
    for (const coding of ['gzip', 'zstd', 'identity']) {
      const { text } = await read(query, coding)
      assert.deepEqual(content(text), content(before[index]?.text ?? ''), `${query} ${coding}`)
    }
  }
  const { rows: segments } = await world.pool.query<{ data: Buffer }>('select data from segment order by last_id')
  assert.equal(segments.length, 2)
  const { bytes } = await read('items=5000', 'gzip')
  for (const { data } of segments) assert.ok(bytes.includes(data), 'the segment is sent as it is stored')

  const curl = promisify(execFile)(
    'curl',
    [
      ...['-s', '--compressed', '--max-time', '10', '-H', `Authorization: Bearer ${token}`],
      `${world.url}${vendorApiPath}${list}?items=5000`,
    ],
    { maxBuffer: 2 ** 26 },
  )
  assert.deepEqual(content((await curl).stdout), content(before[0]?.text ?? ''))

  const { rows: disclosed } = await world.pool.query(
    'select after_id, last_id, record_ids, records from disclosure where id > $1 order by id limit $2',
    [last[0]?.id, 3 * asked.length],
  )
  const expected = asked.map((query, index) => {
    const page = JSON.parse(before[index]?.text ?? '') as Body
    const after = new URLSearchParams(query).get('after') ?? '0'
    return { after_id: after, last_id: page.data.at(-1)?.id, record_ids: null, records: page.data.length }
  })
  assert.deepEqual(
    disclosed,
    expected.flatMap((entry) => [entry, entry, entry]),
  )
})

test('a change is in the next page, before and after it was packed again, and a segment is not packed for each change', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 500 })
  const vendor = await world.addVendor([location])
  const names = async () => {
    const { body } = await vendor.get(`/locations/${location.id}/insurance_plans?items=500`)
    return body.data.map(({ attributes }) => (attributes.is_hidden ? 'hidden' : attributes.plan_name))
  }
  const stale = async () => {
    const { rows } = await world.pool.query('select from segment where stale_since is not null')
    return rows.length
  }
  await packAll(world)
  await location.upload('insurance_plans', { p7: aPlan({ plan_name: 'Renamed' }), p400: null })
  const expected = (await names()).map((name, index) => (index === 6 ? 'Renamed' : index === 399 ? 'hidden' : name))
  assert.deepEqual(await names(), expected)
  assert.ok(expected.includes('Renamed') && expected.includes('hidden'))
  await packAll(world)
  assert.equal(await stale(), 2, 'marked, and left for a while')
  assert.deepEqual(await names(), expected)
  await world.pool.query('update segment_due set due_at = now()')
  await packAll(world, { staleMs: 0 })
  assert.equal(await stale(), 0)
  assert.deepEqual(await names(), expected)
  // As after a crash of the database.
  await world.ownerPool.query('truncate segment, segment_state, segment_due, segment_search')
  assert.deepEqual(await names(), expected)
  await packAll(world)
  assert.deepEqual(await names(), expected)
})

test('a company with notes reads them though others’ pages are segments, which hold none; without a grant neither is read', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const [plain, noted] = [await world.addVendor([location]), await world.addVendor()]
  await world.grant(noted.companyId, location, ['appointments'], { notes: true })
  const record = aRecord('appointments', { note: 'Call before.' })
  await location.upload('appointments', Object.fromEntries(Array.from({ length: 300 }, (_, index) => [index, record])))
  await packAll(world)
  const list = `/locations/${location.id}/appointments?items=300`
  const notesIn = ({ data }: Body) => data.filter(({ attributes }) => attributes.note === 'Call before.').length
  assert.equal(notesIn((await plain.get(list)).body), 0)
  assert.equal(notesIn((await noted.get(list)).body), 300)
  const { rows } = await world.pool.query<{ data: Buffer }>('select data from segment')
  assert.equal(rows.length, 1)
  assert.equal((await (await world.addVendor()).get(list)).status, 403)
})

test('X04: pages and exports that are asked for before the last one was read are each whole, with their own records', async (t) => {
  const world = await someWorld(t, { reader: { partRecords: 250 } })
  const location = await world.addLocation({ insurancePlans: 1_300 })
  const vendor = await world.addVendor([location])
  await packAll(world)
  const list = `${vendorApiPath}/locations/${location.id}/insurance_plans`
  const token = await vendor.token()
  const whole = (await vendor.get(`/locations/${location.id}/insurance_plans?items=5000`)).body.data
  const pages = [0, 250, 500, 750, 1_000].map((from) => `${list}?items=250&after=${whole[from - 1]?.id ?? 0}`)
  const asked = Array.from({ length: 4 }, () =>
    ['gzip', 'identity'].flatMap((coding) => pages.map((path) => ({ path, coding }))),
  ).flat()
  // Nothing is read until all are asked for; the answers fill what the system holds, and then wait in the process.
  const sockets = await Promise.all([1, 2, 3].map(() => openConnection(t, world.port)))
  const answered = sockets.map((socket) => {
    const texts = asked.map(
      ({ path, coding }) =>
        `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nAccept-Encoding: ${coding}\r\n\r\n`,
    )
    socket.pause()
    socket.write(texts.join(''))
    return readAnswers(socket, asked.length)
  })
  const exports = ['gzip', 'identity', 'gzip'].map((coding) => readBytes(`${world.url}${list}/export`, token, coding))
  await sleep(200)
  for (const socket of sockets) socket.resume()
  for (const answers of await Promise.all(answered)) {
    for (const [index, { status, headers, body }] of answers.entries()) {
      assert.equal(status, 200, body.toString())
      const text = headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body
      const from = 250 * (index % pages.length)
      assert.deepEqual((JSON.parse(text.toString()) as Body).data, whole.slice(from, from + 250))
    }
  }
  for (const { bytes, encoding } of await Promise.all(exports)) {
    const text = encoding === 'gzip' ? gunzipSync(bytes) : bytes
    assert.deepEqual(parseExport(text.toString()).records, whole)
  }
})

/** All that does not differ from request to request. */
function content(text: string) {
  const { data, pagy, meta } = JSON.parse(text) as Body
  return { data, pagy, meta: { ...meta, request_id: '' } }
}

/** The body as it came, which `fetch` would unpack. */
function readBytes(
  url: string,
  token: string,
  coding: string,
): Promise<{ bytes: Buffer; encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': coding }
    get(url, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      response.on('end', () => {
        resolve({ bytes: Buffer.concat(chunks), encoding: response.headers['content-encoding'] })
      })
    }).on('error', reject)
  })
}
