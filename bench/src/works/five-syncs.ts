import { setTimeout as sleep } from 'node:timers/promises'
import { residentMb } from '../cpu-time.ts'
import { listUrl } from '../fixture/list-query.ts'
import { clockOf, pageRecords } from '../fixture/reading.ts'
import { batches, uploadAll } from '../fixture/uploads.ts'
import { feeScheduleLines, packLines, planLine } from '../world/upload.ts'
import { ours, type Row } from './row.ts'
import { firstSyncLocation, type Work } from './work.ts'

/** Five initial syncs at the same time, while an agent uploads without a pause: what the server's memory is then. */
export const fiveSyncs: Work = async ({ world, uploads, options, say }) => {
  const locations = world.locationIds.slice(firstSyncLocation, firstSyncLocation + 6)
  const read = locations.slice(0, 5)
  const written = locations[5] ?? ''
  say('Uploading to five locations …')
  const plans = options.isQuick ? 5_000 : 20_000
  const bodies = batches(plans).map((batch) => packLines(batch.map((number) => planLine(number))))
  for (const locationId of locations) {
    await uploadAll(uploads, locationId, 'fee_schedules', [packLines(feeScheduleLines())])
    if (locationId !== written) await uploadAll(uploads, locationId, 'insurance_plans', bodies)
  }
  // What other works left in its memory is not of these.
  await world.server.stop()
  await world.server.start()
  const seconds = options.isQuick ? 3 : 15
  say(`Five initial syncs and an ingest for ${seconds} s …`)
  const cpu = clockOf(world)
  const before = cpu()
  const begunAt = performance.now()
  const isOver = () => performance.now() - begunAt > seconds * 1000
  let [pages, bytes, uploaded, memoryMb, isDone] = [0, 0, 0, 0, false]
  const sync = async (locationId: string, isGzip: boolean) => {
    let after: string | undefined
    while (!isOver()) {
      const query = { items: pageRecords, ...(after !== undefined && { after }) }
      const answer = await fetch(listUrl(world.server.vendorUrl, locationId, query), {
        headers: {
          authorization: `Bearer ${world.vendor.token}`,
          'accept-encoding': isGzip ? 'gzip' : 'identity',
        },
      })
      if (answer.status !== 200) throw new Error(`page: ${answer.status} ${await answer.text()}`)
      const text = await answer.text()
      bytes += text.length
      pages += 1
      after = (JSON.parse(text) as { meta: { next_after: string | null } }).meta.next_after ?? undefined
    }
  }
  const upload = async () => {
    for (let version = 1; !isOver(); version += 1) {
      for (const batch of batches(plans)) {
        if (isOver()) return
        await uploadAll(uploads, written, 'insurance_plans', [
          packLines(batch.map((number) => planLine(number, version))),
        ])
        uploaded += batch.length
      }
    }
  }
  const watch = async () => {
    while (!isDone) {
      memoryMb = Math.max(memoryMb, residentMb(world.server.pid()) ?? 0)
      await sleep(50)
    }
  }
  const watching = watch()
  try {
    await Promise.all([...read.map((locationId, index) => sync(locationId, index % 2 === 0)), upload()])
  } finally {
    isDone = true
    await watching
  }
  const elapsed = (performance.now() - begunAt) / 1000
  const after = cpu()
  const row = { work: 'five-syncs', who: ours, connections: 5, bytes: null, ratio: null } as const
  const rows: Row[] = [
    {
      ...row,
      name: 'pages of 5,000 of five initial syncs, during an ingest',
      perSecond: pages / elapsed,
      cpuMs: before === null || after === null || pages === 0 ? null : (after - before) / pages,
      bytes: pages === 0 ? null : bytes / pages,
      target: 450,
      memoryMb,
    },
    {
      ...row,
      name: 'changed records, during five initial syncs',
      perSecond: uploaded / elapsed,
      cpuMs: null,
      target: null,
    },
  ]
  return rows
}
