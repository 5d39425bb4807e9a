import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sealKeyOf } from '../../modules/chain/seal-key.ts'
import { sealOnce } from '../../modules/chain/sealer.ts'
import { verifyChain } from '../../modules/chain/verify.ts'
import { packNext } from '../../modules/records/segments/segment-packer.ts'
import { copyRecords } from '../../modules/records/testing/test-volume.ts'
import { badSettings, spoilSettings } from '../../platform/database/testing/test-settings.ts'
import { aPlan, aSchedule, someWorld } from '../../testing/test-world.ts'

/** As many as fill a page of 5,000 and begin another. */
const records = 5_300

test('X05: pages, deltas, exports, digests and the record of disclosures are the same with each setting of a session set badly', async (t) => {
  const world = await someReads(t)
  const good = await world.read()
  assert.equal(JSON.parse(good['a page of segments'] ?? '').data.length, 5_000)
  assert.equal(JSON.parse(good['a small delta'] ?? '').data.length, 2)
  for (const bad of badSettings) {
    await spoilSettings(world, [bad], [world.pool, world.ownerPool])
    for (const [what, text] of Object.entries(await world.read())) {
      assert.ok(text === good[what], `${what} with ${bad.join(' = ')}: ${differenceOf(text, good[what] ?? '')}`)
    }
  }
})

/** A location with segments, and everything that is read of it, as texts without what differs from one request to the next. */
async function someReads(t: TestContext) {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const schedule = { s: aSchedule({ name: 'Zoë \\ "é" 🦷' }) }
  await location.upload('fee_schedules', schedule)
  await location.upload('insurance_plans', {
    p0: aPlan({ plan_name: 'a\\b\t\u0001 Zoë', fee_schedule_source_id: 's' }),
  })
  await copyRecords(world.ownerPool, { locationId: location.id, dataset: 'insurance_plans' }, records)
  const options = { checkMs: 0, staleMs: 60_000, runRecords: 250 }
  while ((await packNext(world.pool, world.log, { options })) !== null);
  const vendor = await world.addVendor([location])
  const list = `/locations/${location.id}/insurance_plans`
  const since = (moment: string) => `q%5Bfetch_modified_since%5D=${encodeURIComponent(moment)}`
  const { body: first } = await vendor.get(`${list}?items=1`)
  const watermark = since(first.meta.next_fetch_modified_since)
  await location.upload('insurance_plans', { new: aPlan({ plan_name: 'New' }), p7: aPlan({ plan_name: 'Changed' }) })

  const key = sealKeyOf(world.secretKey)

  const read = async () => {
    const get = async (path: string, coding = 'identity') => {
      const { status, text } = await vendor.get(path, { 'accept-encoding': coding })
      assert.equal(status, 200, text)
      return text.replace(/(?<="request_id":")[^"]+/g, '')
    }
    const answers: Record<string, string> = {
      'a page of segments': await get(`${list}?items=5000`),
      'the same packed': await get(`${list}?items=5000`, 'gzip'),
      'a page of 5,000 rows': await get(`${list}?items=5000&fields%5Binsurance_plan%5D=plan_name,updated_at`),
      'a page of rows': await get(`${list}?items=100`),
      'a small delta': await get(`${list}?${watermark}`),
      'the small delta again': await get(`${list}?${watermark}`),
      'a large delta': await get(`${list}?items=5000&${since('2020-01-01T00:00:00Z')}`),
      'an export': await get(`${list}/export`),
      'the export packed': await get(`${list}/export`, 'gzip'),
      'a digest': await get(`${list}/digest`),
      'a record': await get(`${list}/${first.data[0]?.id}`),
      'the locations': await get('/locations'),
    }
    await world.disclosures.flush()
    await sealOnce({ pool: world.pool, key: async () => key, now: () => new Date() })
    const found: string[] = []
    const report = await verifyChain(world.pool, {
      ...{ key, now: new Date(), from: null, until: null, published: null },
      onFinding: ({ text }) => found.push(text),
    })
    assert.ok(report.seals > 0)
    answers['what is wrong with the disclosures'] = found.join('\n')
    return answers
  }
  return { ...world, read }
}

/** Where two texts begin to differ. */
function differenceOf(text: string, expected: string): string {
  let at = 0
  while (at < text.length && text[at] === expected[at]) at += 1
  return `${JSON.stringify(text.slice(at, at + 60))} in the place of ${JSON.stringify(expected.slice(at, at + 60))}`
}
