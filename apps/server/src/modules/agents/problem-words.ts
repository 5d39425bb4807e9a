import type { DatasetName } from '@bridgework/contract'
import type { LocationId } from '../../platform/identity/identity.ts'
import type { AgentProblem, ProblemCode } from './heartbeat.ts'

/** What is wrong and what to do, for the people of a practice. Made here of codes and names of tables: no text of an office is shown. */
export type ProblemWords = { what: string; todo: string }

type Place = Pick<AgentProblem, 'tableName' | 'columnName'> &
  Partial<Pick<AgentProblem, 'fileName' | 'fileLine' | 'fileColumn'>>

/** The sentences for a problem of an agent. */
export function problemWords({ code, ...place }: Place & { code: ProblemCode }): ProblemWords {
  const [what, todo] = words[code](placeOf(place), Boolean(place.fileName))
  return { what, todo }
}

/** False for what is wrong while everything is read all the same. */
export function keepsFromReading(code: ProblemCode): boolean {
  return !besideReading.includes(code)
}

const besideReading: readonly ProblemCode[] = [
  'lines_skipped',
  'notes_not_sent',
  'records_refused',
  'state_set_aside',
  'clock_ahead',
  'clock_behind',
  'disk_low',
  'version_old',
]

/** One cause, with the datasets and locations of which the agent said it; none: all. */
export type GroupedProblem = ProblemWords & {
  code: ProblemCode
  /** What tells it from the other causes of the agent. */
  cause: string
  datasets: DatasetName[]
  locationIds: LocationId[]
  since: Date
}

/** The problems of one agent by their cause, in their order: a damaged table is one, however many datasets need it. */
export function groupProblems(problems: readonly AgentProblem[]): GroupedProblem[] {
  const byCause = Map.groupBy(problems, ({ code, tableName, columnName, fileName }) =>
    [code, tableName ?? '', columnName ?? '', fileName ?? ''].join(' ').trim(),
  )
  return [...byCause].flatMap(([cause, own]) =>
    own.slice(0, 1).map((first) => ({
      ...problemWords(first),
      code: first.code,
      cause,
      datasets: [...new Set(own.flatMap(({ dataset }) => dataset ?? []))],
      locationIds: [...new Set(own.flatMap(({ locationId }) => locationId ?? []))],
      since: first.since,
    })),
  )
}

/** "the column claimproc.Status", "the table claimproc", "the export file plans.csv (line 12, column “Fee”)", or null. */
function placeOf({ tableName, columnName, fileName, fileLine, fileColumn }: Place): string | null {
  if (fileName) {
    const within = [fileLine && `line ${fileLine}`, fileColumn && `column “${fileColumn}”`].filter(Boolean)
    return `the export file ${fileName}${within.length > 0 ? ` (${within.join(', ')})` : ''}`
  }
  if (tableName === null) return null
  return columnName === null ? `the table ${tableName}` : `the column ${tableName}.${columnName}`
}

const checkOnComputer = 'On the computer of the agent, run "bridgework-agent check": it names the cause.'
const checkNamesRows = '"bridgework-agent check" on the agent’s computer says what is wrong and where.'
const byItself = 'You do not need to do anything: the agent tries again by itself.'
const support =
  'Update the agent. If the problem persists, run "bridgework-agent check" on its computer and contact support.'

/** `isFile`: the place is an export file. Agents that read a database by a mapping have the same codes, and name no file. */
const words: Record<ProblemCode, (place: string | null, isFile: boolean) => readonly [what: string, todo: string]> = {
  unreachable: () => [
    'The agent cannot reach the database of the practice management system.',
    `Check that the database server is on and its service runs. ${checkOnComputer}`,
  ],
  access_denied: () => [
    'The database refuses the agent’s user or password.',
    `Check the user and the password in the agent’s settings. ${checkOnComputer}`,
  ],
  not_encrypted: () => [
    'The connection to the database cannot be encrypted as the agent’s settings require.',
    `Renew the certificate of the database server, or correct "tls" in the settings. ${checkOnComputer}`,
  ],
  database_missing: () => [
    'The database that the agent’s settings name does not exist.',
    'Correct the name of the database in the agent’s settings. Of Open Dental it is usually "opendental".',
  ],
  not_open_dental: (place) => [
    `The database lacks ${place ?? 'a table or a column that Open Dental has'}.`,
    'Check that the agent’s settings name the database of Open Dental, and that its last update finished. Then update the agent.',
  ],
  rights_missing: (place) => [
    `The agent’s database user may not read ${place ?? 'all that it needs'}.`,
    'Grant the right as the database’s administrator: "bridgework-agent check" on the agent’s computer shows the statement.',
  ],
  table_damaged: (place) => [
    `${capitalized(place ?? 'a table')} of the database is damaged.`,
    'Repair it: in Open Dental under Tools, Database Maintenance, or with "repair table" as the database’s administrator.',
  ],
  table_missing: (place) => [
    `The database lacks ${place ?? 'a table that Open Dental has'}.`,
    'Check that the last update of Open Dental finished, and that the agent’s settings name its database. Then update the agent.',
  ],
  column_missing: (place) => [
    `The database lacks ${place ?? 'a column that the agent reads'}.`,
    'Check that the last update of the practice management system finished. Then correct the agent’s mapping, or without one update the agent.',
  ],
  update_in_progress: () => ['The practice management system is being updated.', byItself],
  version_changed: () => ['The practice management system was updated while the agent read.', byItself],
  too_slow: (place) => [
    `The database did not answer in time${place === null ? '' : ` when the agent read ${place}`}. The agent stopped its query, so that the office can work.`,
    'The agent tries again by itself. If the problem persists, let the agent read a replica, or check what else runs on the database.',
  ],
  time_zone_unknown: () => [
    'The time zone of a location is not known, so nothing is read.',
    'Set the time zone on the page of the location or in the settings of the practice.',
  ],
  went_back: () => [
    'The practice management system has older data than the agent has read before, so nothing is read.',
    'If the agent reads an old copy, correct its settings. If the office works with a restored backup, run "bridgework-agent confirm-restore" on the agent’s computer.',
  ],
  mapping_invalid: () => [
    'The agent’s mapping has a mistake.',
    'Correct the mapping. "bridgework-agent check" on the agent’s computer names the places.',
  ],
  file_missing: (place) => [
    `${capitalized(place ?? 'an export file')} is missing.`,
    'Check that the practice management system still writes its exports into the agent’s folder.',
  ],
  file_invalid: (place, isFile) => [
    isFile && place !== null
      ? `${capitalized(place)} cannot be read with its mapping, so nothing of it is sent.`
      : 'What the agent reads does not fit its mapping, so nothing of it is sent.',
    `Correct the ${isFile ? 'export' : 'data'} or the mapping. ${checkNamesRows}`,
  ],
  file_busy: () => ['An export file is being written.', byItself],
  unexpected: () => ['The practice management system answered with an error that the agent does not know.', support],
  lines_skipped: (place, isFile) => [
    isFile && place !== null
      ? `Lines of ${place} cannot be read and are left out, so no record is removed.`
      : 'Rows that do not fit the agent’s mapping are left out, so no record is removed.',
    `Correct the ${isFile ? 'export' : 'rows or the mapping'}. ${checkNamesRows}`,
  ],
  export_old: () => [
    'An export file was not written for more than four days.',
    'Check that the practice management system still writes its exports into the agent’s folder.',
  ],
  notes_not_sent: () => [
    'The practice granted notes, but the agent’s settings keep them in the office.',
    'Set "send_notes" to true in the agent’s settings, or take back the grant of notes.',
  ],
  service_refused: () => ['Bridgework refused what the agent sent.', support],
  service_busy: () => ['Bridgework could not take what the agent sent.', byItself],
  records_refused: () => [
    'Bridgework refused some records, so vendors do not get their latest version.',
    'The agent’s log names each record and the reason. Correct the records, or contact support.',
  ],
  written_by_other: () => [
    'Another agent writes at this location, so this one is refused.',
    'Decide which of the two is right, on the page of the location. Stop the other one on its computer.',
  ],
  state_set_aside: () => [
    'The agent’s own file was damaged. The agent put it aside and compares everything.',
    'You do not need to do anything. If it happens again, check the disk of the agent’s computer.',
  ],
  state_unusable: () => [
    'The agent cannot write its own file, so nothing is sent.',
    'Make room on the disk of the agent’s computer, and give the agent’s account the right to write there.',
  ],
  clock_ahead: () => [
    'The clock of the agent’s computer is ahead by more than two minutes.',
    'Turn on time synchronization on that computer, and check its time zone.',
  ],
  clock_behind: () => [
    'The clock of the agent’s computer is behind by more than two minutes.',
    'Turn on time synchronization on that computer, and check its time zone.',
  ],
  disk_low: () => [
    'The disk of the agent’s computer has less than 500 MB left.',
    'Make room on it: when it is full, nothing can be sent.',
  ],
  version_old: () => [
    'The agent has not taken a release that has been available for more than a week.',
    'Turn on updates on the page of agents, or install the newest package on the agent’s computer.',
  ],
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
