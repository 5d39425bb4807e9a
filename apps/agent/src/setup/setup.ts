import { UsageError } from '@bridgework/command-line'
import { type Options, optionText } from '../command-line.ts'
import { databaseTls } from '../config-file.ts'
import { SourceProblem } from '../connector.ts'
import { parseServerUrl } from '../enroll/server-url.ts'
import type { DatabaseSettings, DatabaseTls } from '../open-dental/database/database-settings.ts'
import { isThisComputer } from '../open-dental/database/tls.ts'
import { createReadingUser, newPassword, statementsFor } from './database-user.ts'
import { type DatabaseFound, type DatabaseServer, findOpenDental, usualPorts } from './find-open-dental.ts'

export type SetupDeps = {
  readonly print: (line: string) => void
  /** Ask a person; null when there is no terminal: then what is not given as an option is an error. */
  readonly ask: ((question: string) => Promise<string>) | null
  readonly askPassword: ((question: string) => Promise<string>) | null
  readonly readPassword: (path: string) => string
  /** The value of BRIDGEWORK_AGENT_DB_PASSWORD. */
  readonly passwordFromEnvironment: string | undefined
  /** Where Open Dental may be installed. */
  readonly folders: readonly string[]
  readonly findDatabaseServer: (host: string, port: number) => Promise<DatabaseServer | null>
  /** True when the settings file exists. */
  readonly isEnrolled: boolean
  readonly enroll: (options: Options, password: string) => Promise<number>
  readonly check: () => Promise<number>
  /** Starts the installed service and says so; null where this agent is not installed as one. */
  readonly startService: () => string | null
}

/** The port of the status page that set-up chooses. */
export const usualStatusPort = 4780

const triesMax = 5

type Place = Pick<DatabaseSettings, 'host' | 'port' | 'name'> & {
  readonly usualAdministrator: string
  readonly tls: DatabaseTls | null
}

/**
 * Leads a person through everything that an office needs: finds Open Dental, gets a database user that can only read, enrols, checks, and
 * starts the service. Also runs without a person, from its options alone. The exit code: 0 when the agent is enrolled and `check` is content.
 */
export async function setUp(options: Options, deps: SetupDeps): Promise<number> {
  const { print } = deps
  if (deps.isEnrolled && options.get('replace') !== true) {
    print('This computer is enrolled already. To enrol it again, add --replace and a new code.')
    return await checkAndStart(deps)
  }
  try {
    const server = await serverAddress(options, deps)
    const code =
      optionText(options, 'code') ?? (await answer(deps, '--code', 'Enrolment code (it begins with bwe_): ', isCode))
    const place = await findDatabase(options, deps)
    const { user, password, undo } = await readingUser(options, deps, place)
    const enrolling: [string, string | true][] = [
      ['server', server],
      ['code', code],
      ['db-host', place.host],
      ['db-port', String(place.port)],
      ['db-name', place.name],
      ['db-user', user],
      ['db-tls', place.tls?.mode ?? 'off'],
      ['status-port', optionText(options, 'status-port') ?? String(usualStatusPort)],
    ]
    for (const name of ['name', 'replace', 'time-zone', 'db-tls-ca-file', 'proxy', 'ca-file']) {
      const value = options.get(name)
      if (value !== undefined) enrolling.push([name, value])
    }
    const enrolled = await deps.enroll(new Map(enrolling), password).catch(async (error: unknown) => {
      await undo()
      throw error
    })
    if (enrolled !== 0) {
      await undo()
      return enrolled
    }
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error
    print(`${error.message}\n  ${error.todo}`)
    return 1
  }
  return await checkAndStart(deps)
}

async function checkAndStart(deps: SetupDeps): Promise<number> {
  deps.print('Checking what the agent will read. In a large practice this takes a minute or two.')
  const checked = await deps.check()
  if (checked !== 0) deps.print('Solve what is marked WRONG above. The agent tries again by itself.')
  deps.print(deps.startService() ?? 'Next, start the service, or run: bridgework-agent run')
  return checked
}

async function serverAddress(options: Options, deps: SetupDeps): Promise<string> {
  const given = optionText(options, 'server')
  if (given !== null) return given
  const question = 'Address of Bridgework, as https://bridgework.example.com: '
  return await answer(deps, '--server', question, (text) => {
    const server = parseServerUrl(text)
    return 'because' in server ? server.because : null
  })
}

function isCode(text: string): string | null {
  return text.startsWith('bwe_') ? null : 'A code begins with bwe_. You get it in the portal, or from the operator.'
}

/** The option, or a person's answer without a fault; `fault` says what is wrong with one. */
async function answer(
  { ask, print }: SetupDeps,
  option: string,
  question: string,
  fault: (text: string) => string | null = (text) => (text === '' ? 'Please enter something.' : null),
): Promise<string> {
  if (ask === null) throw new UsageError(`${option} is missing. See "bridgework-agent setup --help".`)
  for (let tries = 0; tries < triesMax; tries++) {
    const text = await ask(question)
    const because = fault(text)
    if (because === null) return text
    print(because)
  }
  throw new UsageError('Cancelled. Nothing was changed.')
}

/** Where the database is: as given, as Open Dental's own settings say, or where one answers. */
async function findDatabase(options: Options, deps: SetupDeps): Promise<Place> {
  const { print } = deps
  const [host, port] = [optionText(options, 'db-host'), optionText(options, 'db-port')]
  const name = optionText(options, 'db-name')
  const folder = optionText(options, 'open-dental')
  const found = findOpenDental(folder === null ? deps.folders : [folder])
  for (const each of found) {
    if ('middleTier' in each) {
      print(`${each.file}: this Open Dental uses a middle tier, ${each.middleTier}, and not the database itself.`)
      print('  Run this on the computer that has the database, or enter the address of the database.')
    }
  }
  const direct = found.filter((each) => 'host' in each)
  const chosen = host === null && name === null ? await chooseOne(direct, deps) : null
  if (chosen !== null) print(`Found Open Dental: ${chosen.file}`)
  else if (host === null) print('No Open Dental was found that names its database.')
  const usual = chosen?.host ?? host ?? '127.0.0.1'
  const ports = port !== null ? [portNumber(port)] : chosen !== null ? [chosen.port] : usualPorts
  const place = await placeThatAnswers(usual, ports, host === null, deps)
  const tls = await encryption(options, deps, place.host)
  return { ...place, tls, name: name ?? chosen?.name ?? 'opendental', usualAdministrator: chosen?.user || 'root' }
}

/** As given, or as a person says of a database on another computer; without either not encrypted. */
async function encryption(options: Options, deps: SetupDeps, host: string): Promise<DatabaseTls | null> {
  const caFile = optionText(options, 'db-tls-ca-file')
  let mode = optionText(options, 'db-tls') ?? (caFile === null ? null : 'verified')
  if (mode === null && deps.ask !== null && !isThisComputer(host)) {
    const question = `The database is on another computer. Encrypt the connection ("verified", "required" or "off")? `
    mode = await answer(deps, '--db-tls', question, (text) => faultsOf(text)[0] ?? null)
  }
  const faults = faultsOf(mode ?? 'off')
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
  return databaseTls({ mode: mode ?? 'off', caFile }, { host, socket: null }, [])

  function faultsOf(text: string): string[] {
    const faults: string[] = []
    databaseTls({ mode: text, caFile }, { host, socket: null }, faults)
    return faults
  }
}

async function chooseOne(found: readonly DatabaseFound[], deps: SetupDeps) {
  const different = [...new Map(found.map((each) => [`${each.host}:${each.port}/${each.name}`, each])).values()]
  const [first, ...others] = different
  if (first === undefined || others.length === 0) return first ?? null
  if (deps.ask === null) throw new UsageError(`Several databases were found. Choose one with --db-host and --db-name.`)
  for (const [index, { file, host, port, name }] of different.entries()) {
    deps.print(`  ${index + 1}: "${name}" on ${host}:${port} (${file})`)
  }
  const number = await answer(deps, '--db-name', `Which database, 1 to ${different.length}? `, (text) =>
    different[Number(text) - 1] === undefined ? `Enter a number from 1 to ${different.length}.` : null,
  )
  return different[Number(number) - 1] ?? null
}

async function placeThatAnswers(
  host: string,
  ports: readonly number[],
  mayAsk: boolean,
  deps: SetupDeps,
): Promise<{ host: string; port: number }> {
  let [at, numbers] = [host, ports]
  for (let tries = 0; tries < triesMax; tries++) {
    for (const port of numbers) {
      const server = await deps.findDatabaseServer(at, port)
      if (server === null) continue
      if ('refuses' in server) deps.print(`A database server answers at ${at}:${port}, but refuses this computer.`)
      else deps.print(`${server.version} answers at ${at}:${port}.`)
      return { host: at, port }
    }
    const where = `${at}:${numbers.join(', ')}`
    const todo = 'Check that the database server runs and that no firewall is in between.'
    if (!mayAsk || deps.ask === null) {
      throw new SourceProblem('unreachable', `No database server answers at ${where}.`, `${todo} Or give --db-host.`)
    }
    deps.print(`No database server answers at ${where}.\n  ${todo}`)
    const text = await answer(deps, '--db-host', 'Computer with the database (name or address, or name:port): ')
    const [name = '', port] = text.split(':')
    at = name
    numbers = port === undefined ? usualPorts : [portNumber(port)]
  }
  throw new UsageError('Cancelled. Nothing was changed.')
}

function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return Number(text)
  throw new UsageError('--db-port must be a whole number from 1 to 65535.')
}

type Reader = { user: string; password: string; undo: () => Promise<void> }

/** A user that can only read: one that exists, one that is created now, or one that an administrator creates by our statements. */
async function readingUser(options: Options, deps: SetupDeps, place: Place): Promise<Reader> {
  const administrator = optionText(options, 'db-admin')
  const given = optionText(options, 'db-user')
  if (administrator !== null) return await createAs(administrator, given ?? 'bridgework', options, deps, place)
  if (given !== null) return await existing(given, options, deps)
  if (deps.ask === null) {
    throw new UsageError(
      'Give a database user that can only read with --db-user, or an administrator that creates one with --db-admin.',
    )
  }
  deps.print('The agent needs a database user that can only read:')
  deps.print('  1: create it now, with the password of a database administrator (used once, not kept)')
  deps.print('  2: show the statements that create it, for the administrator')
  deps.print('  3: it exists already')
  const way = await answer(deps, '--db-user', 'Choose 1, 2 or 3: ', (text) =>
    /^[123]$/.test(text) ? null : 'Enter 1, 2 or 3.',
  )
  if (way === '1') {
    const name = (await deps.ask(`Administrator of the database (empty: ${place.usualAdministrator}): `)).trim()
    return await createAs(name || place.usualAdministrator, 'bridgework', options, deps, place)
  }
  if (way === '3') return await existing(await answer(deps, '--db-user', 'Database user: '), options, deps)
  const password = newPassword()
  const isHere = place.host === '127.0.0.1'
  if (!isHere) deps.print('In the statements, replace % by the address of this computer.')
  const user = { name: 'bridgework', host: isHere ? 'localhost' : '%', password }
  for (const each of statementsFor(user, place.name, place.tls !== null)) {
    deps.print(`  ${each};`)
  }
  await deps.ask('Press Enter when the administrator has run them. ')
  return { user: 'bridgework', password, undo: nothingToUndo }
}

async function createAs(
  administrator: string,
  name: string,
  options: Options,
  deps: SetupDeps,
  place: Place,
): Promise<Reader> {
  const asked = `Password of "${administrator}" (not kept): `
  const ofAdministrator = await passwordOf(options, 'db-admin-password-file', asked, deps)
  const settings = { ...place, socket: null, user: administrator, password: ofAdministrator }
  const { user, undo } = await createReadingUser(settings, { name, password: newPassword() })
  deps.print(`Created the database user '${user.name}'@'${user.host}', which can only read "${place.name}".`)
  return { user: user.name, password: user.password, undo }
}

async function existing(user: string, options: Options, deps: SetupDeps): Promise<Reader> {
  const asked = `Password of "${user}": `
  const password = deps.passwordFromEnvironment ?? (await passwordOf(options, 'db-password-file', asked, deps))
  return { user, password, undo: nothingToUndo }
}

async function passwordOf(options: Options, option: string, question: string, deps: SetupDeps): Promise<string> {
  const path = optionText(options, option)
  if (path !== null) return deps.readPassword(path)
  if (deps.askPassword !== null) return await deps.askPassword(question)
  throw new UsageError(`--${option} is missing. See "bridgework-agent setup --help".`)
}

async function nothingToUndo(): Promise<void> {}
