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
    return [{ path: join(folder, dataset.file), name: dataset.file, pattern: dataset.file, locationKey: null }]
  return mapping.locations.map(({ source_id, namesInFiles }) => {
    const files = namesInFiles
      .filter((name) => !/[/\\]|^\.\.$/.test(name))
      .map((name) => dataset.file.replaceAll('{location}', name))
      .map((name) => ({ path: join(folder, name), name, pattern: name, locationKey: source_id }))
    const found = files.find((file) => look(file.path) !== null) ?? files[0]
    return (
      found ?? { path: join(folder, dataset.file), name: dataset.file, pattern: dataset.file, locationKey: source_id }
    )
  })
}

/** Null when there is no such file. */
export function look(path: string): Look | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() ? { size: found.size, modifiedAtMs: found.mtimeMs } : null
}

/** Whether a file beside it, whose name ends in `.done`, says that the export is finished. */
export function isMarked(file: ExportFile, now: Look): boolean {
  const marker = look(`${file.path}.done`)
  return marker !== null && marker.modifiedAtMs >= now.modifiedAtMs
}

export function isSame(one: Look, other: Look): boolean {
  return one.size === other.size && one.modifiedAtMs === other.modifiedAtMs
}
