import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type DatasetName, datasets, isDatasetName } from '@bridgework/contract'
import { hostsOf } from './platform/database/hosts.ts'
import type { DatabaseSettings } from './platform/database/open-database.ts'
import type { MetricsSettings } from './platform/http/metrics-route.ts'
import type { TlsFiles } from './platform/http/tls.ts'
import { readSecretFiles, secretFileSettings } from './secret-settings.ts'

export type Config = DatabaseSettings & {
  environment: 'sandbox' | 'production'
  host: string
  port: number
  /** The address that the outside world uses, without a trailing slash: issuer of tokens and base of links. */
  publicUrl: string
  /** Addresses or CIDR ranges whose X-Forwarded-For counts. */
  trustedProxies: readonly string[]
  /** Certificate and key with which the server speaks TLS itself; null: plain HTTP, in production behind a trusted proxy. */
  tls: TlsFiles | null
  /** File with the installation's secret key; null: `secret.key` in the data directory, made at the first start of the sandbox. */
  secretKeyFile: string | null
  /** Preview datasets that are on. In the sandbox all are. */
  previewDatasets: ReadonlySet<DatasetName>
  initialLocationsMax: number
  incrementalLocationsMax: number
  /** Connections to the database at most. */
  databaseConnections: number
  /** Where /metrics is, and who gets it. */
  metrics: MetricsSettings
  /** Where mails go: to a mail server, in the sandbox without one into a folder of the data directory, in production without one nowhere. */
  mail: { kind: 'smtp'; url: string; from: string } | { kind: 'folder'; dir: string } | { kind: 'none' }
  /** Folder with installers of the agent, which the service hands out too; null: none. */
  downloadsDir: string | null
  /** Folder that seals over disclosures and acts are published to; null: they are only in the database. */
  sealsDir: string | null
  /** The collector that gets traces; null: there are none. */
  tracesUrl: string | null
  /** Which events go to the log: all, or those alone that a person should look at. */
  log: 'all' | 'important'
}

/** The settings are invalid. `problems` has a line for each of them. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * Reads every setting before it throws, so one start reports every problem. `root` is the folder that relative paths start from.
 * Throws a ConfigError.
 */
export function readConfig(given: NodeJS.ProcessEnv, root: string): Config {
  const { settings: env, problems } = readSecretFiles(given, root)
  for (const name of Object.keys(env)) {
    if (
      name.startsWith('BRIDGEWORK_') &&
      !settingNames.has(name) &&
      !clientSettingNames.has(name) &&
      !/^BRIDGEWORK_(TEST|AGENT|FEEDER|BENCH)_/.test(name)
    ) {
      problems.push(`${name} is not a known setting. Known settings: ${[...settingNames].join(', ')}.`)
    }
  }
  const read = <T>(name: string, parse: (text: string) => T | undefined, expected: string, fallback: T): T => {
    const text = env[name]
    if (text === undefined || text === '') return fallback
    const value = parse(text.trim())
    if (value !== undefined) return value
    problems.push(`${name} must be ${expected}.`)
    return fallback
  }
  const environment = read(
    'BRIDGEWORK_ENVIRONMENT',
    (text) => (text === 'sandbox' || text === 'production' ? text : undefined),
    '"sandbox" or "production"',
    'sandbox' as const,
  )
  const isProduction = environment === 'production'
  const port = read('BRIDGEWORK_PORT', wholeNumber(1, 65_535), 'a whole number from 1 to 65535', 8080)
  const host = read('BRIDGEWORK_HOST', hostName, 'an IP address or a host name', '127.0.0.1')
  const publicUrl = read(
    'BRIDGEWORK_PUBLIC_URL',
    publicAddress,
    'an http or https address without path, like https://api.example.com',
    `http://${nameOf(host)}:${port}`,
  )
  const trustedProxies = read(
    'BRIDGEWORK_TRUSTED_PROXIES',
    addressList,
    'IP addresses or CIDR ranges, separated by commas',
    [],
  )
  const readDatabase = (name: string) =>
    read(name, postgresUrl, 'a postgres:// address of a server that takes writes, or of several: a:5432,b:5432', null)
  const url = readDatabase('DATABASE_URL')
  const directUrl = readDatabase('BRIDGEWORK_DIRECT_DATABASE_URL')
  const migrationUrl = readDatabase('BRIDGEWORK_MIGRATION_DATABASE_URL')
  const migrations = read(
    'BRIDGEWORK_MIGRATIONS',
    (text) => (text === 'at_start' || text === 'apart' ? text : undefined),
    '"at_start" or "apart"',
    'at_start' as const,
  )
  const smtpUrl = read('BRIDGEWORK_SMTP_URL', smtpAddress, 'an smtp:// or smtps:// address', null)
  const mailFrom = read(
    'BRIDGEWORK_MAIL_FROM',
    mailAddress,
    'an e-mail address, alone or like "Bridgework <portal@example.com>"',
    null,
  )
  const dataDir = resolve(root, env.BRIDGEWORK_DATA_DIR || '.bridgework')
  const { BRIDGEWORK_TLS_CERTIFICATE_FILE: certificateFile, BRIDGEWORK_TLS_KEY_FILE: keyFile } = env
  const config: Config = {
    environment,
    host,
    port,
    publicUrl,
    trustedProxies,
    tls:
      certificateFile && keyFile
        ? { certificateFile: resolve(root, certificateFile), keyFile: resolve(root, keyFile) }
        : null,
    dataDir,
    database: url === null ? { kind: 'embedded' } : { kind: 'server', url, directUrl, migrationUrl, migrations },
    secretKeyFile: env.BRIDGEWORK_SECRET_KEY_FILE ? resolve(root, env.BRIDGEWORK_SECRET_KEY_FILE) : null,
    previewDatasets: isProduction
      ? read(
          'BRIDGEWORK_PREVIEW_OPERATIONS',
          previewNames,
          `one or more of: ${allPreviewNames().join(', ')}`,
          new Set<DatasetName>(),
        )
      : new Set(allPreviewNames()),
    initialLocationsMax: read('BRIDGEWORK_INITIAL_LOCATIONS_MAX', wholeNumber(1, 10_000), 'a whole number from 1', 5),
    incrementalLocationsMax: read(
      'BRIDGEWORK_INCREMENTAL_LOCATIONS_MAX',
      wholeNumber(1, 10_000),
      'a whole number from 1',
      25,
    ),
    databaseConnections: read(
      'BRIDGEWORK_DATABASE_CONNECTIONS',
      wholeNumber(10, 1_000),
      'a whole number from 10 to 1000',
      20,
    ),
    mail:
      smtpUrl !== null && mailFrom !== null
        ? { kind: 'smtp', url: smtpUrl, from: mailFrom }
        : isProduction
          ? { kind: 'none' }
          : { kind: 'folder', dir: resolve(dataDir, 'mail') },
    metrics: {
      address: read('BRIDGEWORK_METRICS_ADDRESS', hostAndPort, 'an address and a port, like 127.0.0.1:9464', null),
      token: read('BRIDGEWORK_METRICS_TOKEN', bearerToken, '32 or more characters without spaces', null),
    },
    tracesUrl: read('BRIDGEWORK_TRACES_URL', httpUrl, 'an address like http://127.0.0.1:4318/v1/traces', null),
    downloadsDir: env.BRIDGEWORK_DOWNLOADS_DIR ? resolve(root, env.BRIDGEWORK_DOWNLOADS_DIR) : null,
    sealsDir: env.BRIDGEWORK_SEALS_DIR ? resolve(root, env.BRIDGEWORK_SEALS_DIR) : null,
    log: read(
      'BRIDGEWORK_LOG',
      (text) => (text === 'all' || text === 'important' ? text : undefined),
      '"all" or "important"',
      isProduction ? 'all' : 'important',
    ),
  }
  for (const [name, value] of Object.entries({ DIRECT: directUrl, MIGRATION: migrationUrl })) {
    if (value !== null && url === null)
      problems.push(`BRIDGEWORK_${name}_DATABASE_URL is set but DATABASE_URL is not. Set both or neither.`)
  }
  if (migrations === 'apart' && url === null) {
    problems.push('BRIDGEWORK_MIGRATIONS=apart needs DATABASE_URL: the embedded database is migrated at the start.')
  }
  if (Boolean(env.BRIDGEWORK_SMTP_URL) !== Boolean(env.BRIDGEWORK_MAIL_FROM)) {
    problems.push('BRIDGEWORK_SMTP_URL and BRIDGEWORK_MAIL_FROM must be set together. Set both or neither.')
  }
  if (Boolean(certificateFile) !== Boolean(keyFile)) {
    problems.push(
      'BRIDGEWORK_TLS_CERTIFICATE_FILE and BRIDGEWORK_TLS_KEY_FILE must be set together. Set both or neither.',
    )
  }
  const { address, token } = config.metrics
  if (address !== null && token === null && !isLoopbackHost(address.host)) {
    problems.push(
      'BRIDGEWORK_METRICS_ADDRESS can be reached from other machines. Set BRIDGEWORK_METRICS_TOKEN, or use 127.0.0.1.',
    )
  }
  if (address !== null && address.port === port) {
    problems.push('BRIDGEWORK_METRICS_ADDRESS must have another port than BRIDGEWORK_PORT.')
  }
  if (config.tls !== null && !isProduction) {
    problems.push(
      'BRIDGEWORK_TLS_CERTIFICATE_FILE is for production: the sandbox speaks plain HTTP. Remove it, or set BRIDGEWORK_ENVIRONMENT.',
    )
  }
  if (isProduction) problems.push(...productionProblems(env, config))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

const settingNames: ReadonlySet<string> = new Set([
  'BRIDGEWORK_ENVIRONMENT',
  'BRIDGEWORK_HOST',
  'BRIDGEWORK_PORT',
  'BRIDGEWORK_PUBLIC_URL',
  'BRIDGEWORK_TRUSTED_PROXIES',
  'BRIDGEWORK_TLS_CERTIFICATE_FILE',
  'BRIDGEWORK_TLS_KEY_FILE',
  'BRIDGEWORK_DATA_DIR',
  'BRIDGEWORK_SECRET_KEY_FILE',
  'BRIDGEWORK_DIRECT_DATABASE_URL',
  'BRIDGEWORK_MIGRATION_DATABASE_URL',
  'BRIDGEWORK_MIGRATIONS',
  'BRIDGEWORK_PREVIEW_OPERATIONS',
  'BRIDGEWORK_INITIAL_LOCATIONS_MAX',
  'BRIDGEWORK_INCREMENTAL_LOCATIONS_MAX',
  'BRIDGEWORK_SMTP_URL',
  'BRIDGEWORK_MAIL_FROM',
  'BRIDGEWORK_SEALS_DIR',
  'BRIDGEWORK_DOWNLOADS_DIR',
  'BRIDGEWORK_METRICS_ADDRESS',
  'BRIDGEWORK_METRICS_TOKEN',
  'BRIDGEWORK_TRACES_URL',
  'BRIDGEWORK_DATABASE_CONNECTIONS',
  'BRIDGEWORK_LOG',
  ...secretFileSettings,
])

/** Of the vendors' client and of the code samples: a newcomer's shell has them when the service is started in it again. */
const clientSettingNames: ReadonlySet<string> = new Set([
  'BRIDGEWORK_BASE_URL',
  'BRIDGEWORK_CLIENT_ID',
  'BRIDGEWORK_CLIENT_SECRET',
  'BRIDGEWORK_MIRROR_TO',
  'BRIDGEWORK_TOKEN',
  // Of programs that a newcomer writes after the code samples, which have names of their own for these.
  'BRIDGEWORK_DATASET',
  'BRIDGEWORK_ORGANIZATION_ID',
  'BRIDGEWORK_LOCATION_ID',
  'BRIDGEWORK_RECORD_ID',
])

/** Patient data is only sent encrypted: by the server itself, or by a proxy in front of it. */
function productionProblems(env: NodeJS.ProcessEnv, config: Config): string[] {
  const problems: string[] = []
  if (!env.BRIDGEWORK_HOST) problems.push('BRIDGEWORK_HOST must be set in production.')
  if (!env.BRIDGEWORK_PUBLIC_URL) problems.push('BRIDGEWORK_PUBLIC_URL must be set in production.')
  else if (!config.publicUrl.startsWith('https://'))
    problems.push('BRIDGEWORK_PUBLIC_URL must be an https address in production.')
  if (config.trustedProxies.length === 0 && config.tls === null) {
    problems.push(
      'BRIDGEWORK_TRUSTED_PROXIES must be set in production: the address of the TLS proxy in front of this server. Or set BRIDGEWORK_TLS_CERTIFICATE_FILE and BRIDGEWORK_TLS_KEY_FILE, and the server speaks TLS itself.',
    )
  }
  if (config.secretKeyFile === null) {
    problems.push(
      'BRIDGEWORK_SECRET_KEY_FILE must be set in production: a file (mode 0600) with 32 random bytes in base64, for example from "openssl rand -base64 32".',
    )
  }
  if (config.database.kind === 'embedded') {
    problems.push(
      'DATABASE_URL must be set in production: the PostgreSQL that comes with Bridgework gets no security updates. Install one: on Debian 13 "apt install postgresql", on other Debian and Ubuntu "apt install postgresql-common && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y && apt install postgresql-18".',
    )
  }
  const { database } = config
  if (database.kind === 'server' && database.migrationUrl === null && database.migrations === 'at_start') {
    problems.push(
      'BRIDGEWORK_MIGRATION_DATABASE_URL must be set in production: a connection as the owner of the schema, so that the role of DATABASE_URL cannot change disclosures. With BRIDGEWORK_MIGRATIONS=apart only the command that migrates needs it.',
    )
  }
  return problems
}

function wholeNumber(min: number, max: number) {
  return (text: string) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  }
}

function hostName(text: string) {
  return isIP(text) !== 0 || /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(text) ? text : undefined
}

/** `127.0.0.1:9464`, `[::1]:9464` or `metrics.internal:9464`. */
function hostAndPort(text: string): { host: string; port: number } | undefined {
  const [, inBrackets, plain, digits = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = hostName(inBrackets ?? plain ?? '')
  const port = Number(digits)
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined
}

/** What an Authorization header can carry (RFC 6750), and too long to be guessed. */
function bearerToken(text: string) {
  return /^[\w.~+/-]{32,200}=*$/.test(text) ? text : undefined
}

function isLoopbackHost(host: string) {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** How this machine reaches a server that listens at this host. */
function nameOf(host: string) {
  if (['127.0.0.1', '0.0.0.0', '::1', '::'].includes(host)) return 'localhost'
  return isIP(host) === 6 ? `[${host}]` : host
}

function publicAddress(text: string) {
  const url = URL.canParse(text) ? new URL(text) : null
  const isBare = url && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  return isBare && (url.protocol === 'http:' || url.protocol === 'https:') ? url.origin : undefined
}

function httpUrl(text: string) {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined
}

function addressList(text: string) {
  const parts = text.split(',').map((part) => part.trim())
  return parts.every(isAddressOrRange) ? parts : undefined
}

function isAddressOrRange(text: string) {
  const [address, prefix, ...rest] = text.split('/')
  const version = isIP(address ?? '')
  if (version === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}

function postgresUrl(text: string) {
  return hostsOf(text).length > 0 ? text : undefined
}

function smtpAddress(text: string) {
  const url = URL.canParse(text) ? new URL(text) : null
  return url && /^smtps?:$/.test(url.protocol) && url.hostname !== '' ? text : undefined
}

function mailAddress(text: string) {
  return /^([^<>@\p{Cc}]+ )?<?[^\s@<>,]+@[^\s@<>,]+>?$/u.test(text) ? text : undefined
}

function previewNames(text: string) {
  const names = text.split(',').map((name) => name.trim())
  const previews = allPreviewNames()
  return names.every((name): name is DatasetName => isDatasetName(name) && previews.includes(name))
    ? new Set(names)
    : undefined
}

function allPreviewNames(): DatasetName[] {
  return datasets.filter((dataset) => dataset.preview).map((dataset) => dataset.name)
}
