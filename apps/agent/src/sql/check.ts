import { type Finding, type SourceCheck, SourceProblem } from '../connector.ts'
import { faultText } from '../files/fault.ts'
import type { DatasetMapping, Mapping } from '../files/mapping/mapping.ts'
import { readMappingFile } from '../files/mapping/mapping-file.ts'
import { type Profile, profile } from '../files/profile.ts'
import { isThisComputer } from '../open-dental/database/tls.ts'
import { markOf } from './marks.ts'
import { recordsOf } from './records.ts'
import { statementTable } from './rows.ts'
import type { SqlSession } from './session.ts'
import type { SqlSettings } from './settings.ts'
import { openReader, requireQuiet, type SqlSource } from './source.ts'

const faultsShownMax = 20

/** Asks the database every question that a cycle will ask, reads every record without sending it, and says what vendors would receive. */
export async function checkSql(
  source: SqlSource,
  defaultZone: (locationKey: string) => string | null,
): Promise<SourceCheck> {
  const findings: Finding[] = []
  const read = readMappingFile(source.mapping, defaultZone, 'sql')
  if ('faults' in read) {
    for (const fault of read.faults) findings.push(wrong(fault, 'Correct the mapping.'))
    return { findings, now: null }
  }
  const { mapping } = read
  const { length } = mapping.datasets
  findings.push(good(`The mapping is valid: ${length} datasets of ${mapping.locations.length} locations.`))
  for (const { source_id, time_zone } of mapping.locations) {
    const what = `locations.${source_id} has no time zone.`
    if (time_zone === null) findings.push(wrong(what, 'Give it a time_zone in the mapping, as America/Chicago.'))
  }
  let session: SqlSession | null = null
  try {
    session = await openReader(source.database)
    const rights = session.rightsAreKnown ? ` Its user "${source.database.user}" can only read.` : ''
    findings.push(good(`The database answers: ${session.version}.${rights}`))
    findings.push(...findingsOnSession(session, source.database))
    await requireQuiet(session, mapping)
    const seen = profile(mapping)
    for (const dataset of mapping.datasets) findings.push(...(await checkDataset(session, mapping, dataset, seen)))
    findings.push(...seen.findings())
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error
    findings.push(wrong(error.message, error.todo))
  } finally {
    await session?.end()
  }
  // A file has no clock of its own, and ODBC has no question for it.
  const hasClock = !['sqlite', 'odbc'].includes(source.database.engine)
  return { findings, now: hasClock ? (session?.now ?? null) : null }
}

/** What a person should know of the connection. */
export function findingsOnSession(
  { encryption, hasSnapshot, rightsAreKnown }: Pick<SqlSession, 'encryption' | 'hasSnapshot' | 'rightsAreKnown'>,
  settings: SqlSettings,
): Finding[] {
  const { engine, host, socket, tls } = settings
  const findings: Finding[] = []
  if (!rightsAreKnown)
    findings.push({
      outcome: 'advice',
      what: 'ODBC does not tell all that the database user may do, nor whether the connection is encrypted.',
      todo: 'See that this user can only read, and set the encryption in the data source if the database is on another computer.',
    })
  const isLocal = engine === 'sqlite' || socket !== null || isThisComputer(host)
  if (encryption === null && !isLocal)
    findings.push({
      outcome: 'advice',
      what: `The connection to the database at ${host} is not encrypted: others in the network can read patients' data.`,
      todo: 'Set "tls" of "database" in the settings file to "verified", or run the agent on the computer of the database.',
    })
  if (encryption !== null && tls?.mode === 'verified')
    findings.push(good(`The connection to the database is encrypted (${encryption}), and its certificate is verified.`))
  if (encryption !== null && tls?.mode !== 'verified' && !isLocal)
    findings.push({
      outcome: 'advice',
      what: `The connection to the database is encrypted (${encryption}), but its certificate was not verified: another computer can pose as the database.`,
      todo: 'Set "tls" of "database" in the settings file to "verified", and "tls_ca_file" to the certificate of the authority.',
    })
  if (!hasSnapshot)
    findings.push({
      outcome: 'advice',
      what: 'The database gives no snapshot: what changes while the agent reads is sent as it is met, and corrected at the next cycle.',
      todo:
        engine === 'sqlserver'
          ? 'If the maker agrees, run as the administrator: alter database current set allow_snapshot_isolation on;'
          : 'Nothing to do, unless the maker offers tables with transactions (InnoDB).',
    })
  return findings
}

async function checkDataset(
  session: SqlSession,
  mapping: Mapping,
  dataset: DatasetMapping,
  seen: Profile,
): Promise<Finding[]> {
  const faults = new Map<string, number>()
  let records = 0
  try {
    for (const table of dataset.tables.map(statementTable)) {
      await markOf(session, table, undefined, [])
    }
    for await (const each of recordsOf(session, mapping, dataset, null, seen.watch(dataset))) {
      if (!('rule' in each)) records += 1
      else faults.set(faultText(each), (faults.get(faultText(each)) ?? 0) + 1)
    }
  } catch (error) {
    if (!(error instanceof SourceProblem) || error.place === null) throw error
    return [wrong(`${dataset.dataset}: ${error.message}`, error.todo)]
  }
  const isHeld = faults.size > 0 && dataset.tables.some(({ badLine }) => badLine === 'refuse_file')
  const outcome = isHeld ? 'wrong' : 'advice'
  const todo = isHeld
    ? 'Correct the rows or the mapping. Until then the agent stops at the first of these rows.'
    : 'The agent skips these rows.'
  const shown = [...faults].slice(0, faultsShownMax).map(
    ([what, count]): Finding => ({
      outcome,
      what: `${dataset.dataset}: ${what}${count === 1 ? '' : ` (${count} rows)`}`,
      todo,
    }),
  )
  const found = { ...good(`${dataset.dataset}: ${records} records.`), details: seen.details(dataset) }
  const unseen = dataset.tables.map(statementTable).filter(({ statement: { changed } }) => changed === null)
  const advice: Finding[] = unseen.map(({ pattern }) => ({
    outcome: 'advice',
    what: `${pattern}: no setting says how a change is seen, so everything is read every ${mapping.readEveryMinutes} minutes.`,
    todo: 'Give it "changed" if the table has a column of change times or of row versions.',
  }))
  return [...shown, found, ...advice]
}

function good(what: string): Finding {
  return { outcome: 'good', what, todo: null }
}

function wrong(what: string, todo: string): Finding {
  return { outcome: 'wrong', what, todo }
}
