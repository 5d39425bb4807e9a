import { statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '@bridgework/command-line'
import { type Options, optionText } from '../../command-line.ts'
import { mappingSchema } from '../mapping/mapping-schema.ts'
import { type Proposal, type ProposedFile, propose } from './propose.ts'
import { readSamples } from './sample.ts'
import { toml, writeMapping } from './write-mapping.ts'

type MapDeps = {
  readonly print: (line: string) => void
  /** Texts of the files are patients' values: only a terminal may show them. */
  readonly isTerminal: boolean
  readonly timeZone: string
  /** Proposes from the database that the options name. */
  readonly proposeOfDatabase: (options: Options) => Promise<Proposal>
}

/** Proposes a mapping from the files of a folder or from a database, or writes the schema for editors. Nothing of what it reads leaves this computer. */
export async function map(options: Options, deps: MapDeps): Promise<number> {
  const { print, isTerminal, timeZone } = deps
  const [folder, schema] = [optionText(options, 'folder'), optionText(options, 'schema')]
  const kind = optionText(options, 'connector') ?? 'files'
  if (kind !== 'files' && kind !== 'sql') throw new UsageError('--connector must be "files" or "sql".')
  if (schema !== null) {
    writeNew(schema, `${JSON.stringify(mappingSchema(kind), null, 2)}\n`)
    print(`The schema is written to ${resolve(schema)}.`)
    if (folder === null && !options.has('db-engine')) return 0
  }
  const output = optionText(options, 'output') ?? 'mapping.toml'
  const proposal = kind === 'sql' ? await deps.proposeOfDatabase(options) : await proposeOfFolder(folder, print)
  for (const file of proposal.files) printFile(file, { print, isTerminal })
  for (const { name, sample } of proposal.lookups)
    print(`\n${sample.pattern}: a list of codes, as the look-up "${name}"`)
  for (const name of proposal.unplaced)
    print(`\n${name}: the agent does not recognize what this file holds. Map it by hand, or leave it out.`)
  if (proposal.files.length === 0) {
    print(
      kind === 'sql'
        ? 'No table looks like one of patients, visits or payments. Write the mapping by hand.'
        : `No file of ${folder} looks like an export. The agent looks for CSV, text and NDJSON files with a header.`,
    )
    return 1
  }
  const text = writeMapping(proposal, {
    name: optionText(options, 'name') ?? 'Main office',
    timeZone: optionText(options, 'time-zone') ?? timeZone,
  })
  writeNew(output, text)
  const questions = text.match(/^# \? /gm)?.length ?? 0
  print(`\nThe mapping is written to ${resolve(output)}, with ${questions} questions in lines that begin with "# ?".`)
  print(`Answer them, enrol the agent with --connector ${kind}, and run "bridgework-agent check".`)
  return 0
}

async function proposeOfFolder(folder: string | null, print: MapDeps['print']): Promise<Proposal> {
  if (folder === null) throw new UsageError('--folder is missing. See "bridgework-agent map --help".')
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`The folder ${folder} does not exist.`)
  const { samples, unknown, unreadable } = await readSamples(folder)
  for (const { name, code } of unreadable)
    print(`\n${name}: cannot be read (${code}). Close the program that uses it, or get the right to read it.`)
  const proposal = propose(samples)
  return { ...proposal, unplaced: [...unknown, ...proposal.unplaced] }
}

function printFile(
  { sample, dataset, key, guesses, unused }: ProposedFile,
  { print, isTerminal }: Pick<MapDeps, 'print' | 'isTerminal'>,
): void {
  print(`\n${sample.pattern}: ${dataset}, key "${key}"`)
  for (const { attribute, rule, question, texts } of guesses) {
    const shown = isTerminal && texts.length > 0 ? `   ${texts.map((text) => JSON.stringify(text)).join(', ')}` : ''
    print(`  ${attribute.padEnd(24)} ${toml(rule)}${shown}`)
    if (question !== null) print(`    ? ${question}`)
  }
  if (unused.length > 0) print(`  not used: ${unused.join(', ')}`)
}

/** What a person wrote is never overwritten. */
function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    if (code === 'EEXIST') throw new UsageError(`The file ${path} exists already. Choose another path, or remove it.`)
    throw new UsageError(`The file ${path} cannot be written (${code}). Choose another path.`)
  }
}
