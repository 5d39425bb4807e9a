import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { datasetNames } from '../dataset-resource.ts'
import {
  StoreConflictError,
  type SyncKey,
  type SyncPage,
  type SyncPosition,
  type SyncRecord,
  type SyncStore,
} from '../sync/store.ts'
import { tryLock } from '../tokens/file-lock.ts'
import { appendPrivate, createPrivate } from '../tokens/private-file.ts'
import { makeFilesPrivate, type StoreOptions } from './layout.ts'
import { mergeRecords } from './merge-records.ts'
import { openTarget } from './target-error.ts'

// Files of one dataset of one location:
//   <dataset>.ndjson           one line for each record, in ascending order of id
//   .<dataset>.changes.ndjson  pages of a delta walk that has not ended, in ascending order of id
//   .<dataset>.position.json   the position, and how much of a file that is being appended to counts
//
// A page is appended first and counts when the position is renamed into place; what a killed process appended beyond is written over. When a delta
// walk ends, changes are merged into a new file that takes the old one's name. Merging twice gives the same, so it may be done again after a crash.

type State = {
  position: SyncPosition
  /** Bytes that count of the dataset's file while its first walk lasts; null afterwards, when all do. */
  baseBytes: number | null
  /** Bytes that count of the changes. */
  changesBytes: number
  /** The changes are all that the service has: what they do not name is not kept. */
  replaces?: boolean
  /** The last id that this walk appended. */
  lastId: string
}

/** A copy in a folder: `<location id>/<dataset>.ndjson`, one record a line, as the service sends it. One process at a time. */
export function ndjsonStore(folder: string, options: StoreOptions = {}): Promise<SyncStore> {
  return openTarget(folder, () => openStore(folder, options))
}

async function openStore(folder: string, options: StoreOptions): Promise<SyncStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = await tryLock(join(folder, '.lock'))
  if (!lock) throw new Error(`Another process is writing to ${folder}.`)
  const states = new Map<string, State>()
  for (const key of await keysIn(folder)) {
    await makeFilesPrivate(Object.values(pathOf(folder, key)), options)
    const state = await recover(folder, key)
    if (state) states.set(nameOf(key), state)
  }

  const append = async (page: SyncPage) => {
    const before = states.get(nameOf(page))
    const isBase = before === undefined || before.baseBytes !== null
    const isFirst = before === undefined || before.position.walk === null || page.isAnew === true
    const lastId = isFirst ? '0' : before.lastId
    // A list by page number may repeat a record; had it changed meanwhile, the next delta would bring it.
    const records = page.records.filter(({ id }) => BigInt(id) > BigInt(lastId))
    const path = pathOf(folder, page)
    const bytes = isBase
      ? await appendLines(path.base, isFirst ? 0 : (before.baseBytes ?? 0), records)
      : await appendLines(path.changes, isFirst ? 0 : before.changesBytes, records)
    const isWhole = page.position.walk === null
    const state: State = {
      position: page.position,
      baseBytes: isBase && !isWhole ? bytes : null,
      changesBytes: isBase ? 0 : bytes,
      replaces: page.replaces === true,
      lastId: records.at(-1)?.id ?? lastId,
    }
    await writeState(path.position, state)
    states.set(nameOf(page), state)
    if (isWhole && !isBase) await mergeChanges(path, state)
  }

  return {
    async positions() {
      return [...states.values()].map(({ position }) => position)
    },
    async apply(page) {
      if (!(await lock.isHeld())) throw new Error(`Another process took over ${folder} while this one was suspended.`)
      const kept = states.get(nameOf(page))?.position ?? null
      if (JSON.stringify(kept) !== JSON.stringify(page.previous)) throw new StoreConflictError(page)
      await mkdir(join(folder, page.locationId), { recursive: true, mode: 0o700 })
      if (page.kind === 'walk') return append(page)
      const changes = [...page.records].sort(byId)
      await rewrite(pathOf(folder, page).base, listed(changes), new Set(page.strayIds))
    },
    async *read(key) {
      const path = pathOf(folder, key)
      const state = states.get(nameOf(key))
      // Between the end of a delta walk and its merge there is only a crash, and that was mended when the folder was opened.
      if (state && !state.position.walk) yield* linesOf(path.base)
    },
    async forget(key) {
      const path = pathOf(folder, key)
      // The position first: without it the others are begun anew.
      for (const file of [path.position, path.changes, path.base]) await rm(file, { force: true })
      states.delete(nameOf(key))
    },
    async close() {
      await lock.release()
    },
  }
}

/** Merges what a killed process had not merged. */
async function recover(folder: string, key: SyncKey): Promise<State | null> {
  const path = pathOf(folder, key)
  const state = await readState(path.position)
  // The next page is appended after the bytes that count, so that nothing need be cut off here.
  if (state && !state.position.walk && (await exists(path.changes))) await mergeChanges(path, state)
  return state
}

async function mergeChanges(path: Paths, state: State): Promise<void> {
  if (state.changesBytes > 0 || state.replaces)
    await rewrite(path.base, linesOf(path.changes, state.changesBytes), new Set(), state.replaces)
  await rm(path.changes, { force: true })
  state.changesBytes = 0
  state.replaces = false
  await writeState(path.position, state)
}

/** Writes the file anew with these records inserted or replaced, and those left out; `replaces`: with these alone. */
async function rewrite(
  file: string,
  changes: AsyncIterable<SyncRecord>,
  left: ReadonlySet<string>,
  replaces = false,
): Promise<void> {
  const fresh = `${file}.new`
  const handle = await createPrivate(fresh)
  try {
    let lines: string[] = []
    for await (const record of mergeRecords(replaces ? listed([]) : linesOf(file), changes, left)) {
      lines.push(JSON.stringify(record))
      if (lines.length < 1000) continue
      await handle.appendFile(`${lines.join('\n')}\n`)
      lines = []
    }
    if (lines.length > 0) await handle.appendFile(`${lines.join('\n')}\n`)
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await rename(fresh, file)
}

/** Writes after the bytes that count, and gives how many do afterwards. What lies beyond them was never kept. */
async function appendLines(file: string, bytes: number, records: readonly SyncRecord[]): Promise<number> {
  const handle = await appendPrivate(file)
  try {
    await handle.truncate(bytes)
    if (records.length > 0) await handle.appendFile(`${records.map((record) => JSON.stringify(record)).join('\n')}\n`)
    await handle.datasync()
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}

async function* linesOf(file: string, bytes?: number): AsyncGenerator<SyncRecord> {
  if (bytes === 0 || !(await exists(file))) return
  const input = createReadStream(file, { encoding: 'utf8', ...(bytes !== undefined && { end: bytes - 1 }) })
  let rest = ''
  let number = 0
  // Not node:readline, which also ends lines at U+2028, and JSON does not escape that.
  for await (const part of input) {
    const lines = (rest + part).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      number += 1
      if (line !== '') yield recordIn(line, file, number)
    }
  }
}

function recordIn(line: string, file: string, number: number): SyncRecord {
  try {
    // Written above, unless something else has written to the file.
    return JSON.parse(line) as SyncRecord
  } catch (cause) {
    const remedy = 'Repair the file, or remove the folder: then the next sync copies that location again.'
    throw new Error(`${file}, line ${number}: not a record. ${remedy}`, { cause })
  }
}

async function* listed(records: readonly SyncRecord[]): AsyncGenerator<SyncRecord> {
  yield* records
}

function byId(left: SyncRecord, right: SyncRecord): number {
  return BigInt(left.id) < BigInt(right.id) ? -1 : 1
}

type Paths = { base: string; changes: string; position: string }

function pathOf(folder: string, { locationId, dataset }: SyncKey): Paths {
  const locationFolder = join(folder, locationId)
  return {
    base: join(locationFolder, `${dataset}.ndjson`),
    changes: join(locationFolder, `.${dataset}.changes.ndjson`),
    position: join(locationFolder, `.${dataset}.position.json`),
  }
}

/** Every dataset of every location that the folder may hold something of. */
async function keysIn(folder: string): Promise<SyncKey[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const locations = entries.filter((entry) => entry.isDirectory() && /^\d+$/.test(entry.name))
  return locations.flatMap(({ name }) => datasetNames.map((dataset) => ({ locationId: name, dataset })))
}

async function readState(file: string): Promise<State | null> {
  try {
    // Written below, whole or not at all.
    return JSON.parse(await readFile(file, 'utf8')) as State
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

async function writeState(file: string, state: State): Promise<void> {
  const handle = await createPrivate(`${file}.new`)
  try {
    await handle.writeFile(JSON.stringify(state))
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.new`, file)
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => null)) !== null
}

function nameOf({ locationId, dataset }: SyncKey): string {
  return `${locationId}/${dataset}`
}
