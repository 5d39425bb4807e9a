import { type Finding, type SourceCheck, SourceProblem } from '../connector.ts'
import type { Database } from './connection.ts'
import { rightsMissing } from './database-problem.ts'
import type { DatabaseSettings } from './database-settings.ts'
import { clinicTables } from './locations.ts'
import { assertQuiet, openSession, type Session } from './session.ts'

/** Every table that the agent reads. */
const tablesRead = [
  'preference',
  'clinic',
  'employer',
  'carrier',
  'insplan',
  'feesched',
  'fee',
  'procedurecode',
  'definition',
  'provider',
  'operatory',
  'appointmenttype',
  'patientlink',
  'patplan',
  'inssub',
  'histappointment',
  'claimpayment',
  'payplan',
  'referral',
  'refattach',
  ...clinicTables,
] as const

/** As well, where the version has them. */
const tablesOfNewerVersions = ['payplanlink'] as const

/** Asks the database every question that a cycle will ask, and says in words what is wrong. */
export async function checkOpenDental(settings: DatabaseSettings): Promise<SourceCheck> {
  const findings: Finding[] = []
  let session: Session | null = null
  try {
    session = await openSession(settings)
    findings.push(good(`The database "${settings.name}" answers.`))
    await assertIsOpenDental(session.database)
    await assertMayRead(session.database)
    findings.push(good('The database user may read every table that the agent needs.'))
    findings.push(await adviceOnRights(session.database))
    const guard = await assertQuiet(session.database)
    findings.push(good(`Open Dental ${guard.programVersion ?? guard.databaseVersion}; no update is in progress.`))
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error
    findings.push({ outcome: 'wrong', what: error.message, todo: error.todo })
  } finally {
    await session?.database.end()
  }
  const now = session === null ? null : new Date(`${session.nowUtc.replace(' ', 'T')}Z`)
  return { findings, now }
}

/** A database without a table `preference` is another program's; one whose tables may not be seen is told apart by the next check. */
async function assertIsOpenDental(database: Database): Promise<void> {
  const lacking = await tablesRefused(database, tablesRead, 'not_open_dental')
  if (lacking.length === 0) return
  throw new SourceProblem(
    'not_open_dental',
    `The database "${database.settings.name}" is not an Open Dental database: it has no table ${lacking.join(', ')}.`,
    'Correct the database name; Open Dental shows it in its "Choose Database" window. It is usually "opendental".',
  )
}

async function assertMayRead(database: Database): Promise<void> {
  const refused = await tablesRefused(database, [...tablesRead, ...tablesOfNewerVersions], 'rights_missing')
  if (refused.length > 0) throw rightsMissing(database.settings, refused)
}

async function tablesRefused(
  database: Database,
  tables: readonly string[],
  kind: SourceProblem['kind'],
): Promise<string[]> {
  const refused: string[] = []
  for (const table of tables) {
    try {
      await database.query(`select 1 from ${table} limit 0`)
    } catch (error) {
      if (!(error instanceof SourceProblem)) throw error
      if (error.kind === kind) refused.push(table)
      else if (error.kind !== 'rights_missing' && error.kind !== 'not_open_dental') throw error
    }
  }
  return refused
}

/** The agent never writes; an account that cannot either is one worry less. */
async function adviceOnRights(database: Database): Promise<Finding> {
  const rows = await database.query('show grants for current_user()')
  const grants = rows.flatMap((row) => Object.values(row)).filter((grant) => grant !== null)
  const more = grants.some((grant) => !/^grant (usage|select)( \(.*\))? on /i.test(grant))
  return more
    ? {
        outcome: 'advice',
        what: 'The database user has more rights than reading.',
        todo: `Give the agent a user of its own with nothing but: grant select on \`${database.settings.name}\`.*`,
      }
    : good('The database user can read only.')
}

function good(what: string): Finding {
  return { outcome: 'good', what, todo: null }
}
