import { listUrl } from '../fixture/list-query.ts'
import { changeAndWait, clockOf } from '../fixture/reading.ts'
import { batches, uploadAll } from '../fixture/uploads.ts'
import { runSql } from '../world/practice.ts'
import { feeScheduleLines, packLines, planLine } from '../world/upload.ts'
import { overHttp, rowsOf } from './contenders.ts'
import { ours, type Row } from './row.ts'
import { growingLocation, type Work } from './work.ts'

/** The same requests at a location that grows: what one costs should not depend on how many records there are. */
export const growth: Work = async (bench) => {
  const { world, uploads, say, options } = bench
  const locationId = world.locationIds[growingLocation] ?? ''
  await uploadAll(uploads, locationId, 'fee_schedules', [packLines(feeScheduleLines())])
  const rows: Row[] = []
  let records = 0
  for (const size of options.isQuick ? [10_000, 30_000] : [10_000, 100_000, 1_000_000]) {
    say(`Growing a location to ${size.toLocaleString('en')} records …`)
    for (const batch of batches(size - records, records + 1)) {
      await uploadAll(uploads, locationId, 'insurance_plans', [packLines(batch.map((number) => planLine(number)))])
    }
    records = size
    const queries = await changeAndWait(world, uploads, locationId)
    await runSql(world.adminUrl, 'vacuum analyze')
    await runSql(world.adminUrl, 'checkpoint')
    for (const { name, query, isGzip } of asked) {
      const contender = overHttp(
        bench,
        { connections: 8, isGzip },
        {
          who: ours,
          url: listUrl(world.server.vendorUrl, locationId, queries[query]),
          headers: { Authorization: `Bearer ${world.vendor.token}` },
          cpu: clockOf(world),
        },
      )
      rows.push(...(await rowsOf(bench, { work: 'growth', name, connections: 8, records }, [contender])))
    }
  }
  return rows
}

const asked = [
  { name: 'page of 5,000, gzip', query: 'firstPage', isGzip: true },
  { name: 'page of 5,000, gzip, last', query: 'lastPage', isGzip: true },
  { name: 'empty delta', query: 'emptyDelta', isGzip: false },
  { name: 'delta of 10', query: 'smallDelta', isGzip: false },
] as const
