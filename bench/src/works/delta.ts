import { pgbench } from '../limits/programs.ts'
import { handWritten, jsonAgg, peersOf, rowsOf, services } from './contenders.ts'
import type { Row } from './row.ts'
import type { Work } from './work.ts'

/** Deltas: one that is empty, as most are, and one of ten records. With many connections beside the hand-written route alone. */
export const delta: Work = async (bench) => {
  const fixture = await bench.reading()
  const rows: Row[] = []
  for (const { name, query, targets } of [
    { name: 'empty delta', query: 'emptyDelta', targets: { 1: 1, 8: 1.5, 32: undefined } },
    { name: 'delta of 10', query: 'smallDelta', targets: { 1: undefined, 8: 1.2, 32: undefined } },
  ] as const) {
    for (const connections of [1, 8, 32] as const) {
      const ask = { query, connections }
      const target = targets[connections]
      const row = { work: 'delta', name, connections, ...(target !== undefined && { target }) } as const
      rows.push(
        ...(await rowsOf(bench, row, [
          ...services(bench, fixture, ask),
          handWritten(bench, fixture, ask),
          ...(connections === 32
            ? []
            : [
                jsonAgg(bench, fixture, ask),
                ...peersOf(bench, fixture, ask),
                await pgbench(fixture.ours, fixture.ours.queries[query], connections),
              ]),
        ])),
      )
    }
  }
  return rows
}
