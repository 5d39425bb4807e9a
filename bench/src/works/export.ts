import type { Readable } from '../fixture/reading.ts'
import { copyByPsql } from '../limits/programs.ts'
import type { Contender } from '../measure.ts'
import { overHttp, rowsOf } from './contenders.ts'
import { earlierOurs, ours, type Row } from './row.ts'
import type { Bench, Work } from './work.ts'

/** Every record of a dataset in one answer, with gzip and without; the limit is what PostgreSQL gives away. Figures are of records. */
export const wholeExport: Work = async (bench) => {
  const fixture = await bench.reading()
  const { plans } = bench.options
  const rows: Row[] = []
  for (const isGzip of [true, false]) {
    const name = `export of ${plans.toLocaleString('en')} records${isGzip ? ', gzip' : ''}`
    for (const connections of bench.options.isQuick ? [1] : [1, 4]) {
      const contenders: (Contender | null)[] = [
        exporter(bench, ours, fixture.ours, connections, isGzip),
        fixture.earlier && exporter(bench, earlierOurs, fixture.earlier, connections, isGzip),
        isGzip || connections > 1 ? null : await copyByPsql(fixture.ours, plans),
      ]
      rows.push(...(await rowsOf(bench, { work: 'export', name, connections }, contenders)))
    }
  }
  return rows.map((row) => ({
    ...row,
    perSecond: row.perSecond * plans,
    cpuMs: row.cpuMs === null ? null : (row.cpuMs * 1_000) / plans,
  }))
}

function exporter(
  bench: Bench,
  who: string,
  { world, locationId, cpu }: Readable,
  connections: number,
  isGzip: boolean,
): Contender {
  return overHttp(
    bench,
    { connections, isGzip },
    {
      who,
      url: `${world.server.vendorUrl}/locations/${locationId}/insurance_plans/export`,
      headers: { Authorization: `Bearer ${world.vendor.token}` },
      cpu,
    },
  )
}
