import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { namePattern } from '../mapping/file-names.ts'
import type { DatasetMapping, Mapping, TableMapping } from '../mapping/mapping.ts'
import type { LookupMapping } from '../reading/lookup.ts'

/** Where the exports lie, and the file that says what they hold. `timeZone`: of locations that the mapping gives none. */
export type FilesSettings = { readonly folder: string; readonly mapping: string; readonly timeZone: string | null }

/**
 * A file of a dataset. `pattern`: its name as the mapping has it; `name`: its path below the folder, the pattern when no file fits. `locationKey` when
 * its path says whose records it holds.
 */
export type ExportFile = {
  readonly path: string
  readonly name: string
  readonly pattern: string
  readonly locationKey: string | null
  readonly of: TableMapping | LookupMapping
}

/** A file as it stood when it was looked at. */
export type Look = { readonly size: number; readonly modifiedAtMs: number }

/** Which files a dataset is made of: its look-ups first, then those of each table, of each location when the path says so. */
export function filesOf(folder: string, { locations }: Mapping, { lookups, tables }: DatasetMapping): ExportFile[] {
  return [
    ...lookups.flatMap((lookup) => matching(folder, lookup, lookup.pattern, null)),
    ...tables.flatMap((table) => {
      if (table.locationsFrom !== 'path') return matching(folder, table, table.pattern, null)
      return locations.flatMap(({ source_id, namesInFiles }) => {
        const files = namesInFiles
          .filter((name) => !/[/\\*{}]|^\.\.$/.test(name))
          .map((name) => matching(folder, table, table.pattern.replaceAll('{location}', name), source_id))
        return files.find((found) => found.some((file) => look(file.path) !== null)) ?? files[0] ?? []
      })
    }),
  ]
}

function matching(folder: string, of: ExportFile['of'], pattern: string, locationKey: string | null): ExportFile[] {
  const fileOf = (name: string) => ({ path: join(folder, name), name, pattern, locationKey, of })
  const names = namePattern(pattern)
  if (names === null || 'fault' in names) return [fileOf(pattern)]
  const found = names.matching(namesIn(join(folder, names.folder)))
  const chosen = of.which === 'newest' ? found.slice(-1) : found
  return chosen.length === 0 ? [fileOf(pattern)] : chosen.map((name) => fileOf(`${names.folder}${name}`))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Null when there is no such file. */
export function look(path: string): Look | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() ? { size: found.size, modifiedAtMs: found.mtimeMs } : null
}

/** Says which file is missing, or that none fits the pattern. */
export function missingText({ name, pattern }: ExportFile): string {
  return namePattern(pattern) === null ? `The file ${name} does not exist` : `No file fits the name ${pattern}`
}

/** Whether a file beside it, whose name ends in `.done`, says that the export is finished. */
export function isMarked(file: ExportFile, now: Look): boolean {
  const marker = look(`${file.path}.done`)
  return marker !== null && marker.modifiedAtMs >= now.modifiedAtMs
}

export function isSame(one: Look, other: Look): boolean {
  return one.size === other.size && one.modifiedAtMs === other.modifiedAtMs
}
