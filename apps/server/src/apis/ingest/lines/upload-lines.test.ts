import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getDataset } from '@bridgework/contract'
import { openStoredLookup } from '../../../modules/records/write/as-stored.ts'
import { storeUpload } from '../../../modules/records/write/upload.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { aPlan, someWorld, toNdjson } from '../../../testing/test-world.ts'
import { takeLines } from './lines.ts'
import { createLineReader } from './record-line.ts'
import { createUploadReader, lineBounds } from './upload-lines.ts'

const dataset = getDataset('insurance_plans')
const readLine = createLineReader(dataset)
const plan = (number: number, attributes: object = {}) => aPlan({ plan_name: `Plan ${number}`, ...attributes })
const plans = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, plan(i)]))
const linesOf = (records: Record<string, object | null>) => toNdjson(records).trimEnd().split('\n')

test('lines that are stored just so are looked up and not read; of the others each is read, and stored as if all were', async (t) => {
  const { location, send, stored } = await someUploads(t)
  await location.upload('insurance_plans', plans(600))
  const before = await stored()

  const same = await send(linesOf(plans(600)))
  assert.deepEqual([same.read, same.answer], [[], { inserted: 0, changed: 0, unchanged: 600, hidden: 0 }])
  assert.deepEqual(await stored(), before)

  const spaced = JSON.stringify({ source_id: 'p5', attributes: plan(5) }, null, 1).replaceAll('\n', '')
  const reversed = JSON.stringify({ attributes: plan(6), source_id: 'p6' })
  const escaped = JSON.stringify({ source_id: 'p7', attributes: plan(7) }).replace('"p7"', '"\\u00707"')
  const mixed = linesOf({ ...plans(600), p1: plan(1, { plan_name: 'Renamed' }), p2: null, p600: plan(600) })
  mixed.splice(5, 3, spaced, reversed, escaped)
  const some = await send(mixed)
  assert.deepEqual(some.read, ['p1', 'p2', 'p5', 'p6', 'p600', 'p7'])
  assert.deepEqual(some.answer, { inserted: 1, changed: 1, unchanged: 598, hidden: 1 })
  const after = new Map((await stored()).map((row) => [row.source_id, row]))
  assert.deepEqual(
    ['p1', 'p2', 'p3', 'p600'].map((id) => [after.get(id)?.plan_name, after.get(id)?.is_hidden]),
    [
      ['Renamed', false],
      ['Plan 2', true],
      ['Plan 3', false],
      ['Plan 600', false],
    ],
  )
})

test('new records are looked up no further than the first of them', async (t) => {
  const { send } = await someUploads(t)
  const first = await send(linesOf(plans(2_000)))
  assert.equal(first.read.length, 2_000)
  assert.equal(first.lookups, 1)
  assert.equal(first.answer?.inserted, 2_000)
})

test('a small upload is read and not looked up', async (t) => {
  const { location, send } = await someUploads(t)
  await location.upload('insurance_plans', plans(3))
  const small = await send(linesOf({ ...plans(3), p1: plan(1, { plan_name: 'Renamed' }) }))
  assert.deepEqual([small.read, small.lookups], [['p0', 'p1', 'p2'], 0])
  assert.deepEqual(small.answer, { inserted: 0, changed: 1, unchanged: 2, hidden: 0 })
})

test('a bad line among lines that are stored just so, and a source id that comes twice, are refused with their number', async (t) => {
  const { location, send, stored } = await someUploads(t)
  await location.upload('insurance_plans', plans(600))
  const before = await stored()
  const lines = linesOf(plans(600))
  const bad = JSON.stringify({ source_id: 'new', attributes: { ...plan(1), renewal_month: 13 } })
  for (const [line, field] of [
    [bad, 'attributes.renewal_month'],
    [lines[3] ?? '', 'source_id'],
    [JSON.stringify({ source_id: 'p3', attributes: plan(4) }), 'source_id'],
    [JSON.stringify({ source_id: 'p3', removed: true }), 'source_id'],
    ['{"source_id":"p3","attributes":}', null],
    ['{"source_id":"p3","attributes":"}', null],
  ] as const) {
    const { refusal } = await send(lines.with(500, line))
    assert.deepEqual([refusal?.code, refusal?.members], ['record_invalid', { line: 501, field }], line)
  }
  assert.deepEqual(await stored(), before)
})

test('a record that changes after it was looked up is sent again; changes of others are no matter', async (t) => {
  const { location, send, stored } = await someUploads(t)
  await location.upload('insurance_plans', plans(201))
  const lines = linesOf(plans(200))

  const besides = await send(lines, () =>
    location.upload('insurance_plans', { p200: plan(200, { plan_name: 'Other' }) }),
  )
  assert.equal(besides.answer?.unchanged, 200)
  for (const change of [plan(1, { plan_name: 'Meanwhile' }), null]) {
    const late = await send(lines, () => location.upload('insurance_plans', { p1: change }))
    assert.deepEqual([late.refusal?.code, late.refusal?.retryAfterSeconds], ['busy', 1])
    const again = await send(lines)
    assert.deepEqual(again.answer, { inserted: 0, changed: 1, unchanged: 199, hidden: 0 })
    assert.equal((await stored())[1]?.plan_name, 'Plan 1')
  }
})

test('the next part arrives while one is looked up, but nothing arrives while a line of some megabytes is', async () => {
  const asked: (() => void)[] = []
  const held = {
    stamp: 0,
    findOther: () => new Promise<Set<number>>((found) => asked.push(() => found(new Set()))),
  }
  const reader = createUploadReader(readLine, held)
  const bytesOf = (sourceId: string, bytes: number) =>
    Buffer.from(JSON.stringify({ source_id: sourceId, attributes: { plan_name: 'w'.repeat(bytes) } }))
  const isTaken = async (taken: Promise<void> | undefined) =>
    await Promise.race([Promise.resolve(taken).then(() => true), nextTurn().then(() => false)])

  assert.equal(await isTaken(reader.take(bytesOf('a', 100_000), 1)), true)
  assert.equal(asked.length, 1)
  const large = reader.take(bytesOf('b', 2_000_000), 2)
  assert.equal(await isTaken(large), false)
  asked[0]?.()
  assert.equal(await isTaken(large), false)
  assert.equal(asked.length, 2)
  asked[1]?.()
  assert.equal(await isTaken(large), true)
  assert.equal((await reader.end()).asStored.sent.length, 2)
})

test('a source id that comes twice is refused, also where both of its parts are stored just so', async (t) => {
  const { location, send } = await someUploads(t)
  await location.upload('insurance_plans', plans(600))
  const lines = linesOf(plans(600))
  let firstPart = 0
  for (let bytes = 0; bytes < 64 * 1024; firstPart += 1) bytes += Buffer.byteLength(lines[firstPart] ?? '')
  const twice = [...lines.slice(0, firstPart), ...lines.slice(0, firstPart)]

  const { refusal } = await send(twice)
  assert.deepEqual([refusal?.code, refusal?.members], ['record_invalid', { line: firstPart + 1, field: 'source_id' }])
  const once = await send(lines)
  assert.deepEqual([once.read, once.answer?.unchanged], [[], 600])
})

async function* inPieces(text: string, pieceBytes: number) {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes)
}

/** Sends lines as the route does, and tells which of them were read and how often lines were looked up. */
async function someUploads(t: Parameters<typeof someWorld>[0]) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  // Another agent than that of `location.upload`: numbers of one rise.
  const { agentId } = await world.addAgent(location.organizationId)
  let uploads = 0
  const lookUp = () => openStoredLookup(world.pool, location.id, 'insurance_plans')
  const send = async (lines: readonly string[], meanwhile: () => Promise<unknown> = async () => null) => {
    const read: string[] = []
    let lookups = 0
    const lookup = lookUp()
    const reader = createUploadReader(
      (text, number) => {
        const line = readLine(text, number)
        read.push(line.sourceId)
        return line
      },
      {
        get stamp() {
          return lookup.stamp
        },
        findOther(sent) {
          lookups += 1
          return lookup.findOther(sent)
        },
      },
    )
    uploads += 1
    const key = { locationId: location.id, dataset: 'insurance_plans', agentId } as const
    try {
      await takeLines(inPieces(lines.join('\n'), 50_000), lineBounds, reader)
      const sent = await reader.end()
      const upload = { ...key, ...sent, fence: null, number: String(uploads) }
      await meanwhile()
      const { answer } = await storeUpload(world.pool, { ...upload, bodyHash: '00'.repeat(32) }, () => new Date())
      return { read: read.toSorted(), lookups, answer }
    } catch (error) {
      if (error instanceof Problem) return { read, lookups, refusal: error }
      throw error
    }
  }
  const stored = async () => {
    const { rows } = await world.pool.query<{ source_id: string; is_hidden: boolean; plan_name: string }>(
      `select source_id, is_hidden, modified_at, upload_number, encode(source_hash, 'hex') as hash,
              document::json #>> '{attributes,plan_name}' as plan_name
         from record where location_id = $1 and dataset = 'insurance_plans'
        order by id`,
      [location.id],
    )
    return rows
  }
  return { location, lookUp, send, stored }
}
