import { statSync } from 'node:fs'
import { type Finding, type SourceCheck, SourceProblem } from '../connector.ts'
import { type FilesSettings, filesOf, isFinished, look } from './export-files.ts'
import { faultText } from './lines.ts'
import type { DatasetMapping, Mapping } from './mapping.ts'
import { readMappingFile } from './mapping-file.ts'
import { validate } from './prepare.ts'

const faultsShownMax = 20

/** Reads the mapping and every file as a pass would, sends nothing, and says of each what is wrong, with line and column. */
export async function checkFiles(
  settings: FilesSettings,
  defaultZone: (locationKey: string) => string | null,
  nowMs: () => number,
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
  findings.push(
    good(
      `The mapping is valid: ${read.mapping.datasets.length} datasets of ${read.mapping.locations.length} locations.`,
    ),
  )
  for (const { source_id, time_zone } of read.mapping.locations) {
    const what = `locations.${source_id} has no time zone.`
    if (time_zone === null) findings.push(wrong(what, 'Give it a time_zone in the mapping, as America/Chicago.'))
  }
  for (const dataset of read.mapping.datasets) {
    findings.push(...(await checkDataset(settings.folder, read.mapping, read.hash, dataset, nowMs())))
  }
  return { findings, now: null }
}

async function checkDataset(
  folder: string,
  mapping: Mapping,
  hash: string,
  dataset: DatasetMapping,
  nowMs: number,
): Promise<Finding[]> {
  const files = filesOf(folder, mapping, dataset).map((file) => ({ file, look: look(file.path) }))
  const findings = files
    .filter((each) => each.look === null)
    .map(({ file }) =>
      wrong(`${dataset.dataset}: the file ${file.name} does not exist.`, 'Export it there, or correct the mapping.'),
    )
  const present = files.flatMap(({ file, look: now }) => (now === null ? [] : [{ file, look: now }]))
  const unfinished = present.filter(({ file, look: now }) => !isFinished(file, now, now, mapping, nowMs))
  for (const { file } of unfinished) {
    findings.push({
      outcome: 'advice',
      what: `${dataset.dataset}: ${file.name} is still being written, or its marker file is missing or older.`,
      todo: 'Check again when the export is finished.',
    })
  }
  if (findings.length > 0) return findings
  try {
    const memory = { looks: new Map(), validated: new Map() }
    const { faults, records, isUnreadable } = await validate(mapping, hash, dataset, present, memory)
    const names = present.map(({ file }) => file.name).join(', ')
    if (faults.length === 0) return [good(`${dataset.dataset}: ${records} records in ${names}.`)]
    const isSkipped = dataset.badLine === 'skip_line' && !isUnreadable
    const outcome = isSkipped ? 'advice' : 'wrong'
    const todo = isSkipped
      ? 'The agent skips this line.'
      : 'Correct the export or the mapping. Until then the agent sends nothing from this file.'
    const shown = faults
      .slice(0, faultsShownMax)
      .map((fault): Finding => ({ outcome, what: `${dataset.dataset}: ${faultText(fault)}`, todo }))
    const more = faults.length - shown.length
    return more > 0 ? [...shown, { outcome, what: `${dataset.dataset}: ${more} more lines have errors.`, todo }] : shown
  } catch (error) {
    if (error instanceof SourceProblem) return [wrong(`${dataset.dataset}: ${error.message}`, error.todo)]
    throw error
  }
}

function good(what: string): Finding {
  return { outcome: 'good', what, todo: null }
}

function wrong(what: string, todo: string): Finding {
  return { outcome: 'wrong', what, todo }
}
