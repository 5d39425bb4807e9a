import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { openStoredLookup } from '../../modules/records/write/as-stored.ts'
import { hashRecords, savePackedBody } from '../../modules/records/write/packed-body.ts'
import { storeUpload } from '../../modules/records/write/upload.ts'
import { aPlan, aRecord, someWorld, toNdjson } from '../../testing/test-world.ts'

const plans = (from: number, to: number, name = 'Plan') =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, index) => [
      `p${from + index}`,
      aPlan({ plan_name: `${name} ${from + index}` }),
    ]),
  )

/** A location to which plans are uploaded, and how each upload ended: whether its body was known, and so not unpacked. */
async function someUploads(t: Parameters<typeof someWorld>[0]) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const { pool } = world
  const query = async (text: string) => (await pool.query(text, [location.id])).rows
  const upload = async (records: Record<string, object | null>) => {
    // A known body's number keeps the hash that was stored with it.
    await query(`update packed_body set unpacked_sha256 = '\\x00' where location_id = $1`)
    const { status, body } = await location.upload('insurance_plans', records)
    assert.equal(status, 200, JSON.stringify(body))
    const [last] = await query('select body_hash from upload where location_id = $1 order by number desc limit 1')
    return { ...body, isKnown: last?.body_hash.equals(Buffer.from([0])) }
  }
  const stored = () =>
    query(
      `select source_id, is_hidden, modified_at, encode(source_hash, 'hex') as hash from record where location_id = $1 order by id`,
    )
  return { world, location, upload, stored, query }
}

const unchanged = (count: number) => ({ inserted: 0, changed: 0, hidden: 0, unchanged: count })

test('a body that comes again is known by its bytes while all of its lines are stored just so, and not otherwise', async (t) => {
  const { upload, stored } = await someUploads(t)
  const body = plans(0, 600)
  assert.deepEqual(await upload(body), { ...unchanged(0), inserted: 600, isKnown: false })
  const before = await stored()
  assert.deepEqual(await upload(body), { ...unchanged(600), isKnown: true })
  assert.deepEqual(await upload(plans(0, 599)), { ...unchanged(599), isKnown: false })
  assert.deepEqual(
    await upload(body),
    { ...unchanged(600), isKnown: false },
    'another one that begins so took its place',
  )
  assert.deepEqual(await upload(body), { ...unchanged(600), isKnown: true })
  assert.deepEqual(await stored(), before)

  for (const [name, other, answer] of [
    ['changed', { p300: aPlan({ plan_name: 'Renamed' }) }, { changed: 1 }],
    ['hidden', { p300: null }, { changed: 1 }],
    ['the first is changed', { p0: aPlan({ plan_name: 'Renamed' }) }, { changed: 1 }],
    ['another is new', plans(700, 701), { changed: 0, isKnown: true }],
  ] as const) {
    await upload(other)
    const again = { ...unchanged(600 - answer.changed), isKnown: false, ...answer }
    assert.deepEqual(await upload(body), again, name)
    assert.deepEqual(await upload(body), { ...unchanged(600), isKnown: true }, name)
  }
})

test('bodies that overlap, small ones, and ones whose records are removed or no neighbours', async (t) => {
  const { upload, query } = await someUploads(t)
  const bodies = async () => (await query('select first_id from packed_body where location_id = $1')).length
  await upload(plans(0, 1_000))
  await upload(plans(1_000, 2_000))
  assert.equal(await bodies(), 2)
  assert.equal((await upload(plans(500, 1_500))).isKnown, false)
  assert.equal(await bodies(), 2, 'what begins within it went')
  assert.equal((await upload(plans(500, 1_500))).isKnown, true)

  const small = plans(0, 20)
  await upload(small)
  assert.equal((await upload(small)).isKnown, false)
  const removing = { ...plans(3_000, 3_600), p3300: null }
  await upload(removing)
  assert.deepEqual(await upload(removing), { ...unchanged(600), isKnown: false })
  const backwards = Object.fromEntries(Object.entries(plans(0, 1_000)).toReversed())
  const everySecond = Object.fromEntries(Object.entries(plans(0, 1_000)).filter((_, index) => index % 2 === 0))
  for (const records of [backwards, everySecond]) {
    for (const isKnown of [false, false]) {
      assert.deepEqual(await upload(records), { ...unchanged(Object.keys(records).length), isKnown })
    }
  }
  assert.equal(await bodies(), 2)
})

test('while PostgreSQL has no statistics, as in a first sync, a body is stored without reading the dataset for each end', async (t) => {
  const { world, location } = await someUploads(t)
  await location.upload('insurance_plans', plans(0, 6_000))
  const client = await world.ownerPool.connect()
  t.after(() => client.release())
  await client.query('begin')
  const { rows: stored } = await client.query<{ source_id: string; hash: string }>(
    `select source_id, encode(source_hash, 'hex') as hash from record where location_id = $1 order by id limit 600`,
    [location.id],
  )
  const sourceIds = stored.map((record) => record.source_id)
  const rowsRead = async () => {
    const { rows } = await client.query<{ rows: string }>(
      `select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'record'`,
    )
    return Number(rows[0]?.rows)
  }
  const before = await rowsRead()
  await savePackedBody(client, location.id, 'insurance_plans', {
    firstSourceId: sourceIds[0] ?? '',
    lastSourceId: sourceIds.at(-1) ?? '',
    records: 600,
    recordsSha256: hashRecords(
      sourceIds,
      stored.map((record) => record.hash),
    ),
    sha256: 'aa',
    unpackedSha256: 'bb',
  })
  const read = (await rowsRead()) - before
  assert.equal((await client.query(`select from packed_body where sha256 = '\\xaa'`)).rowCount, 1)
  await client.query('rollback')
  // Each record once, and the whole dataset at most once to find both ends.
  assert.ok(read <= 6_000 + 600, `${read} rows`)
})

test('a body with notes that no company may read is never taken for what is stored without them', async (t) => {
  const { location, query } = await someUploads(t)
  const lines = (note: string | null) =>
    Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`t${index}`, aRecord('treatments', { note })]))
  for (const note of ['A note.', 'A note.', null, null]) {
    const { status, text } = await location.upload('treatments', lines(note))
    assert.equal(status, 200, text)
  }
  const uploads = await query(
    `select unchanged_ids <> '{}' as is_known from upload where location_id = $1 order by number`,
  )
  assert.deepEqual(
    uploads.map((row) => row.is_known),
    [false, false, false, true],
  )
  assert.equal((await query('select from packed_body where location_id = $1')).length, 1)
})

test('a known body that is sent again with its number gets its answer again, and another number’s body does not', async (t) => {
  const { world, location } = await someUploads(t)
  const agent = await world.addAgent(location.organizationId)
  await world.pool.query('delete from location_writer')
  const send = async (number: number, records: Record<string, object>) => {
    const { status, body } = await world.send(agent, location.id, 'insurance_plans', number, toNdjson(records))
    return status === 200 ? body : [status, body.code]
  }
  const inserted = { ...unchanged(0), inserted: 600 }
  assert.deepEqual(await send(1, plans(0, 600)), inserted)
  assert.deepEqual(await send(1, plans(0, 600)), inserted, 'known now')
  assert.deepEqual(await send(2, plans(0, 600)), unchanged(600))
  assert.deepEqual(await send(2, plans(0, 600)), unchanged(600))
  await world.pool.query('delete from packed_body')
  assert.deepEqual(await send(2, plans(0, 600)), unchanged(600), 'not known any more')
  assert.deepEqual(await send(2, plans(0, 601)), [422, 'idempotency_key_reused'])
  assert.deepEqual(await send(3, plans(0, 600)), unchanged(600))
  assert.deepEqual(await send(2, plans(600, 1_200)), [422, 'idempotency_key_reused'])
})

test('a record that changes after its body was looked up is sent again; changes of others are no matter', async (t) => {
  const { world, location, upload } = await someUploads(t)
  await upload(plans(0, 601))
  await upload(plans(0, 600))
  const { agentId } = await world.addAgent(location.organizationId)
  const key = { locationId: location.id, dataset: 'insurance_plans', agentId, fence: null } as const
  const sha256 = hash('sha256', gzipSync(toNdjson(plans(0, 600))))
  const store = async (number: string, meanwhile: () => Promise<unknown>) => {
    const found = await openStoredLookup(world.pool, location.id, 'insurance_plans').findBody(sha256)
    assert.ok(found)
    await meanwhile()
    const { unpackedSha256: bodyHash, asStored } = found
    return await storeUpload(world.pool, { ...key, number, bodyHash, asStored, lines: [] }, () => new Date())
  }
  const { answer } = await store('1', () => upload({ p600: aPlan({ plan_name: 'Other' }) }))
  assert.deepEqual(answer, unchanged(600))
  await assert.rejects(
    store('2', () => upload({ p300: aPlan({ plan_name: 'Meanwhile' }) })),
    { code: 'busy', retryAfterSeconds: 1 },
  )
})

test('whatever comes between, a body leaves what its lines say, and counts what they change', async (t) => {
  const world = await someWorld(t)
  const name = fc.constantFrom('Plan', 'Renamed')
  const body = fc.record({ span: fc.constantFrom([0, 450], [300, 600], [0, 600]), name })
  const edit = fc.record({ key: fc.integer({ min: 0, max: 620 }), name: fc.option(name) })
  const again = fc.constant(null)
  let known = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ arbitrary: body, weight: 2 }, edit, again), { minLength: 4, maxLength: 12 }),
      async (steps) => {
        const location = await world.addLocation()
        const expected = new Map<string, string | null>()
        let records: Record<string, { plan_name?: string } | null> = plans(0, 600)
        for (const step of steps) {
          if (step && 'span' in step) records = plans(step.span[0] ?? 0, step.span[1] ?? 0, step.name)
          else if (step?.name === null) records = { [`p${step.key}`]: null }
          else if (step) records = plans(step.key, step.key + 1, step.name)
          const counts = unchanged(0)
          for (const [key, record] of Object.entries(records)) {
            const [before, after] = [expected.get(key), record === null ? null : String(record.plan_name)]
            const isSame = before === after || (before === undefined && after === null)
            if (isSame) counts.unchanged += 1
            else if (before === undefined) counts.inserted += 1
            else if (after === null) counts.hidden += 1
            else counts.changed += 1
            if (!isSame) expected.set(key, after)
          }
          const answer = await location.upload('insurance_plans', records)
          assert.deepEqual(answer.body, counts)
        }
        const { rows } = await world.pool.query<{ source_id: string; name: string | null }>(
          `select source_id, case when not is_hidden then document::json #>> '{attributes,plan_name}' end as name
             from record where location_id = $1`,
          [location.id],
        )
        assert.deepEqual(new Map(rows.map((row) => [row.source_id, row.name])), expected)
        const uploads = await world.pool.query(
          `select from upload where location_id = $1 and unchanged_ids <> '{}' and cardinality(unchanged_keys) = 0`,
          [location.id],
        )
        known += uploads.rowCount ?? 0
      },
    ),
    { numRuns: 20 },
  )
  assert.ok(known > 10, `${known} bodies were known`)
})
