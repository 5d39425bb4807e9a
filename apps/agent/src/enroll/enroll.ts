import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '@bridgework/command-line'
import { type Options, optionText } from '../command-line.ts'
import { type Config, defaultIntervalSeconds, parseConfig, prepareConfigFile, readConfig } from '../config-file.ts'
import { enrolAgent, IngestProblem } from '../ingest-client.ts'
import type { NetworkSettings } from '../network/own-network.ts'
import type { DatabaseSettings } from '../open-dental/database/database-settings.ts'
import { uploadLimits } from '../pipeline/context.ts'
import { todoOf } from '../pipeline/cycle.ts'
import type { SqlSettings } from '../sql/settings.ts'
import { agentVersion } from '../version.ts'
import { parseServerUrl } from './server-url.ts'

export type EnrolDeps = {
  readonly configPath: string
  /** The value of BRIDGEWORK_AGENT_DATA_DIR: the folder of the state; null: beside the settings. */
  readonly dataDir?: string | null
  readonly hostName: string
  readonly platform?: NodeJS.Platform
  /** The value of BRIDGEWORK_AGENT_DB_PASSWORD. */
  readonly passwordFromEnvironment: string | undefined
  /** Asks a person; null when there is no terminal. */
  readonly askPassword: ((question: string) => Promise<string>) | null
  readonly print: (line: string) => void
  /** The time zone that a person gives for this enrolled agent, where it is not known; see `askTimeZone`. */
  readonly askTimeZone: (config: Config) => Promise<string | null>
  /** Called with the settings before the server is asked. */
  readonly useNetwork: (settings: NetworkSettings) => void
  readonly fetch?: typeof fetch
}

/** Exchanges the code for a key and writes the settings; the exit code. Every input is checked before the code is used up. */
export async function enroll(options: Options, deps: EnrolDeps): Promise<number> {
  const replace = options.get('replace') === true
  if (existsSync(deps.configPath) && !replace) {
    throw new UsageError(
      `The settings file ${deps.configPath} exists already. To enrol this agent again, add --replace.`,
    )
  }
  const before = replace && existsSync(deps.configPath) ? readConfig(deps.configPath) : null
  const server = parseServerUrl(optionText(options, 'server') ?? before?.serverUrl ?? missing('--server'))
  if ('because' in server) throw new UsageError(server.because)
  const code = optionText(options, 'code') ?? missing('--code')
  if (!code.startsWith('bwe_'))
    throw new UsageError(
      'An enrolment code begins with bwe_. Create one in the portal, or ask the operator of Bridgework for one.',
    )

  const draft = await draftConfig(options, deps, server.url, before)
  deps.useNetwork(draft)
  const file = prepareConfigFile(deps.configPath)
  let config: Config
  try {
    const enrolment = await enrolAgent(
      { serverUrl: server.url, ...(deps.fetch === undefined ? {} : { fetch: deps.fetch }) },
      {
        code,
        name: optionText(options, 'name') ?? deps.hostName,
        version: agentVersion,
        // Only the server that gave the key may see it.
        ...(before?.serverUrl === server.url ? { replacedKey: before.agentKey } : {}),
      },
    )
    config = { ...draft, ...enrolment }
    file.write(config)
  } catch (error) {
    file.discard()
    if (!(error instanceof IngestProblem)) throw error
    const todo =
      error.kind === 'key_refused' ? 'Ask for a new enrolment code. A code works once and expires.' : todoOf(error)
    deps.print(`${error.errors}\n  ${todo}`)
    return 1
  }
  const readers =
    deps.platform === 'win32'
      ? 'The rights of its folder say who can read its settings file'
      : 'Only you can read its settings file'
  deps.print(`The agent is enrolled. ${readers}: ${deps.configPath}`)
  const timeZone = config.timeZone === null ? await deps.askTimeZone(config) : null
  if (timeZone !== null) prepareConfigFile(deps.configPath).write({ ...config, timeZone })
  deps.print('Next, run: bridgework-agent check')
  return 0
}

/**
 * The settings as the options and, where these say nothing, those of `before` have them; validated as the file would be. Without what the server will
 * give.
 */
export async function draftConfig(
  options: Options,
  deps: Pick<EnrolDeps, 'configPath' | 'dataDir' | 'passwordFromEnvironment' | 'askPassword'>,
  serverUrl: string,
  before: Config | null,
): Promise<Config> {
  const number = (name: string, otherwise: number) => {
    const text = optionText(options, name)
    if (text !== null && !/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number.`)
    return text === null ? otherwise : Number(text)
  }
  const source = await sourceSettings(options, deps, before, number)
  const given = (name: string, before: string | null) => {
    const text = optionText(options, name)
    return text === 'none' ? null : (text ?? before)
  }
  const caFile = given('ca-file', before?.caFile ?? null)
  return parseConfig(
    JSON.stringify({
      server_url: serverUrl,
      organization_id: '0',
      agent_id: '0',
      agent_key: 'not yet',
      ...source,
      time_zone: optionText(options, 'time-zone') ?? before?.timeZone ?? null,
      send_notes: before?.sendNotes ?? true,
      interval_seconds: number('interval', before?.intervalSeconds ?? defaultIntervalSeconds),
      upload_lines_max: before?.uploadLinesMax ?? uploadLimits.linesMax,
      proxy: given('proxy', before?.proxy ?? null),
      ca_file: caFile === null ? null : resolve(caFile),
      state_path:
        optionText(options, 'state') ?? before?.statePath ?? (deps.dataDir ? join(deps.dataDir, 'state.sqlite') : null),
      status_port:
        optionText(options, 'status-port') === null ? (before?.statusPort ?? null) : number('status-port', 1),
    }),
    deps.configPath,
  )
}

/** The SQL database that the options name, before any agent is enrolled. */
export async function databaseOf(
  options: Options,
  deps: Pick<EnrolDeps, 'configPath' | 'passwordFromEnvironment' | 'askPassword'>,
): Promise<SqlSettings> {
  const given = new Map([...options].filter(([name]) => name.startsWith('db-')))
  const { source } = await draftConfig(
    given.set('connector', 'sql').set('mapping', 'none yet'),
    deps,
    'https://not.enrolled.invalid',
    null,
  )
  if (source.connector !== 'sql') throw new Error('not the connector that was asked for')
  return source.database
}

async function sourceSettings(
  options: Options,
  deps: Pick<EnrolDeps, 'passwordFromEnvironment' | 'askPassword'>,
  before: Config | null,
  number: (name: string, otherwise: number) => number,
): Promise<object> {
  const connector = optionText(options, 'connector') ?? before?.source.connector ?? 'open-dental'
  const isStrange = (name: string) => {
    if (connector === 'files') return name.startsWith('db-')
    const ofFiles = name === 'folder' || (name === 'mapping' && connector !== 'sql')
    return ofFiles || (connector !== 'sql' && (name === 'db-engine' || name === 'db-instance'))
  }
  const strange = [...options.keys()].find(isStrange)
  if (strange !== undefined) throw new UsageError(`--${strange} cannot be used with --connector ${connector}.`)
  if (connector === 'files') {
    const files = before?.source.connector === 'files' ? before.source.files : null
    const folder = optionText(options, 'folder') ?? files?.folder ?? missing('--folder')
    const mapping = optionText(options, 'mapping') ?? files?.mapping ?? missing('--mapping')
    // The agent may later run from another folder.
    return { connector, files: { folder: resolve(folder), mapping: resolve(mapping) } }
  }
  if (connector === 'sql') return await sqlSettings(options, deps, before, number)
  const database = before?.source.connector === 'open-dental' ? before.source.database : null
  const socketGiven = optionText(options, 'db-socket')
  const hostGiven = optionText(options, 'db-host')
  if (socketGiven !== null && hostGiven !== null) throw new UsageError('Use --db-socket or --db-host, not both.')
  const user = optionText(options, 'db-user') ?? database?.user ?? missing('--db-user')
  return {
    connector,
    database: {
      host: hostGiven ?? database?.host ?? '127.0.0.1',
      port: number('db-port', database?.port ?? 3306),
      socket: socketGiven ?? (hostGiven === null ? (database?.socket ?? null) : null),
      user,
      password: await passwordFor(options, deps, user, database),
      name: optionText(options, 'db-name') ?? database?.name ?? 'opendental',
      ...tlsSettings(options, database),
    },
  }
}

/** Of any SQL database; what is not given is the engine's own. */
async function sqlSettings(
  options: Options,
  deps: Pick<EnrolDeps, 'passwordFromEnvironment' | 'askPassword'>,
  before: Config | null,
  number: (name: string, otherwise: number) => number,
): Promise<object> {
  const known = before?.source.connector === 'sql' ? before.source : null
  const engine = optionText(options, 'db-engine') ?? known?.database.engine ?? missing('--db-engine')
  const mapping = resolve(optionText(options, 'mapping') ?? known?.mapping ?? missing('--mapping'))
  const name = optionText(options, 'db-name') ?? known?.database.name ?? missing('--db-name')
  if (engine === 'sqlite') return { connector: 'sql', database: { engine, name: resolve(name) }, mapping }
  const database = known?.database.engine === engine ? known.database : null
  if (engine === 'odbc') {
    const user = optionText(options, 'db-user') ?? database?.user ?? ''
    const password = user === '' ? '' : await passwordFor(options, deps, user, database)
    return { connector: 'sql', database: { engine, name, user, password, program: database?.program ?? null }, mapping }
  }
  const given = { host: optionText(options, 'db-host'), socket: optionText(options, 'db-socket') }
  if (given.socket !== null && given.host !== null) throw new UsageError('Use --db-socket or --db-host, not both.')
  const user = optionText(options, 'db-user') ?? database?.user ?? missing('--db-user')
  const port = options.has('db-port') ? number('db-port', 1) : (database?.port ?? null)
  return {
    connector: 'sql',
    database: {
      engine,
      host: given.host ?? database?.host ?? '127.0.0.1',
      ...(port !== null && { port }),
      instance: optionText(options, 'db-instance') ?? database?.instance ?? null,
      socket: given.socket ?? (given.host === null ? (database?.socket ?? null) : null),
      user,
      password: await passwordFor(options, deps, user, database),
      name,
      ...(database !== null || options.has('db-tls') || options.has('db-tls-ca-file')
        ? tlsSettings(options, database)
        : {}),
    },
    mapping,
  }
}

function tlsSettings(options: Options, before: Pick<DatabaseSettings, 'tls'> | null): object {
  const mode = optionText(options, 'db-tls')
  const caFile = optionText(options, 'db-tls-ca-file')
  const caFileBefore = before?.tls?.mode === 'verified' ? before.tls.caFile : null
  const tls = mode ?? (caFile === null ? (before?.tls?.mode ?? 'off') : 'verified')
  // The agent may later run from another folder.
  return { tls, tls_ca_file: caFile === null ? (tls === 'verified' ? caFileBefore : null) : resolve(caFile) }
}

async function passwordFor(
  options: Options,
  deps: Pick<EnrolDeps, 'passwordFromEnvironment' | 'askPassword'>,
  user: string,
  before: Pick<DatabaseSettings, 'user' | 'password'> | null,
): Promise<string> {
  const path = optionText(options, 'db-password-file')
  if (path !== null) return passwordFile(path)
  if (deps.passwordFromEnvironment !== undefined) return deps.passwordFromEnvironment
  if (before !== null && before.user === user) return before.password
  if (deps.askPassword !== null) return await deps.askPassword(`Password of the database user "${user}": `)
  throw new UsageError('Set the database password with --db-password-file or BRIDGEWORK_AGENT_DB_PASSWORD.')
}

/** The password in a file, without the end of its line. */
export function passwordFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch {
    throw new UsageError(`The password file ${path} cannot be read.`)
  }
}

function missing(option: string): never {
  throw new UsageError(`${option} is missing. See "bridgework-agent enroll --help".`)
}
