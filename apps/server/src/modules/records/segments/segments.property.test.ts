import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import fc from 'fast-check'
import type { Pool } from 'pg'
import { gzipMember, packText } from '../../../platform/gzip/gzip-member.ts'
import { switchToLines } from '../../../platform/gzip/packed-run.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import { aPlan, aSchedule, someWorld } from '../../../testing/test-world.ts'
import { grantAccess } from '../../consent/grant.ts'
import { permitRead, type ReadPermit } from '../../consent/read-permit.ts'
import { putStampsAhead } from '../../datasets/testing/test-stamps.ts'
import { createLocation } from '../../onboarding/upsert-locations.ts'
import { createPageReader, extentOf, type PackedPage, type Page } from '../read/page.ts'
import { wholeDataset } from '../read/selection.ts'
import { storeUpload } from '../write/upload.ts'
import { packNext, restsOf } from './segment-packer.ts'

/** `BRIDGEWORK_TEST_RUNS` times as many runs: the soak's way to the full count. */
const runs = 25 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)

const [schedules, plans] = datasetNames as [DatasetName, DatasetName]
/** Small, so that few records are several segments. */
const runRecords = 3

const step = fc.oneof(
  fc.record({ kind: fc.constant('upload' as const), from: fc.nat(24), count: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant('hide' as const), key: fc.nat(24) }),
  // Renders the plans that show it again.
  fc.record({ kind: fc.constant('rename' as const), name: fc.nat(3) }),
  fc.record({
    kind: fc.constant('pack' as const),
    staleMs: fc.constantFrom(0, 60_000),
    checkMs: fc.constantFrom(0, 0, 60_000),
    checkedMax: fc.constantFrom(1, 2, 50_000),
  }),
  fc.record({ kind: fc.constant('read' as const), items: fc.integer({ min: 3, max: 12 }), after: fc.nat(24) }),
)

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

test('pages with segments are what a plain read of the records is, whatever was uploaded, hidden, renamed and packed before and meanwhile', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const world = await someWorld(t)
  const vendor = await world.addVendor()
  const token = await world.tokens.verify(await vendor.token())
  let packedRead = 0
  const organizationId = await world.addOrganization()
  const play = async (steps: Step[], atOnce: boolean, isAhead: boolean) => {
    const { id } = await createLocation(world.pool, organizationId, { sourceId: randomUUID(), name: 'Location' })
    if (isAhead) await putStampsAhead(world.ownerPool, id)
    const grant = { companyId: vendor.companyId, organizationId, locationIds: [id], by: 'test' } as const
    await grantAccess(world.pool, { ...grant, datasets: [schedules, plans] })
    const permit = () => permitRead(world.pool, token, id, plans, { previewOff: false })
    await permit()
    let number = 0
    const upload = (dataset: DatasetName, records: Record<string, object | null>) => {
      number += 1
      const lines = Object.entries(records).map(([sourceId, source]) => ({
        sourceId,
        source: source && JSON.stringify(source),
      }))
      const by = { agentId: id as string as AgentId, fence: null, number: String(number), bodyHash: '00' }
      return storeUpload(world.pool, { locationId: id, dataset, ...by, lines }, () => new Date())
    }
    // An agent sends one upload after the other.
    let writing = Promise.resolve()
    const write = (work: () => Promise<unknown>) => {
      writing = writing.then(async () => void (await work()))
      return writing
    }
    const act = async (each: Step) => {
      if (each.kind === 'upload') {
        const plan = aPlan({ plan_name: `Plan ${number}`, fee_schedule_source_id: 's' })
        const keys = Array.from({ length: each.count }, (_, index) => `p${each.from + index}`)
        await write(() => upload(plans, Object.fromEntries(keys.map((key) => [key, plan]))))
      } else if (each.kind === 'hide') await write(() => upload(plans, { [`p${each.key}`]: null }))
      else if (each.kind === 'rename')
        await write(() => upload(schedules, { s: aSchedule({ name: `Schedule ${each.name}` }) }))
      else if (each.kind === 'pack') await pack(world.pool, each)
      else packedRead += await compareReads(world.pool, await permit(), each)
    }
    if (atOnce) await Promise.all(steps.map(act))
    else for (const each of steps) await act(each)
    // What a crash leaves: segments are as they were committed, and nothing is under way.
    await pack(world.pool, { staleMs: 60_000, checkMs: 60_000 })
    packedRead += await compareReads(world.pool, await permit(), { items: 7, after: 0 })
    // The time of the last check has passed, though it was made with a long one.
    await world.pool.query('update segment_due set due_at = now() where location_id = $1', [id])
    await pack(world.pool, { staleMs: 0, checkMs: 0 })
    const parts = await compareReads(world.pool, await permit(), { items: 12, after: 0 })
    packedRead += parts
    const { rows } = await world.pool.query('select from record where location_id = $1 and dataset = $2', [id, plans])
    assert.ok(rows.length < runRecords || parts > 0, 'nothing was read from a segment')
  }
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), fc.boolean(), fc.boolean(), play), {
    seed,
    numRuns: runs,
    endOnFailure: true,
  })
  t.diagnostic(`${packedRead} segments read`)
})

async function pack(pool: Pool, times: { staleMs: number; checkMs: number; checkedMax?: number }): Promise<void> {
  let last: LocationId | null = '0' as LocationId
  for (let count = 0; last !== null && count < 20; count += 1) {
    last = await packNext(pool, () => {}, { options: { ...times, runRecords } })
  }
}

/** Walks the dataset in both ways. Returns how many segments were read. While others write, two walks may differ: then both are made again. */
async function compareReads(
  pool: Pool,
  permit: ReadPermit,
  { items, after }: { items: number; after: number },
): Promise<number> {
  const pages = createPageReader(
    pool,
    () => new Date(),
    () => {},
    { runRecords },
  )
  const { rows } = await pool.query<{ id: string }>(
    'select id from record where location_id = $1 and dataset = $2 order by id offset $3 limit 1',
    [permit.locationId, permit.dataset, Math.max(0, after - 1)],
  )
  const from = after === 0 ? '0' : (rows[0]?.id ?? '0')
  for (let attempt = 0; ; attempt += 1) {
    const stamp = () =>
      pool.query('select last_stamp from dataset_state where location_id = $1 and dataset = $2', [
        permit.locationId,
        permit.dataset,
      ])
    const before = (await stamp()).rows[0].last_stamp
    const plain: string[] = []
    const packed: string[] = []
    let segments = 0
    for (let position = from, hasMore = true; hasMore; ) {
      const page = await pages.readAfter(permit, wholeDataset, position, items)
      plain.push(`[${page.documents.map(([, document]) => document).join(',')}]`)
      position = page.documents.at(-1)?.[0] ?? position
      hasMore = page.hasMore
    }
    const lines: string[] = []
    for (let position = from, hasMore = true; hasMore; ) {
      const page = await pages.readLines(permit, position, items)
      lines.push(linesOf(page))
      position = extentOf(page).lastId ?? position
      hasMore = page.hasMore
    }
    for (let position = from, hasMore = true; hasMore; ) {
      const page = await pages.readPacked(permit, position, items)
      packed.push(await textOf(page))
      if ('parts' in page) segments += page.parts.filter((part) => !('document' in part)).length
      const { lastId, records } = extentOf(page)
      assert.equal(records, JSON.parse(packed.at(-1) ?? '[]').length)
      position = lastId ?? position
      hasMore = page.hasMore
    }
    if ((await stamp()).rows[0].last_stamp !== before && attempt < 50) continue
    assert.deepEqual(packed, plain)
    assert.deepEqual(
      lines.join(''),
      plain.flatMap((page) => JSON.parse(page).map((record: object) => `${JSON.stringify(record)}\n`)).join(''),
    )
    return segments
  }
}

function linesOf(page: Page | PackedPage): string {
  if ('documents' in page) return page.documents.map(([, document]) => `${document}\n`).join('')
  const texts = page.parts.flatMap((part) => {
    if ('document' in part) return [part.document, '\n']
    assert.ok(part.packed.lines)
    return [switchToLines(part.packed, part.packed.lines), '\n']
  })
  return gunzipSync(gzipMember(texts)).toString()
}

async function textOf(page: Page | PackedPage): Promise<string> {
  if ('documents' in page) return `[${page.documents.map(([, document]) => document).join(',')}]`
  const texts = page.parts.flatMap((part, index) => [
    index === 0 ? '[' : ',',
    'document' in part ? part.document : part.packed,
  ])
  return gunzipSync(gzipMember([...texts, ']', await packText('', 6)])).toString()
}

test('the packer leaves uploads of many records three fourths of the time, and a late event loop half of it', () => {
  const restsWhile = (isWorking: boolean, lagMs: number) => restsOf({ isWorking: () => isWorking, lagMs: () => lagMs })
  assert.deepEqual(
    [restsWhile(false, 0), restsWhile(false, 30), restsWhile(true, 0), restsWhile(true, 30)],
    [0, 1, 15, 15],
  )
})
