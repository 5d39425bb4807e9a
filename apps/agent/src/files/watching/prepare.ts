import { type FilePlace, SourceProblem } from '../../connector.ts'
import { type FileFault, faultText, UnreadableFile } from '../fault.ts'
import type { DatasetMapping, Mapping } from '../mapping/mapping.ts'
import { recordReader } from '../reading/records.ts'
import { noContent } from '../reading/text.ts'
import { type FilesCursor, parseCursor } from './cursor.ts'
import { type ExportFile, filesOf, isMarked, isSame, type Look, look, missingText } from './export-files.ts'
import type { RecordWatch } from './record-watch.ts'
import { hashOf, type Settling } from './settle.ts'

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
  readonly settling: Settling
  readonly validated: Map<string, { identity: string; outcome: Validated }>
}
type Validated = {
  hashes: ReadonlyMap<string, string>
  /** The files that end with a line end. */
  lineEnds: ReadonlySet<string>
  faults: readonly FileFault[]
  records: number
  /** Nothing may be sent: a file cannot be read, or has a bad line and must have none. */
  isHeld: boolean
}

const faultsShownMax = 10
const faultsKeptMax = 1000

/** The folder with its mapping, in one cycle. `settle` looks at all its files, once in a cycle. */
export type Source = {
  readonly folder: string
  readonly mapping: Mapping
  readonly mappingHash: string
  readonly memory: Memory
  readonly settle: () => Promise<void>
}

/**
 * Looks at a dataset's files, and reads those that changed once from end to end before anything of them is sent: a file with a bad line sends
 * nothing. Throws a `SourceProblem` that says file, line, column and rule.
 */
export async function prepare(source: Source, dataset: DatasetMapping, cursorText: string | null): Promise<Prepared> {
  const { folder, mapping, mappingHash, memory } = source
  const cursor = parseCursor(cursorText)
  const isKnown = cursor !== null && cursor.mapping === mappingHash
  const lookAtAll = () =>
    filesOf(folder, mapping, dataset).map((file) => {
      const now = look(file.path)
      if (now === null) throw missing(file, folder, cursor !== null)
      return { file, look: now }
    })
  const present = lookAtAll()
  const seenBefore = present.every(({ file, look: now }) => {
    const then = cursor?.files[file.name]
    const hash = memory.settling.knownHash(file, now)
    return then !== undefined && isSame(then, now) && (hash === null || hash === then.sha256)
  })
  if (isKnown && seenBefore && cursor !== null) {
    // Which lines are left out must be known, or their records look removed.
    if (dataset.tables.some((table) => table.badLine === 'skip_line'))
      await validate(mapping, mappingHash, dataset, present, memory)
    const known = memory.validated.get(dataset.dataset)
    const outcome = known?.identity === identityOf(mappingHash, present) ? known.outcome : null
    const { faults: skipped = [], records = null } = outcome ?? {}
    return { files: present, cursor, isUnchanged: true, isFirst: false, skipped, records }
  }

  await source.settle()
  const files = lookAtAll()
  const validated = await validateSettled(source, dataset, files)
  const cut = files.filter(
    ({ file }) =>
      cursor?.lineEnds?.includes(file.pattern) &&
      !validated.lineEnds.has(file.name) &&
      !('lastLineEnd' in file.of && file.of.lastLineEnd === 'optional'),
  )
  if (cut.length > 0)
    throw invalid(
      cut.map(({ file }) => maybeCut(file)),
      files,
    )
  if (validated.isHeld) throw invalid(validated.faults, files)
  const next: FilesCursor = {
    format: 1,
    mapping: mappingHash,
    lineEnds: [...new Set(files.flatMap(({ file }) => (validated.lineEnds.has(file.name) ? [file.pattern] : [])))],
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

/** Reads finished files through. Throws a `SourceProblem` of the kind `file_busy` when one of them is not finished. */
export async function validateSettled(
  { mapping, mappingHash, memory }: Source,
  dataset: DatasetMapping,
  files: readonly { file: ExportFile; look: Look }[],
  watch?: RecordWatch,
): Promise<Validated> {
  const settleMs = mapping.settleSeconds * 1000
  const firsts = files.map(({ file, look: now }) => {
    if (mapping.readyWhen === 'marked' && !isMarked(file, now)) throw notMarked(file)
    const sha256 = memory.settling.settledHash(file, now, settleMs)
    if (sha256 === null) throw beingWritten(file)
    return { file, look: now, sha256 }
  })
  const validated = await validate(mapping, mappingHash, dataset, files, memory, watch)
  for (const { file, look: now, sha256 } of firsts) {
    const second = validated.hashes.get(file.name) ?? ''
    if (second === sha256) continue
    beginAnew(memory, dataset, { file, look: now }, second)
    throw beingWritten(file)
  }
  return validated
}

/** A file has another content than was known, though size and time are the same. */
export function beginAnew(
  { settling, validated }: Memory,
  { dataset }: DatasetMapping,
  { file, look: now }: { file: ExportFile; look: Look },
  sha256: string,
): void {
  validated.delete(dataset)
  settling.begin(file, now, sha256)
}

/** Reads the files through, as the agent would send them, and sends nothing. */
export async function validate(
  mapping: Mapping,
  mappingHash: string,
  dataset: DatasetMapping,
  files: readonly { file: ExportFile; look: Look }[],
  memory: Memory,
  watch?: RecordWatch,
): Promise<Validated> {
  const identity = identityOf(mappingHash, files)
  const known = memory.validated.get(dataset.dataset)
  if (known?.identity === identity && watch === undefined) return known.outcome
  const read = recordReader(mapping, dataset, watch)
  const hashes = new Map<string, string>()
  const lineEnds = new Set<string>()
  const faults: FileFault[] = []
  let records = 0
  let isHeld = false
  for (const { file, look: before } of files) {
    const content = noContent()
    try {
      for await (const each of read(file, content)) {
        if (!('rule' in each)) {
          records += 1
          continue
        }
        if (!('badLine' in file.of && file.of.badLine === 'skip_line')) isHeld = true
        if (faults.length < faultsKeptMax) faults.push(each)
      }
      hashes.set(file.name, content.hash.digest('hex'))
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw unreadable(file, error)
      faults.push(error.fault)
      isHeld = true
      hashes.set(file.name, await hashOf(file.path))
    }
    if (content.endsLine) lineEnds.add(file.name)
    const after = look(file.path)
    if (after === null || !isSame(before, after)) throw changedMeanwhile(file)
  }
  const outcome = { hashes, lineEnds, faults, records, isHeld }
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

/** Where the first of the faults is: the file by its name in the mapping, which the office chose for Bridgework. */
export function placeOf([first]: readonly FileFault[], files: readonly { file: ExportFile }[]): FilePlace | null {
  if (!first) return null
  const { line, column } = first
  const pattern = files.find(({ file }) => file.name === first.file)?.file.pattern
  return pattern === undefined ? null : { file: pattern, line, column }
}

function invalid(faults: readonly FileFault[], files: readonly { file: ExportFile }[]): SourceProblem {
  return new SourceProblem(
    'file_invalid',
    `The agent sent nothing from the file. ${faultsText(faults)}`,
    'Correct the export or the mapping; "bridgework-agent check" reads the files and sends nothing.',
    { filePlace: placeOf(faults, files) },
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
        `${missingText(file)} in ${folder}.`,
        'Export it to this folder, or correct the mapping.',
        { filePlace: { file: file.pattern, line: null, column: null } },
      )
}

function notMarked(file: ExportFile): SourceProblem {
  return new SourceProblem(
    'file_busy',
    `The marker file ${file.name}.done is missing or older than ${file.name}.`,
    'The export must write the marker file last.',
  )
}

function beingWritten(file: ExportFile): SourceProblem {
  return new SourceProblem(
    'file_busy',
    `${file.name} is still being written.`,
    'Nothing to do: the agent reads it when it no longer changes.',
  )
}

function maybeCut(file: ExportFile): FileFault {
  const rule =
    'has no line end after its last line, as earlier exports had, so it may be cut; if it is complete, set last_line_end = "optional"'
  return { file: file.name, line: null, column: null, rule }
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
