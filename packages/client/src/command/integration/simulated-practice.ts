import { randomInt, randomUUID } from 'node:crypto'
import { type DatasetName, datasetNames } from '../../dataset-resource.ts'
import { datasets } from '../../generated.ts'
import { examples } from './examples.generated.ts'

/** More than the largest page, so that every walk has a second one. */
export const recordsOfDataset = 5_050

/** How far watermarks are ahead, and how far back a delta reads. */
const overlapMicros = 5n * 60n * 1_000_000n

type Record = { id: string; stamp: bigint; isHidden: boolean }

/** One location of invented records whose changes, restore included, are made by calls. */
export type SimulatedPractice = ReturnType<typeof createPractice>

/** The ids that a change concerned, in one dataset. */
export type Changed = { added: string; altered: string; hidden: string }

/** Stamps, ids and epochs behave as the service's: watermarks have microseconds, and a delta reads from five minutes before its moment. */
export function createPractice(granted: readonly DatasetName[]) {
  // Of each run of the check its own, so that a copy of an earlier one is not taken for a copy of this.
  const idOf = () => String(randomInt(100_000_000_000_000, 200_000_000_000_000))
  const [locationId, organizationId] = [idOf(), idOf()]
  const state = { epoch: randomUUID() as string, restored: null as bigint | null }
  let last = nowMicros()
  const draw = () => {
    const now = nowMicros()
    last = now > last ? now : last + 1n
    return last
  }
  const madeAt = draw()
  const records = new Map<DatasetName, Record[]>(
    granted.map((dataset) => [
      dataset,
      Array.from({ length: recordsOfDataset }, (_, index) => {
        return { id: String(firstIdOf(dataset) + index), stamp: madeAt, isHidden: false }
      }),
    ]),
  )
  const recordsOf = (dataset: DatasetName): Record[] => records.get(dataset) ?? []
  const at = (dataset: DatasetName, index: number): Record => {
    const record = recordsOf(dataset).at(index)
    if (!record) throw new Error(`${dataset} has too few records`)
    return record
  }
  let changes = 0

  return {
    locationId,
    organizationId,
    granted,
    createdAt: instantOf(madeAt),
    get epoch() {
      return state.epoch
    },
    get restoredAt() {
      return state.restored === null ? null : instantOf(state.restored)
    },
    recordsOf,
    watermarkOf: (dataset: DatasetName): string => textOf(stampOf(recordsOf(dataset)) + overlapMicros),
    /** What a delta of this moment, or a list without one, contains. `isWhole`: because the service was restored since. */
    select(dataset: DatasetName, since: string | null, epoch: string | null): { records: Record[]; isWhole: boolean } {
      const all = recordsOf(dataset)
      if (since === null) return { records: all, isWhole: false }
      const from = (microsOf(since) ?? 0n) - overlapMicros
      const isOld = epoch === null ? state.restored !== null && from < state.restored : epoch !== state.epoch
      return isOld
        ? { records: all, isWhole: true }
        : { records: all.filter(({ stamp }) => stamp > from), isWhole: false }
    },
    /** Adds, alters and hides one record of each dataset. */
    change(): Map<DatasetName, Changed> {
      changes += 1
      return new Map(
        granted.map((dataset) => {
          const stamp = draw()
          const [altered, hidden] = [at(dataset, 2 * changes), at(dataset, 2 * changes + 1)]
          const added = { id: String(BigInt(at(dataset, -1).id) + 1n), stamp, isHidden: false }
          Object.assign(altered, { stamp })
          Object.assign(hidden, { stamp, isHidden: true })
          recordsOf(dataset).push(added)
          return [dataset, { added: added.id, altered: altered.id, hidden: hidden.id }]
        }),
      )
    },
    /** Restores the service from a backup: it loses the last record of each dataset, and its epoch is another one. */
    restore(): Map<DatasetName, { lost: string; kept: string }> {
      Object.assign(state, { epoch: randomUUID(), restored: draw() })
      return new Map(
        granted.map((dataset) => {
          const lost = recordsOf(dataset).pop()?.id ?? ''
          const kept = at(dataset, 0)
          kept.stamp = draw()
          return [dataset, { lost, kept: kept.id }]
        }),
      )
    },
  }
}

/** A record as the vendor API sends it. `fields`: the attributes that were asked for; null: all. */
export function rendered(dataset: DatasetName, record: Record, fields: readonly string[] | null, isDetail = false) {
  const { list, detail } = examples[dataset]
  const attributes = {
    ...list,
    ...(isDetail && detail),
    is_hidden: record.isHidden,
    source_id: record.id,
    updated_at: instantOf(record.stamp),
  }
  const chosen = fields && Object.fromEntries(Object.entries(attributes).filter(([name]) => fields.includes(name)))
  return { id: record.id, type: datasets[dataset].type, attributes: chosen ?? attributes }
}

/** `2026-01-31T08:05:00.000001Z` in microseconds since 1970; null: no instant. */
export function microsOf(text: string): bigint | null {
  const [, seconds, fraction = ''] = /^(.*?\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(text) ?? []
  const ms = Date.parse(`${seconds}Z`)
  return Number.isNaN(ms) ? null : BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, '0'))
}

/** Ids of different datasets differ, so that a list of ids says of which dataset each is. */
function firstIdOf(dataset: DatasetName): number {
  return (datasetNames.indexOf(dataset) + 1) * 1_000_000_000 + 1
}

function stampOf(records: readonly Record[]): bigint {
  return records.reduce((latest, { stamp }) => (stamp > latest ? stamp : latest), 0n)
}

function nowMicros(): bigint {
  // The last digits are never 000: a program that drops them sends another watermark.
  return BigInt(Date.now()) * 1000n + 127n
}

function textOf(micros: bigint): string {
  return `${new Date(Number(micros / 1000n)).toISOString().slice(0, -1)}${String(micros % 1000n).padStart(3, '0')}Z`
}

function instantOf(micros: bigint): string {
  return new Date(Number(micros / 1000n)).toISOString()
}
