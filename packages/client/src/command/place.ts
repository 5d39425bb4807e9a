import { statSync } from 'node:fs'
import { UsageError } from './usage-error.ts'

/** Where a mirror is. */
export type Place =
  | { kind: 'sqlite'; file: string }
  | { kind: 'postgres'; url: string }
  | { kind: 'folder'; folder: string }

/** Reads `--to`. A misspelt one is refused with the right spelling. */
export function readPlace(to: string): Place {
  if (/^postgres(ql)?:\/\//.test(to)) return { kind: 'postgres', url: to }
  if (to.startsWith('sqlite:')) {
    const file = to.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
    if (file === '') throw new UsageError('The file name is missing. Write it like --to sqlite:copy.sqlite')
    return { kind: 'sqlite', file }
  }
  if (/^[a-z][a-z\d+.-]+:/i.test(to))
    throw new UsageError(`--to cannot be "${to.split(':')[0]}:". Use sqlite:, postgres:// or a folder.`)
  const [ending] = /\.(sqlite3?|db3?)$/i.exec(to) ?? []
  if (ending !== undefined && !isFolder(to)) {
    const folder = `For a folder of NDJSON files, use a name that does not end with ${ending}.`
    throw new UsageError(`For a SQLite file write --to sqlite:${to}. ${folder}`)
  }
  return { kind: 'folder', folder: to }
}

/** One that an earlier mirror made is gone on with, whatever its name. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
