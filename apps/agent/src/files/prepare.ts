import { createHash } from 'node:crypto'
import { SourceProblem } from '../connector.ts'
import { type FilesCursor, parseCursor } from './cursor.ts'
import { filesOf, isFinished, isSame, type Look, look } from './export-files.ts'
import { type FileFault, faultText, UnreadableFile } from './lines.ts'
import type { DatasetMapping, Mapping } from './mapping.ts'
import { type ExportFile, recordReader } from './records.ts'

/** A dataset's files, looked at and found good to read. */
export type Prepared = {
  readonly files: readonly { readonly file: ExportFile; readonly look: Look }[]
  readonly cursor: FilesCursor
  /** Nothing in them is new since the cursor. */
  readonly isUnchanged: boolean
  readonly isFirst: boolean
  /** Lines that are left out, where the mapping says that the others may be read. */
  readonly skipped: readonly FileFault[]
  /** How many records they have; null: they were not read through since this process began. */
  readonly records: number | null
}

/** What was found out about files that have not changed since: so that a bad file is not read again at every pass. */
export type Memory = {
  readonly looks: Map<string, Look>
  readonly validated: Map<string, { identity: string; outcome: Validated }>
}
type Validated = {
  hashes: ReadonlyMap<string, string>
  faults: readonly FileFault[]
  records: number
  isUnreadable: boolean
}

const faultsShownMax = 10
const faultsKeptMax = 1000

/**
 * Looks at a dataset's files, and reads those that changed once from end to end before anything of them is sent: a file with a bad line sends
 * nothing. Throws a `SourceProblem` that says file, line, column and rule.
 */
export async function prepare(
  source: { folder: string; mapping: Mapping; mappingHash: string; memory: Memory; nowMs: number },
  dataset: DatasetMapping,
  cursorText: string | null,
): Promise<Prepared> {
  const { folder, mapping, mappingHash, memory, nowMs } = source
  const cursor = parseCursor(cursorText)
  const isKnown = cursor !== null && cursor.mapping === mappingHash
  const files = filesOf(folder, mapping, dataset).map((file) => {
    const now = look(file.path)
    if (now === null) throw missing(file, folder, cursor !== null)
    const before = memory.looks.get(file.name)
    memory.looks.set(file.name, now)
    if (!isFinished(file, now, before, mapping, nowMs)) throw notFinished(file, mapping)
    return { file, look: now }
  })
  const seenBefore = files.every(({ file, look: now }) => {
    const then = cursor?.files[file.name]
    return then !== undefined && isSame(then, now)
  })
  if (isKnown && seenBefore && cursor !== null) {
    // Which lines are left out must be known, or their records look removed.
    if (dataset.badLine === 'skip_line') await validate(mapping, mappingHash, dataset, files, memory)
    const known = memory.validated.get(dataset.dataset)
    const outcome = known?.identity === identityOf(mappingHash, files) ? known.outcome : null
    const { faults: skipped = [], records = null } = outcome ?? {}
    return { files, cursor, isUnchanged: true, isFirst: false, skipped, records }
  }

  const validated = await validate(mapping, mappingHash, dataset, files, memory)
  if (validated.faults.length > 0 && (dataset.badLine === 'refuse_file' || validated.isUnreadable)) {
    throw invalid(validated.faults)
  }
  const next: FilesCursor = {
    format: 1,
    mapping: mappingHash,
    files: Object.fromEntries(
      files.map(({ file, look: now }) => [
        file.name,
        { size: now.size, modifiedAtMs: now.modifiedAtMs, sha256: validated.hashes.get(file.name) ?? '' },
      ]),
    ),
  }
  const isUnchanged =
    isKnown && Object.entries(next.files).every(([name, { sha256 }]) => cursor?.files[name]?.sha256 === sha256)
  const { faults: skipped, records } = validated
  return { files, cursor: next, isUnchanged, isFirst: cursor === null, skipped, records }
}

/** Reads the files through, as the agent would send them, and sends nothing. */
export async function validate(
  mapping: Mapping,
  mappingHash: string,
  dataset: DatasetMapping,
  files: readonly { file: ExportFile; look: Look }[],
  memory: Memory,
): Promise<Validated> {
  const identity = identityOf(mappingHash, files)
  const known = memory.validated.get(dataset.dataset)
  if (known?.identity === identity) return known.outcome
  const read = recordReader(mapping, dataset)
  const hashes = new Map<string, string>()
  const faults: FileFault[] = []
  let records = 0
  let isUnreadable = false
  for (const { file, look: before } of files) {
    const hash = createHash('sha256')
    try {
      for await (const each of read(file, hash)) {
        if (!('rule' in each)) records += 1
        else if (faults.length < faultsKeptMax) faults.push(each)
      }
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw unreadable(file, error)
      faults.push(error.fault)
      isUnreadable = true
    }
    hashes.set(file.name, hash.digest('hex'))
    const after = look(file.path)
    if (after === null || !isSame(before, after)) throw changedMeanwhile(file)
  }
  const outcome = { hashes, faults, records, isUnreadable }
  memory.validated.set(dataset.dataset, { identity, outcome })
  return outcome
}

function identityOf(mappingHash: string, files: readonly { file: ExportFile; look: Look }[]): string {
  return JSON.stringify([mappingHash, files.map(({ file, look: now }) => [file.name, now])])
}

export function changedMeanwhile(file: ExportFile): SourceProblem {
  return new SourceProblem(
    'file_busy',
    `${file.name} changed while it was read.`,
    'Nothing to do: the agent reads it again.',
  )
}

/** The first of the faults, and how many there are. */
export function faultsText(faults: readonly FileFault[]): string {
  const shown = faults.slice(0, faultsShownMax).map(faultText)
  const more = faults.length - shown.length
  const many = faults.length >= faultsKeptMax ? 'at least ' : ''
  return [...shown, ...(more > 0 ? [`And ${many}${more} more.`] : [])].join(' ')
}

function invalid(faults: readonly FileFault[]): SourceProblem {
  return new SourceProblem(
    'file_invalid',
    `The agent sent nothing from the file. ${faultsText(faults)}`,
    'Correct the export or the mapping; "bridgework-agent check" reads the files and sends nothing.',
  )
}

function missing(file: ExportFile, folder: string, wasRead: boolean): SourceProblem {
  return wasRead
    ? new SourceProblem(
        'file_busy',
        `${file.name} does not exist any more.`,
        'Nothing to do if a new export is running.',
      )
    : new SourceProblem(
        'file_missing',
        `The file ${file.name} does not exist in ${folder}.`,
        'Export it to this folder, or correct the mapping.',
      )
}

function notFinished(file: ExportFile, mapping: Mapping): SourceProblem {
  return mapping.readyWhen === 'marked'
    ? new SourceProblem(
        'file_busy',
        `The marker file ${file.name}.done is missing or older than ${file.name}.`,
        'The export must write the marker file last.',
      )
    : new SourceProblem(
        'file_busy',
        `${file.name} is still being written.`,
        'Nothing to do: the agent reads it when it no longer changes.',
      )
}

function unreadable(file: ExportFile, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  if (code === null || error instanceof SourceProblem) return error
  return new SourceProblem(
    'unreachable',
    `${file.name} cannot be read (${code}).`,
    'Give the account of the agent the right to read the folder.',
    { cause: error },
  )
}
