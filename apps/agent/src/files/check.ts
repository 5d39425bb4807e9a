import { readdirSync, statSync } from 'node:fs'
import { type Finding, type SourceCheck, SourceProblem } from '../connector.ts'
import { faultText } from './fault.ts'
import { namePattern } from './mapping/file-names.ts'
import type { DatasetMapping, Mapping } from './mapping/mapping.ts'
import { readMappingFile } from './mapping/mapping-file.ts'
import { type Profile, profile } from './profile.ts'
import { type FilesSettings, filesOf, look, missingText } from './watching/export-files.ts'
import { type Source, validateSettled } from './watching/prepare.ts'

const faultsShownMax = 20
const namesShownMax = 20

/**
 * Reads the mapping and every file as a pass would, sends nothing, and says of each what is wrong, with line and column, and what vendors would
 * receive of it.
 */
export async function checkFiles(
  settings: FilesSettings,
  defaultZone: (locationKey: string) => string | null,
  sourceOf: (mapping: Mapping, hash: string) => Source,
): Promise<SourceCheck> {
  const findings: Finding[] = []
  if (!statSync(settings.folder, { throwIfNoEntry: false })?.isDirectory()) {
    findings.push(
      wrong(
        `The folder ${settings.folder} does not exist.`,
        'Correct the folder with "bridgework-agent enroll --replace --folder <path>".',
      ),
    )
  }
  const read = readMappingFile(settings.mapping, defaultZone)
  if ('faults' in read) {
    for (const fault of read.faults) findings.push(wrong(fault, 'Correct the mapping.'))
    return { findings, now: null }
  }
  const { mapping } = read
  findings.push(
    good(`The mapping is valid: ${mapping.datasets.length} datasets of ${mapping.locations.length} locations.`),
  )
  for (const { source_id, time_zone } of mapping.locations) {
    const what = `locations.${source_id} has no time zone.`
    if (time_zone === null) findings.push(wrong(what, 'Give it a time_zone in the mapping, as America/Chicago.'))
  }
  const source = sourceOf(mapping, read.hash)
  const seen = profile(mapping)
  await source.settle()
  for (const dataset of mapping.datasets) findings.push(...(await checkDataset(source, dataset, seen)))
  findings.push(...seen.findings(), ...unreadFiles(settings.folder, mapping))
  return { findings, now: null }
}

async function checkDataset(source: Source, dataset: DatasetMapping, seen: Profile): Promise<Finding[]> {
  const files = filesOf(source.folder, source.mapping, dataset).map((file) => ({ file, look: look(file.path) }))
  const present = files.flatMap(({ file, look: now }) => (now === null ? [] : [{ file, look: now }]))
  if (present.length < files.length) {
    return files
      .filter((each) => each.look === null)
      .map(({ file }) => wrong(`${dataset.dataset}: ${missingText(file)}.`, 'Export it there, or correct the mapping.'))
  }
  try {
    const { faults, records, isHeld } = await validateSettled(source, dataset, present, seen.watch(dataset))
    const names = present.map(({ file }) => file.name).join(', ')
    const found = { ...good(`${dataset.dataset}: ${records} records in ${names}.`), details: seen.details(dataset) }
    if (faults.length === 0) return [found]
    const outcome = isHeld ? 'wrong' : 'advice'
    const todo = isHeld
      ? 'Correct the export or the mapping. Until then the agent sends nothing from this file.'
      : 'The agent skips this line.'
    const shown = faults
      .slice(0, faultsShownMax)
      .map((fault): Finding => ({ outcome, what: `${dataset.dataset}: ${faultText(fault)}`, todo }))
    const more = faults.length - shown.length
    if (more > 0) shown.push({ outcome, what: `${dataset.dataset}: ${more} more lines have errors.`, todo })
    return isHeld ? shown : [...shown, found]
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error
    const what = `${dataset.dataset}: ${error.message}`
    return error.kind === 'file_busy'
      ? [{ outcome: 'advice', what, todo: 'Check again when the export is finished.' }]
      : [wrong(what, error.todo)]
  }
}

/** A ledger of which only one of three files is read looks complete. */
function unreadFiles(folder: string, mapping: Mapping): Finding[] {
  const files = mapping.datasets.flatMap((dataset) => filesOf(folder, mapping, dataset))
  const all = entriesOf(folder)
  const read = new Set(files.flatMap(({ name, pattern }) => [name, ...olderThan(pattern, all)]))
  const names = all.filter((name) => /\.(csv|txt|tsv|tab|ndjson|jsonl)$/i.test(name) && !read.has(name))
  if (names.length === 0) return []
  const more = names.length > namesShownMax ? ` and ${names.length - namesShownMax} more` : ''
  const what = `The mapping does not read these files of the folder: ${names.slice(0, namesShownMax).join(', ')}${more}.`
  return [
    { outcome: 'advice', what, todo: 'Map them if they hold records, like payments or adjustments of the ledger.' },
  ]
}

/** The files that fit a pattern, of which the newest is read. */
function olderThan(pattern: string, names: readonly string[]): string[] {
  const found = namePattern(pattern)
  if (found === null || 'fault' in found) return []
  const own = names.flatMap((name) => (name.startsWith(found.folder) ? [name.slice(found.folder.length)] : []))
  return found.matching(own).map((name) => `${found.folder}${name}`)
}

/** The names of the folder's files, and of those one folder below. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .flatMap((entry) =>
        entry.isDirectory()
          ? readdirSync(`${folder}/${entry.name}`, { withFileTypes: true }).flatMap((inner) =>
              inner.isFile() ? [`${entry.name}/${inner.name}`] : [],
            )
          : [entry.name],
      )
      .toSorted()
  } catch {
    return []
  }
}

function good(what: string): Finding {
  return { outcome: 'good', what, todo: null }
}

function wrong(what: string, todo: string): Finding {
  return { outcome: 'wrong', what, todo }
}
