import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatasetMapping, Mapping } from './mapping.ts'
import type { ExportFile } from './records.ts'

/** Where the exports lie, and the file that says what they hold. `timeZone`: of locations that the mapping gives none. */
export type FilesSettings = { readonly folder: string; readonly mapping: string; readonly timeZone: string | null }

/** A file as it stood when it was looked at. */
export type Look = { readonly size: number; readonly modifiedAtMs: number }

/** Which files a dataset is made of: one, or one of each location when the path says so. */
export function filesOf(folder: string, mapping: Mapping, dataset: DatasetMapping): ExportFile[] {
  if (dataset.locationsFrom !== 'path')
    return [{ path: join(folder, dataset.file), name: dataset.file, locationKey: null }]
  return mapping.locations.map(({ source_id, namesInFiles }) => {
    const files = namesInFiles
      .filter((name) => !/[/\\]|^\.\.$/.test(name))
      .map((name) => dataset.file.replaceAll('{location}', name))
      .map((name) => ({ path: join(folder, name), name, locationKey: source_id }))
    const found = files.find((file) => look(file.path) !== null) ?? files[0]
    return found ?? { path: join(folder, dataset.file), name: dataset.file, locationKey: source_id }
  })
}

/** Null when there is no such file. */
export function look(path: string): Look | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() ? { size: found.size, modifiedAtMs: found.mtimeMs } : null
}

/**
 * Whether the program that writes the file has finished. By its age, or, where the mapping asks for it, by a file beside it whose name ends in `.done`
 * and that is not older. A moment of writing that lies ahead comes from a clock that is wrong: then the same look twice is enough.
 */
export function isFinished(
  file: ExportFile,
  now: Look,
  before: Look | undefined,
  mapping: Mapping,
  nowMs: number,
): boolean {
  if (mapping.readyWhen === 'marked') {
    const marker = look(`${file.path}.done`)
    return marker !== null && marker.modifiedAtMs >= now.modifiedAtMs
  }
  const ageMs = nowMs - now.modifiedAtMs
  return ageMs < 0 ? before !== undefined && isSame(before, now) : ageMs >= mapping.settleSeconds * 1000
}

export function isSame(one: Look, other: Look): boolean {
  return one.size === other.size && one.modifiedAtMs === other.modifiedAtMs
}
