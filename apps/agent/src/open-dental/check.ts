import {
  type DatasetName,
  type Finding,
  type NotesRead,
  type SourceCheck,
  type SourceCycle,
  SourceProblem,
  timeZoneTodo,
} from '../connector.ts'
import { mendedText } from '../progress.ts'
import { keyList } from './changes/keys.ts'
import { notesTable } from './changes/tables-read.ts'
import { type Account, accountOf, accountText, grantStatement } from './database/account.ts'
import type { Database } from './database/connection.ts'
import type { DatabaseSettings } from './database/database-settings.ts'
import { findingOnReplica } from './database/replica.ts'
import { assertQuiet, type Guard, openSession, type Session } from './database/session.ts'
import { findingOnTls } from './database/tls.ts'
import { readLocations } from './locations.ts'
import type { ZoneSources } from './time/location-zone.ts'
import { wallTimeOrNull, withOffset } from './time/wall-time.ts'

/**
 * Asks the database every question that a cycle will ask, and says in words what is wrong. `beginCycle` is for the last of them, whether
 * every value can be sent as it is: only reading everything tells, a chunk at a time and without sending it.
 */
export async function checkOpenDental(
  settings: DatabaseSettings,
  zones: Omit<ZoneSources, 'serverZone'>,
  notes: NotesRead,
  beginCycle: () => Promise<{ cycle: SourceCycle; datasets: readonly DatasetName[] }>,
): Promise<SourceCheck> {
  const findings: Finding[] = []
  let session: Session | null = null
  try {
    session = await openSession(settings, notes)
    findings.push(good(`The database "${settings.name}" answers.`))
    findings.push(await findingOnTls(session.database))
    findings.push(...(await findingOnNotes(session)))
    findings.push(await adviceOnRights(session.database))
    findings.push(findingOnReplica(session.replica))
    const guard = await assertQuiet(session.database)
    findings.push(good(`Open Dental ${guard.programVersion ?? guard.databaseVersion}; no update is in progress.`))
    const ofZones = await checkZones(session, guard, zones)
    findings.push(...ofZones)
    // Without a zone nothing is read.
    if (ofZones.every(({ outcome }) => outcome === 'good')) findings.push(...(await checkValues(session, beginCycle)))
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error
    findings.push({ outcome: 'wrong', what: error.message, todo: error.todo })
  } finally {
    await session?.database.end()
  }
  const now = session === null ? null : new Date(`${session.nowUtc.replace(' ', 'T')}Z`)
  return { findings, now }
}

/** Each location's zone, where it comes from, and what it makes of a winter's and a summer's appointment. */
async function checkZones(session: Session, guard: Guard, zones: Omit<ZoneSources, 'serverZone'>): Promise<Finding[]> {
  const found = await readLocations(session, guard, { ...zones, serverZone: session.serverZone })
  const findings: Finding[] = []
  for (const { location, zone } of found) {
    if (zone.zone === null) {
      const what = `The time zone of ${location.name} is not known. ${zone.because}`
      findings.push({ outcome: 'wrong', what, todo: timeZoneTodo })
      continue
    }
    const samples = await sampleTimes(session.database, location.source_id, found.length === 1, zone.zone)
    findings.push(good(`The time zone of ${location.name} is ${zone.zone}, from ${zone.from}. ${samples}`))
  }
  return findings
}

/** The latest appointment of January and of July, as the instants that we make of them, so that a person who knows the practice can see whether they are right. */
async function sampleTimes(database: Database, locationId: string, isOnly: boolean, zone: string): Promise<string> {
  const clinic = isOnly ? '1' : `ClinicNum = ${keyList([locationId])}`
  const rows = await database.query(
    `select max(case when month(AptDateTime) = 1 then AptDateTime end) as winter,
            max(case when month(AptDateTime) = 7 then AptDateTime end) as summer
       from appointment
      where ${clinic} and AptDateTime > '1880-01-01' and AptDateTime < '2200-01-01'`,
  )
  const samples = [rows[0]?.winter, rows[0]?.summer]
    .map((value) => wallTimeOrNull(value, zone))
    .filter((time) => time !== null)
  if (samples.length === 0) return 'There is no appointment in January or July to show.'
  return `Appointments: ${samples.map((time) => `${withOffset(time)} (${time.instant})`).join(', ')}.`
}

/** Which datasets cannot be read, and what will not be sent as it stands in the database, by column and number of rows. */
async function checkValues(
  { showsInvalidText }: Session,
  beginCycle: () => Promise<{ cycle: SourceCycle; datasets: readonly DatasetName[] }>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const unread = new Map<string, { problem: SourceProblem; datasets: DatasetName[] }>()
  const { cycle, datasets } = await beginCycle()
  try {
    for (const dataset of datasets) {
      const problem = await tryRead(cycle, dataset)
      if (problem !== null) {
        const others = unread.get(problem.message)?.datasets ?? []
        unread.set(problem.message, { problem, datasets: [...others, dataset] })
      }
      for (const values of cycle.takeMended?.() ?? []) {
        const todo = 'Correct it in Open Dental where it matters; the agent sends the rest of these rows as it is.'
        findings.push({ outcome: 'advice', what: `${dataset}: ${mendedText(values)}.`, todo })
      }
    }
  } finally {
    await cycle.end()
  }
  if (!showsInvalidText) {
    const what = 'The tables use two versions of UTF-8, so text that is not valid in its encoding cannot be counted.'
    findings.push({ outcome: 'advice', what, todo: 'It is sent with "?" in its place.' })
  }
  if (unread.size === 0) findings.unshift(good('Every table that the agent needs can be read.'))
  for (const { problem, datasets: stopped } of unread.values()) {
    const what = `${problem.message} Not read: ${stopped.join(', ')}. The other datasets go on.`
    findings.push({ outcome: 'wrong', what, todo: problem.todo })
  }
  return findings.some(({ outcome }) => outcome !== 'good')
    ? findings
    : [...findings, good('Every date, amount and text can be sent as it is.')]
}

/** Reads a dataset without sending it: why it cannot be read, or null. */
async function tryRead(cycle: SourceCycle, dataset: DatasetName): Promise<SourceProblem | null> {
  try {
    const problem = (await cycle.problemOf?.(dataset, null)) ?? null
    if (problem !== null) return problem
    const scan = await cycle.scan?.(dataset)
    for await (const _ of scan?.chunks ?? []);
    return null
  } catch (error) {
    if (!(error instanceof SourceProblem) || error.place === null) throw error
    return error
  }
}

/** A table that the agent can do without, but that notes which the practice granted are in. */
async function findingOnNotes({ database, notes, columns }: Session): Promise<Finding[]> {
  if (!notes.has('treatments') || columns.has('procnote.Note')) return []
  try {
    await database.query(`select Note from ${notesTable} limit 1`)
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error
    return [{ outcome: 'wrong', what: `Notes of treatments are not read: ${error.message}`, todo: error.todo }]
  } finally {
    database.unreadable.delete(notesTable)
  }
  return []
}

/** The account as which the server has let the agent in. */
async function ownAccount(database: Database): Promise<Account> {
  const [row] = await database.query('select current_user() as account')
  return accountOf(row?.account ?? '')
}

/** The agent never writes; an account that cannot either is one worry less. */
async function adviceOnRights(database: Database): Promise<Finding> {
  const rows = await database.query('show grants for current_user()')
  const grants = rows.flatMap((row) => Object.values(row)).filter((grant) => grant !== null)
  // To ask how far a replica is behind, a right over the whole server is needed.
  const asks = '(usage|select|replication client|replica monitor|slave monitor|binlog monitor)( \\(.*?\\))?'
  const readsOnly = new RegExp(`^grant ${asks}(, ${asks})* on `, 'i')
  const more = grants.some((grant) => !readsOnly.test(grant))
  if (!more) return good('The database user can read only.')
  const own = { ...(await ownAccount(database)), user: 'bridgework' }
  const statements = `create user ${accountText(own)} identified by '…'; ${grantStatement(database.settings.name, own)};`
  return {
    outcome: 'advice',
    what: 'The database user has more rights than reading.',
    todo: `Give the agent a user of its own with a password in the place of …: ${statements} Then run "bridgework-agent configure --db-user bridgework".`,
  }
}

function good(what: string): Finding {
  return { outcome: 'good', what, todo: null }
}
