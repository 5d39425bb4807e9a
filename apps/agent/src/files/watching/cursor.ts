import { isObject } from '../mapping/mapping-fields.ts'

/** What was read of a dataset's files: kept by the agent's state as text. */
export type FilesCursor = {
  readonly format: 1
  readonly mapping: string
  /** The names, as the mapping has them, of files that ended with a line end: one that does not any more may have been cut. */
  readonly lineEnds?: readonly string[]
  /** By the file's name below the folder. */
  readonly files: Readonly<Record<string, { size: number; modifiedAtMs: number; sha256: string }>>
}

export function parseCursor(text: string | null): FilesCursor | null {
  if (text === null) return null
  try {
    const cursor: unknown = JSON.parse(text)
    // Written by this file's readers alone; another connector's has another format.
    return isObject(cursor) && cursor.format === 1 && isObject(cursor.files) ? (cursor as FilesCursor) : null
  } catch {
    return null
  }
}
