import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { someClient } from '../testing/test-client.ts'
import { fillTreatments } from '../testing/test-volume.ts'
import { openStore, someTarget } from './testing/test-mirror.ts'

/** The soak sets it to a million. */
const records = Number(process.env.BRIDGEWORK_TEST_RECORDS ?? 3_500)

test('in a large copy one damaged record is found by reading a thousand, and the service sums up faster than it sends', async (t) => {
  const { client, location, world, vendor } = await someClient(t)
  await fillTreatments(world, location, records)
  const only = { datasets: ['treatments'] as const }
  const target = await someTarget(t, 'sqlite')
  const store = await openStore('sqlite', target)
  t.after(() => store.close())
  const secondsOf = async (work: () => Promise<unknown>) => {
    const beganAt = performance.now()
    await work()
    return (performance.now() - beganAt) / 1000
  }

  const digests = () =>
    followNext(vendor.token, `${world.url}/api/v1/vendors/locations/${location.id}/treatments/digest`)
  const list = () => followNext(vendor.token, `${world.url}/api/v1/vendors/locations/${location.id}/treatments`, 5000)
  const copied = await secondsOf(() => client.sync({ store, ...only, pageSize: 5000 }))
  const sent = await secondsOf(list)
  const summedUp = await secondsOf(digests)
  const damaged = new DatabaseSync(target)
  damaged.exec(`update raw_record set attributes = replace(attributes, 'Treatment', 'Treatmemt')
                 where dataset = 'treatments' and id = (select min(id) + ${Math.floor(records / 2)} from raw_record where dataset = 'treatments')`)
  damaged.close()
  const [found] = await client.verify({ store, ...only })
  assert.deepEqual([found?.wrong, found?.missing, found?.stray, found?.read], [1, 0, 0, 1000])
  let again: Awaited<ReturnType<typeof client.verify>> = []
  const verified = await secondsOf(async () => {
    again = await client.verify({ store, ...only })
  })
  assert.equal(again[0]?.serverCount, records)
  assert.deepEqual([again[0]?.read, again[0]?.serverDigest], [0, again[0]?.storeDigest])
  const results = { copied, sent, summedUp, verified }
  t.diagnostic(
    `${records} records: ${Object.entries(results)
      .map(([what, seconds]) => `${what} in ${seconds.toFixed(2)} s`)
      .join(', ')}`,
  )
  if (records >= 1_000_000) assert.ok(summedUp < sent, `summed up in ${summedUp} s, sent in ${sent} s`)
})

/** Asks for every page and throws it away. */
async function followNext(token: () => Promise<string>, url: string, items?: number): Promise<void> {
  for (let after: string | null = '0'; after !== null; ) {
    const query = `?after=${after}${items === undefined ? '' : `&items=${items}`}`
    const response = await fetch(url + query, { headers: { authorization: `Bearer ${await token()}` } })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    after = /"next_after":"(\d+)"/.exec(text)?.[1] ?? null
  }
}
