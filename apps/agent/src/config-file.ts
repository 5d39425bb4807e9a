import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { isIP } from 'node:net'
import { dirname, join, win32 } from 'node:path'
import { UsageError } from '@bridgework/command-line'
import { isTimeZone } from '@bridgework/contract'
import { didYouMean } from './enroll/did-you-mean.ts'
import { parseServerUrl } from './enroll/server-url.ts'
import type { NetworkSettings } from './network/own-network.ts'
import type { DatabaseSettings, DatabaseTls } from './open-dental/database/database-settings.ts'
import { isThisComputer } from './open-dental/database/tls.ts'
import { uploadLimits } from './pipeline/context.ts'
import { engineNames, type SqlSettings } from './sql/settings.ts'

/** The agent's settings, as they stand in its file (there in snake_case). */
export type Config = {
  readonly serverUrl: string
  readonly organizationId: string
  readonly agentId: string
  readonly agentKey: string
  readonly source: SourceSettings
  /** The zone of every location; null: as Bridgework or the source says. */
  readonly timeZone: string | null
  /** False: no note of the practice's staff leaves the office, whatever is granted. */
  readonly sendNotes: boolean
  readonly intervalSeconds: number
  readonly uploadLinesMax: number
  readonly statePath: string
  /** The port of the status page on this computer; null: there is none. */
  readonly statusPort: number | null
} & NetworkSettings

/** What is read, and by which connector. */
export type SourceSettings =
  | { readonly connector: 'open-dental'; readonly database: DatabaseSettings }
  | { readonly connector: 'files'; readonly files: { readonly folder: string; readonly mapping: string } }
  | { readonly connector: 'sql'; readonly database: SqlSettings; readonly mapping: string }

export const defaultIntervalSeconds = 60

/** The settings file, unless another one is named. `programData`: the folder of that name on Windows, else null. */
export function defaultConfigPath(environment: { isRoot: boolean; home: string; programData: string | null }): string {
  if (environment.programData !== null) return win32.join(environment.programData, 'Bridgework', 'Agent', 'config.json')
  return environment.isRoot
    ? '/etc/bridgework-agent/config.json'
    : join(environment.home, '.config', 'bridgework-agent', 'config.json')
}

/** Reads the settings, or throws a `UsageError` that names every fault at once. A file that others can read is refused. */
export function readConfig(path: string, platform: NodeJS.Platform = process.platform): Config {
  let text: string
  try {
    // Windows has no such bits; the guide sets the folder's rights there.
    const mode = statSync(path).mode & 0o777
    if (platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UsageError(
        `${path} can be read by others (mode ${mode.toString(8)}). It contains the agent's key and the database password. Run: chmod 600 ${path}`,
      )
    }
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    if (code === 'ENOENT') {
      throw new UsageError(
        `The settings file ${path} does not exist. Run "bridgework-agent enroll --server <url> --code <code>" first.`,
      )
    }
    throw new UsageError(`The settings file ${path} cannot be read (${code}).`)
  }
  return parseConfig(text, path)
}

/** As `readConfig`, for the text alone. */
export function parseConfig(text: string, path: string): Config {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw new UsageError(`${path} is not valid JSON.`)
  }
  const faults: string[] = []
  const top = fieldsOf(document, '', topNames, faults)

  const serverUrl = parseServerUrl(textOf(top, 'server_url', faults))
  if ('because' in serverUrl) faults.push(`server_url: ${serverUrl.because}`)
  const timeZone = optionalText(top, 'time_zone', faults)
  if (timeZone !== null && !isTimeZone(timeZone)) faults.push('time_zone must be a zone like America/Chicago.')
  const config: Config = {
    serverUrl: 'url' in serverUrl ? serverUrl.url : '',
    organizationId: textOf(top, 'organization_id', faults),
    agentId: textOf(top, 'agent_id', faults),
    agentKey: textOf(top, 'agent_key', faults),
    source: sourceOf(top, faults),
    timeZone,
    sendNotes: trueOrFalse(top, 'send_notes', true, faults),
    intervalSeconds: wholeNumber(
      top,
      'interval_seconds',
      { least: 5, most: 86_400, otherwise: defaultIntervalSeconds },
      faults,
    ),
    uploadLinesMax: wholeNumber(
      top,
      'upload_lines_max',
      { least: 1, most: uploadLimits.linesMax, otherwise: uploadLimits.linesMax },
      faults,
    ),
    statePath: optionalText(top, 'state_path', faults) ?? join(dirname(path), 'state.sqlite'),
    statusPort:
      (top.get('status_port') ?? null) === null
        ? null
        : wholeNumber(top, 'status_port', { least: 1, most: 65_535, otherwise: 1 }, faults),
    proxy: proxyOf(top, faults),
    caFile: optionalText(top, 'ca_file', faults),
  }
  if (faults.length > 0)
    throw new UsageError(`The settings file ${path} is not valid:\n${faults.map((each) => `  ${each}`).join('\n')}`)
  return config
}

function proxyOf(top: Fields, faults: string[]): string | null {
  const text = optionalText(top, 'proxy', faults)
  if (text === null) return null
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    faults.push(
      'proxy must be an address like http://proxy.office.example:3128, with name:password@ before the host if it asks for them.',
    )
  return text
}

function sourceOf(top: Fields, faults: string[]): SourceSettings {
  const connector = optionalText(top, 'connector', faults) ?? 'open-dental'
  if (connector === 'files') {
    if (top.has('database')) faults.push('database does not belong to connector "files". Remove it.')
    const files = fieldsOf(top.get('files') ?? {}, 'files.', fileNames, faults)
    if (top.has('mapping')) faults.push('mapping belongs into files with connector "files". Move it there.')
    const folder = textOf(files, 'files.folder', faults)
    return { connector, files: { folder, mapping: textOf(files, 'files.mapping', faults) } }
  }
  if (connector !== 'open-dental' && connector !== 'sql')
    faults.push('connector must be "open-dental", "files" or "sql".')
  if (top.has('files')) faults.push(`files does not belong to connector "${connector}". Remove it.`)
  if (connector === 'sql')
    return { connector, database: sqlDatabaseOf(top, faults), mapping: textOf(top, 'mapping', faults) }
  if (top.has('mapping')) faults.push('mapping does not belong to connector "open-dental". Remove it.')
  const database = fieldsOf(top.get('database') ?? {}, 'database.', databaseNames, faults)
  const host = optionalText(database, 'database.host', faults) ?? '127.0.0.1'
  const socket = optionalText(database, 'database.socket', faults)
  return {
    connector: 'open-dental',
    database: {
      host,
      port: wholeNumber(database, 'database.port', { least: 1, most: 65_535, otherwise: 3306 }, faults),
      socket,
      user: textOf(database, 'database.user', faults),
      password: textOf(database, 'database.password', faults, { mayBeEmpty: true }),
      name: textOf(database, 'database.name', faults),
      tls: tlsOf(database, { host, socket }, faults),
    },
  }
}

function sqlDatabaseOf(top: Fields, faults: string[]): SqlSettings {
  const database = fieldsOf(top.get('database') ?? {}, 'database.', sqlDatabaseNames, faults)
  const given = optionalText(database, 'database.engine', faults)
  const engine = engineNames.find((name) => name === given)
  if (engine === undefined) faults.push(`database.engine must be one of ${engineNames.join(', ')}.`)
  const host = optionalText(database, 'database.host', faults) ?? '127.0.0.1'
  const socket = optionalText(database, 'database.socket', faults)
  const port = database.get('database.port') ?? null
  const isFile = engine === 'sqlite'
  const name = textOf(database, 'database.name', faults)
  if (engine === 'odbc' && /(^|;)\s*(pwd|password)\s*=/i.test(name))
    faults.push('database.name must not contain the password. Put it into database.password.')
  const account = (field: string, mayBeEmpty: boolean) => {
    if (isFile || (engine === 'odbc' && !database.has(field))) return ''
    return textOf(database, field, faults, { mayBeEmpty: mayBeEmpty || engine === 'odbc' })
  }
  // What leaves this computer is encrypted, and SQL Server always can.
  const plain = isFile || engine === 'odbc' || socket !== null || (isThisComputer(host) && engine !== 'sqlserver')
  return {
    engine: engine ?? 'postgresql',
    host,
    port:
      port === null ? null : wholeNumber(database, 'database.port', { least: 1, most: 65_535, otherwise: 1 }, faults),
    instance: optionalText(database, 'database.instance', faults),
    socket,
    user: account('database.user', false),
    password: account('database.password', true),
    name,
    program: optionalText(database, 'database.program', faults),
    tls: tlsOf(database, { host, socket }, faults, plain ? 'off' : 'required'),
  }
}

function tlsOf(
  database: Fields,
  at: { host: string; socket: string | null },
  faults: string[],
  otherwise = 'off',
): DatabaseTls | null {
  const mode = optionalText(database, 'database.tls', faults) ?? otherwise
  const caFile = optionalText(database, 'database.tls_ca_file', faults)
  return databaseTls({ mode, caFile }, at, faults)
}

/** How a connection is encrypted, by the values of the settings; adds what cannot be to `faults`. */
export function databaseTls(
  { mode, caFile }: { mode: string; caFile: string | null },
  { host, socket }: { host: string; socket: string | null },
  faults: string[],
): DatabaseTls | null {
  if (mode !== 'verified' && caFile !== null) faults.push('database.tls_ca_file needs database.tls "verified".')
  if (mode === 'off') return null
  if (socket !== null)
    faults.push('database.tls cannot be used with database.socket, which leaves this computer never.')
  if (mode === 'required') return { mode }
  if (mode !== 'verified') {
    faults.push('database.tls must be "off", "required" or "verified".')
    return null
  }
  // The driver compares the certificate with a name alone.
  if (isIP(host) !== 0)
    faults.push('database.host must be a name, as in the certificate, when database.tls is "verified".')
  return { mode, caFile }
}

/**
 * Makes room for the settings before anything is asked of the server: a one-time code must not be used up for a key that
 * then cannot be kept. `write` puts them in place at once and whole, for the user whom the file before belonged to; `discard` leaves everything as it was.
 */
export function prepareConfigFile(path: string): { write(config: Config): void; discard(): void } {
  const temporary = join(dirname(path), `.config-${randomBytes(6).toString('hex')}.tmp`)
  let file: number
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    file = openSync(temporary, 'wx', 0o600)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    throw new UsageError(`The settings file ${path} cannot be written (${code}). Choose another path with --config.`)
  }
  return {
    write: (config) => {
      // A person may run this as root: the agent's own user must still read it.
      if (process.getuid?.() === 0 && existsSync(path)) fchownSync(file, statSync(path).uid, statSync(path).gid)
      writeSync(file, `${JSON.stringify(asDocument(config), null, 2)}\n`)
      fsyncSync(file)
      closeSync(file)
      renameSync(temporary, path)
    },
    discard: () => {
      closeSync(file)
      rmSync(temporary, { force: true })
    },
  }
}

function asDocument(config: Config) {
  return {
    server_url: config.serverUrl,
    organization_id: config.organizationId,
    agent_id: config.agentId,
    agent_key: config.agentKey,
    ...sourceDocument(config.source),
    time_zone: config.timeZone,
    send_notes: config.sendNotes,
    interval_seconds: config.intervalSeconds,
    upload_lines_max: config.uploadLinesMax,
    state_path: config.statePath,
    status_port: config.statusPort,
    proxy: config.proxy,
    ca_file: config.caFile,
  }
}

function sourceDocument(source: SourceSettings): object {
  if (source.connector === 'files') return source
  const { tls, ...database } = source.database
  const caFile = tls?.mode === 'verified' ? tls.caFile : null
  return {
    connector: source.connector,
    database: { ...database, tls: tls?.mode ?? 'off', ...(caFile === null ? {} : { tls_ca_file: caFile }) },
    ...(source.connector === 'sql' && { mapping: source.mapping }),
  }
}

const topNames = [
  'server_url',
  'organization_id',
  'agent_id',
  'agent_key',
  'connector',
  'database',
  'files',
  'mapping',
  'time_zone',
  'send_notes',
  'interval_seconds',
  'upload_lines_max',
  'state_path',
  'status_port',
  'proxy',
  'ca_file',
] as const
const fileNames = ['folder', 'mapping'] as const
const databaseNames = ['host', 'port', 'socket', 'user', 'password', 'name', 'tls', 'tls_ca_file'] as const
const sqlDatabaseNames = ['engine', ...databaseNames, 'instance', 'program'] as const

type Fields = ReadonlyMap<string, unknown>

function fieldsOf(value: unknown, prefix: string, names: readonly string[], faults: string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push(prefix === '' ? 'The file must contain one JSON object.' : `${prefix.slice(0, -1)} must be an object.`)
    return new Map()
  }
  for (const name of Object.keys(value)) {
    if (!names.includes(name)) faults.push(`Unknown setting ${prefix}${name}.${didYouMean(name, names)}`)
  }
  return new Map(Object.entries(value).map(([name, each]) => [`${prefix}${name}`, each]))
}

function textOf(fields: Fields, name: string, faults: string[], options: { mayBeEmpty?: boolean } = {}): string {
  const value = fields.get(name)
  if (typeof value === 'string' && (value !== '' || options.mayBeEmpty === true)) return value
  faults.push(value === undefined ? `${name} is missing.` : `${name} must be a text.`)
  return ''
}

function optionalText(fields: Fields, name: string, faults: string[]): string | null {
  const value = fields.get(name) ?? null
  return value === null ? null : textOf(fields, name, faults)
}

function trueOrFalse(fields: Fields, name: string, otherwise: boolean, faults: string[]): boolean {
  const value = fields.get(name) ?? otherwise
  if (typeof value === 'boolean') return value
  faults.push(`${name} must be true or false.`)
  return otherwise
}

function wholeNumber(
  fields: Fields,
  name: string,
  range: { least: number; most: number; otherwise: number },
  faults: string[],
): number {
  const value = fields.get(name) ?? range.otherwise
  if (typeof value === 'number' && Number.isInteger(value) && value >= range.least && value <= range.most) return value
  faults.push(`${name} must be a whole number from ${range.least} to ${range.most}.`)
  return range.otherwise
}
