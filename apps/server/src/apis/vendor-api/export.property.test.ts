import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { vendorApiPath } from '@bridgework/contract'
import fc from 'fast-check'
import { packNext } from '../../modules/records/segments/segment-packer.ts'
import { aPlan, aSchedule, someWorld, type TestLocation, type VendorRecord } from '../../testing/test-world.ts'
import { parseExport } from './testing/test-export.ts'

/** `BRIDGEWORK_TEST_RUNS` times as many runs: the soak's way to the full count. */
const runs = 12 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)
const options = { checkMs: 0, staleMs: 0, runRecords: 250 }

const step = fc.oneof(
  fc.record({ kind: fc.constant('upload' as const), from: fc.nat(900), count: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ kind: fc.constant('hide' as const), from: fc.nat(600) }),
  // Renders the plans that show it again.
  fc.record({ kind: fc.constant('rename' as const), name: fc.nat(3) }),
  fc.record({ kind: fc.constant('pack' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never
/** What happens while an export is read, up to this many characters of it: then it is cut, and gone on with after its last whole line. */
const attempt = fc.record({ steps: fc.array(step, { maxLength: 3 }), cutAt: fc.nat(300_000) })

test('P22: an export, cut anywhere and gone on with, and the delta since its watermark are what the list is then, whatever is written meanwhile', async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const world = await someWorld(t, { reader: { partRecords: 250 } })
  let [cuts, changed] = [0, 0]
  const play = async (attempts: { steps: Step[]; cutAt: number }[]) => {
    const location = await world.addLocation({ insurancePlans: 700 })
    const vendor = await world.addVendor([location])
    const path = `/locations/${location.id}/insurance_plans`
    await location.upload('fee_schedules', { s: aSchedule() })
    const act = stepsOf(location, () => packNext(world.pool, () => {}, { options }))
    const copy = new Map<string, VendorRecord>()
    let after = '0'
    let watermark: string | null = null
    const read = async (cutAt: number) => {
      const { text, header } = await readUpTo(
        `${world.url}${vendorApiPath}${path}/export?after=${after}`,
        await vendor.token(),
        cutAt,
      )
      watermark ??= header
      const { records, meta } = parseExport(text)
      for (const record of records) copy.set(record.id, record)
      after = records.at(-1)?.id ?? after
      if (!meta) cuts += 1
      return meta !== null && !meta.has_more
    }
    for (const { steps, cutAt } of attempts) {
      let writing = Promise.resolve()
      for (const each of steps) writing = writing.then(() => act(each))
      const [isWhole] = await Promise.all([read(cutAt), writing])
      if (isWhole) break
    }
    while (!(await read(Number.POSITIVE_INFINITY)));
    assert.ok(watermark)
    const delta = await vendor.get(`${path}?items=5000&q[fetch_modified_since]=${encodeURIComponent(watermark)}`)
    changed += delta.body.data.length
    for (const record of delta.body.data) copy.set(record.id, record)
    const list = (await vendor.get(`${path}?items=5000`)).body.data
    assert.deepEqual([...copy.values()].toSorted(byId), list)
  }
  await fc.assert(fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 4 }), play), {
    seed,
    numRuns: runs,
    endOnFailure: true,
  })
  t.diagnostic(`${cuts} cuts, ${changed} records changed meanwhile`)
  assert.ok(cuts > 0 && changed > 0)
})

function byId(left: VendorRecord, right: VendorRecord): number {
  return Number(left.id) - Number(right.id)
}

function stepsOf(location: TestLocation, pack: () => Promise<unknown>) {
  let number = 0
  return async (each: Step): Promise<void> => {
    number += 1
    if (each.kind === 'pack') return void (await pack())
    if (each.kind === 'rename')
      return void (await location.upload('fee_schedules', { s: aSchedule({ name: `Schedule ${each.name}` }) }))
    if (each.kind === 'hide') return void (await location.upload('insurance_plans', { [`p${each.from + 1}`]: null }))
    const plan = aPlan({ plan_name: `Changed ${number}`, fee_schedule_source_id: 's' })
    const keys = Array.from({ length: each.count }, (_, index) => `p${each.from + index}`)
    await location.upload('insurance_plans', Object.fromEntries(keys.map((key) => [key, plan])))
  }
}

/** Reads about this many characters of an answer, and leaves. */
async function readUpTo(url: string, token: string, cutAt: number): Promise<{ text: string; header: string | null }> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(answer.status, 200)
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length < cutAt) continue
    text = text.slice(0, cutAt)
    // Ends the connection.
    break
  }
  return { text, header: answer.headers.get('x-next-fetch-modified-since') }
}
