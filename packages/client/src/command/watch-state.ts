import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseObject } from '../api-error.ts'
import type { SyncPosition, SyncStore } from '../sync/store.ts'
import { nameOf } from '../sync/sync.ts'
import { tryLock } from '../tokens/file-lock.ts'
import { writePrivate } from '../tokens/file-token-store.ts'
import { configFolder, type Environment } from './settings.ts'
import { UsageError } from './usage-error.ts'

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

/** Each choice of locations and datasets goes on by itself. */
export function watchFile(env: Environment, baseUrl: string, selection: object): string {
  const name = createHash('sha256')
    .update(JSON.stringify([baseUrl, selection]))
    .digest('hex')
    .slice(0, 12)
  return join(configFolder(env), `watch-${name}.json`)
}

/** Opens the file (0600) for this process alone. Throws UsageError when another watch has it, and when it is of another service or no state at all. */
export async function openWatchState(file: string, baseUrl: string, isAnew: boolean): Promise<WatchState> {
  const lock = await tryLock(`${file}.lock`)
  if (!lock) throw new UsageError(`Another watch uses ${file}. Use another file: --state <file>`)
  try {
    const kept = isAnew ? null : await read(file, baseUrl)
    const positions = new Map((kept ?? []).map((position) => [nameOf(position), position]))
    let written = ''
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
      async keep() {
        const text = JSON.stringify({ version: 1, base_url: baseUrl, positions: [...positions.values()] })
        if (text !== written) await writePrivate(file, text)
        written = text
      },
      close: lock.release,
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function read(file: string, baseUrl: string): Promise<SyncPosition[] | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const state = parseObject(text)
  if (state?.version !== 1 || !Array.isArray(state.positions)) {
    throw new UsageError(`${file} is not a state file of watch. Use another file, or start again with --anew.`)
  }
  if (state.base_url !== baseUrl) {
    throw new UsageError(`${file} belongs to ${String(state.base_url)}. Use another file, or start again with --anew.`)
  }
  // Written above, whole or not at all.
  return state.positions as SyncPosition[]
}
