import { listUrl } from '../fixture/list-query.ts'
import { pageRecords } from '../fixture/reading.ts'
import { copyByPsql } from '../limits/programs.ts'
import { captureBody, serveStored } from '../limits/stored-body.ts'
import type { Contender } from '../measure.ts'
import { handWritten, jsonAgg, overHttp, peersOf, rowsOf, services } from './contenders.ts'
import type { Row } from './row.ts'
import type { Bench, Work } from './work.ts'

/** Pages of 5,000: with gzip and without, first, last, and one that begins within a packed run. */
export const page: Work = async (bench) => {
  const fixture = await bench.reading()
  const rows: Row[] = []
  for (const isGzip of [true, false]) {
    const name = `page of 5,000${isGzip ? ', gzip' : ''}`
    const limits = await limitsOf(bench, isGzip)
    try {
      for (const connections of bench.options.isQuick ? [8] : [1, 8]) {
        const ask = { query: 'firstPage', connections, isGzip } as const
        const stored = limits.map((body) =>
          overHttp(bench, ask, { who: body.who, url: body.url, headers: {}, cpu: body.cpu }),
        )
        const copy = isGzip || connections > 1 ? null : await copyByPsql(fixture.ours, pageRecords)
        const others: (Contender | null)[] = [
          jsonAgg(bench, fixture, ask),
          ...peersOf(bench, fixture, ask),
          ...stored,
          copy,
        ]
        const target = connections === 8 ? { target: isGzip ? 22 : 6 } : {}
        rows.push(
          ...(await rowsOf(bench, { work: 'page', name, connections, ...target }, [
            ...services(bench, fixture, ask),
            handWritten(bench, fixture, ask),
            ...others,
          ])),
        )
      }
    } finally {
      for (const limit of limits) await limit.stop()
    }
    for (const [query, what] of [
      ['lastPage', 'last'],
      ['unalignedPage', 'begins within a run'],
    ] as const) {
      const ask = { query, connections: 8, isGzip }
      rows.push(
        ...(await rowsOf(bench, { work: 'page', name: `${name}, ${what}`, connections: 8 }, [
          ...services(bench, fixture, ask),
          handWritten(bench, fixture, ask),
        ])),
      )
    }
  }
  return rows
}

/** Pages of 100, which are read with their permit. */
export const smallPage: Work = async (bench) => {
  const fixture = await bench.reading()
  const ask = { query: 'smallPage', connections: 8 } as const
  return await rowsOf(bench, { work: 'page-100', name: 'page of 100', connections: 8, target: 1.5 }, [
    ...services(bench, fixture, ask),
    handWritten(bench, fixture, ask),
    jsonAgg(bench, fixture, ask),
    ...peersOf(bench, fixture, ask),
  ])
}

async function limitsOf(bench: Bench, isGzip: boolean) {
  const { ours } = await bench.reading()
  const url = listUrl(ours.world.server.vendorUrl, ours.locationId, ours.queries.firstPage)
  const headers = {
    Authorization: `Bearer ${ours.world.vendor.token}`,
    ...(isGzip && { 'Accept-Encoding': 'gzip' }),
  }
  return await serveStored(await captureBody(url, headers), isGzip)
}
