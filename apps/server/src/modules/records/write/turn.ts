import { type DatasetName, datasetNames, referencesTo } from '@bridgework/contract'
import type { Pool, PoolClient } from 'pg'
import { withTransaction } from '../../../platform/database/pool.ts'
import { codeOf } from '../../../platform/errors/error-code.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { SeenStamps } from '../../datasets/seen-stamps.ts'
import { nextStamp, type Stamp } from '../../datasets/stamp.ts'
import { lockDatasetStates, saveDatasetState } from '../../datasets/writer-lock.ts'
import { deleteEmptyCounts, saveCounts } from './counts.ts'
import { createTally, type Tally } from './tally.ts'

/** A dataset's state while this transaction holds its lock. */
export type HeldState = {
  lastStamp: Stamp
  total: number
  visible: number
  /** The span of stamps that records are counted in now, and how many it was given. */
  spanFrom: Stamp
  spanRecords: number
  tally: Tally
  isChanged: boolean
}

/** A span is given no more records than this, or has one stamp: so many at most does a delta count that begins within it. */
export const spanRecordsMax = 10_000

/** A writer's turn: the states of every dataset that its change can alter are locked, and nobody else writes them until it ends. */
export type Turn = {
  client: PoolClient
  locationId: LocationId
  /** The database's clock when the turn began. */
  clock: Stamp
  state: (dataset: DatasetName) => HeldState
  /** The stamp of this turn's changes of a dataset. Asking for it makes it the dataset's last stamp. */
  stamp: (dataset: DatasetName) => Stamp
}

/**
 * Runs `work` as this location's only writer of the dataset and of all that refer to it, in one transaction of at most 10 s. Locks come before
 * anything that a rendering reads, in the contract's order, in READ COMMITTED: stamps, ids and commits then have one order. Refuses with
 * `busy` after 5 s of waiting for any lock, and with `location_unknown`. `isSmall`: it changes few records, so PostgreSQL would take longer to
 * plan its statements than to run them. `seen`: learns the stamps once they are committed.
 */
export async function takeTurn<T>(
  pool: Pool,
  locationId: LocationId,
  dataset: DatasetName,
  work: (turn: Turn) => Promise<T>,
  { isSmall = false, seen }: { isSmall?: boolean; seen?: SeenStamps | undefined } = {},
): Promise<T> {
  const stamps = new Map<DatasetName, Stamp>()
  const ended = await withTransaction(
    pool,
    async (client) => {
      const turn = await lockStates(client, locationId, alteredBy(dataset))
      const result = await work(turn)
      for (const name of alteredBy(dataset)) {
        const state = turn.state(name)
        if (!state.isChanged) continue
        await count(turn, name, state)
        await saveDatasetState(client, locationId, name, state)
        stamps.set(name, state.lastStamp)
      }
      return result
    },
    { ...turnTimeouts, prepares: isSmall },
  ).catch((cause: unknown) => {
    throw codeOf(cause) === '55P03' ? new Problem('busy', { retryAfterSeconds: 5, cause }) : cause
  })
  for (const [name, stamp] of stamps) seen?.note(locationId, name, stamp)
  return ended
}

/** Puts what this turn changed into the counts, in a new span when it would be too much for the open one. */
async function count({ client, locationId }: Turn, dataset: DatasetName, state: HeldState): Promise<void> {
  const { added, buckets } = state.tally.changes()
  if (state.spanRecords + added > spanRecordsMax) {
    state.spanFrom = state.lastStamp
    state.spanRecords = 0
    await deleteEmptyCounts(client, locationId, dataset)
  }
  state.spanRecords += added
  await saveCounts(client, locationId, dataset, state.spanFrom, buckets)
}

/** The lock's own time-out comes just before the statement's, whose error would not say what was waited for. */
const turnTimeouts = { transactionTimeoutMs: 10_000, lockTimeoutMs: 4_900 }

/** The dataset and those whose renderings refer to its records, in the contract's order. */
export function alteredBy(dataset: DatasetName): DatasetName[] {
  const referring = referencesTo(dataset).map(({ from }) => from)
  return datasetNames.filter((name) => name === dataset || referring.includes(name))
}

async function lockStates(client: PoolClient, locationId: LocationId, names: readonly DatasetName[]): Promise<Turn> {
  const locked = await lockDatasetStates(client, locationId, names)
  if (locked.length !== names.length) throw new Problem('location_unknown')
  const clock = Math.max(...locked.map((row) => row.clock))
  const states = new Map<DatasetName, HeldState>(
    locked.map(({ dataset, clock: _, ...row }) => [dataset, { ...row, tally: createTally(), isChanged: false }]),
  )
  const stamped = new Set<DatasetName>()
  const state = (dataset: DatasetName) => {
    const held = states.get(dataset)
    if (!held) throw new Error(`this turn does not hold ${dataset}`)
    return held
  }
  const stamp = (dataset: DatasetName) => {
    const held = state(dataset)
    if (!stamped.has(dataset)) {
      stamped.add(dataset)
      held.lastStamp = nextStamp(held.lastStamp, clock)
      held.isChanged = true
    }
    return held.lastStamp
  }
  return { client, locationId, clock, state, stamp }
}
