import type { SyncPosition, SyncStore } from '../sync/store.ts'
import { nameOf } from '../sync/sync.ts'
import { openStateFile } from './state-file.ts'

/** How far a watch is: positions without records. */
export type WatchState = {
  /** False when nothing was kept, so that this is where it begins. */
  isKept: boolean
  positions: Map<string, SyncPosition>
  /** For `sync`, which gets what changed through it; its records are printed, and not kept. */
  store: SyncStore
  /** Keeps the positions: when what they stand for has been printed. */
  keep: () => Promise<void>
  close: () => Promise<void>
}

/** Opens the file of a watch. */
export async function openWatchState(file: string, baseUrl: string, isAnew: boolean): Promise<WatchState> {
  const isState = ({ positions }: Record<string, unknown>) => Array.isArray(positions)
  const { kept, keep, close } = await openStateFile(file, { command: 'watch', baseUrl, isAnew, isState })
  // Written below, whole or not at all.
  const positions = new Map(((kept?.positions ?? []) as SyncPosition[]).map((position) => [nameOf(position), position]))
  return {
    isKept: kept !== null,
    positions,
    store: {
      positions: async () => [...positions.values()],
      apply: async ({ position }) => void positions.set(nameOf(position), position),
      // Nothing is kept of a record, so there is nothing to read.
      async *read() {},
      forget: async (key) => void positions.delete(nameOf(key)),
      close: async () => {},
    },
    keep: () => keep({ positions: [...positions.values()] }),
    close,
  }
}
