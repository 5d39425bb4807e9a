import { createOption, createProgram, once } from '@bridgework/command-line'
import { agentVersion } from './version.ts'

type CommandName =
  | 'setup'
  | 'enroll'
  | 'configure'
  | 'run'
  | 'check'
  | 'map'
  | 'connector-test'
  | 'confirm-restore'
  | 'update'

/** Options by name; a flag that was given is `true`. */
export type Options = ReadonlyMap<string, string | true>

/** A command to run, or a text to print. */
export type CommandLine = { command: CommandName; options: Options; program: readonly string[] } | { print: string }

const json = ['--json', 'print JSON, one object per line'] as const
const config = ['--config <path>', 'the settings file; "bridgework-agent --help" names the default'] as const

const timeZone = [
  '--time-zone <zone>',
  'time zone of every location, like America/Chicago (default: set at Bridgework, or found in the database)',
] as const
const name = ['--name <text>', 'a name for this agent (default: the name of this computer)'] as const
const statusPort = [
  '--status-port <port>',
  'show the status at http://127.0.0.1:<port>/, to this computer only',
] as const

const encryption = [
  [
    '--db-tls <how>',
    'encryption of the connection: "off", "required" or "verified" (default: "off"; "sql": outside this computer "required")',
  ],
  ['--db-tls-ca-file <path>', 'certificate (PEM) of the authority that signed the database server’s; means "verified"'],
] as const

const network = [
  [
    '--proxy <url>',
    'the proxy to the internet, like http://proxy:3128 (default, and with "none": HTTPS_PROXY and NO_PROXY)',
  ],
  ['--ca-file <path>', 'certificate (PEM) of an authority to trust beside the system’s, as of an antivirus'],
] as const

const database = [
  ['--db-password-file <path>', 'file with the password (default: BRIDGEWORK_AGENT_DB_PASSWORD, or you are asked)'],
  ['--db-host <host>', 'the database server (default: "127.0.0.1")'],
  ['--db-port <port>', 'its port (default: the one of its kind)'],
  ['--db-socket <path>', 'a socket to use instead of host and port'],
  [
    '--db-name <name>',
    'the database (default: "opendental"); of SQLite the path of the file; with ODBC a data source, or a connection string without the password',
  ],
  ...encryption,
  ['--db-engine <name>', 'with --connector sql: "postgresql", "mysql" (also MariaDB), "sqlite", "sqlserver" or "odbc"'],
  ['--db-instance <name>', 'with --db-engine sqlserver: a named instance, instead of a port'],
] as const

const mapped = [
  ['--folder <path>', 'with --connector files: the folder with the exports'],
  ['--mapping <path>', 'with --connector files or sql: the mapping file (TOML or JSON)'],
] as const

const commands: Readonly<Record<CommandName, { help: string; options: readonly (readonly [string, string])[] }>> = {
  setup: {
    help: 'Find Open Dental, enrol, check and start the service. Asks for what is not given; needs no terminal when all is.',
    options: [
      ['--server <url>', 'the address of Bridgework'],
      ['--code <code>', 'the one-time code; it begins with bwe_'],
      name,
      ['--open-dental <folder>', 'where Open Dental is installed (default: the usual folders)'],
      ['--db-host <host>', 'the database server (default: as Open Dental says)'],
      ['--db-port <port>', 'its port (default: as Open Dental says, or 3306 to 3308)'],
      ['--db-name <name>', 'the database (default: as Open Dental says)'],
      ...encryption,
      ['--db-admin <user>', 'a database administrator, who creates the user that can only read'],
      ['--db-admin-password-file <path>', 'file with the password of the administrator; it is not kept'],
      ['--db-user <user>', 'the database user that can only read (default: "bridgework")'],
      ['--db-password-file <path>', 'without --db-admin: file with the password of that user'],
      timeZone,
      ...network,
      statusPort,
      ['--replace', 'enroll again'],
      config,
    ],
  },
  enroll: {
    help: 'Exchange a one-time code for the key of this agent, and write the settings file.',
    options: [
      ['--server <url>', 'the address of Bridgework'],
      ['--code <code>', 'the one-time code; it begins with bwe_'],
      name,
      [
        '--connector <name>',
        '"open-dental", or "sql" for any SQL database, or "files" for exports (default: "open-dental")',
      ],
      ['--db-user <user>', 'a database user that can only read'],
      ...database,
      ...mapped,
      timeZone,
      ['--interval <seconds>', 'time between two cycles (default: 60)'],
      ['--state <path>', 'file in which the agent remembers what it sent'],
      ...network,
      statusPort,
      ['--replace', 'enroll again; settings that you do not give stay as they are'],
      config,
    ],
  },
  configure: {
    help: 'Change settings without a new code: tried first, then written. Asks what to change when nothing is given.',
    options: [
      ['--server <url>', 'the address of Bridgework, when it moved'],
      ['--db-user <user>', 'a database user that can only read'],
      ...database,
      ...mapped,
      timeZone,
      ['--interval <seconds>', 'time between two cycles'],
      ...network,
      statusPort,
      ['--untried', 'write the settings though the server or the database does not answer'],
      config,
    ],
  },
  run: {
    help: 'Keep Bridgework current until you stop the agent.',
    options: [
      ['--once', 'run one cycle, then exit'],
      ['--full', 'read and compare every record in the first cycle'],
      ['--until-input-ends', 'stop when the standard input ends, for a service without signals'],
      json,
      config,
    ],
  },
  check: { help: 'Check the settings, the server and the practice management system.', options: [json, config] },
  map: {
    help: 'Propose a mapping of export files or of an SQL database from samples. Nothing leaves this computer.',
    options: [
      ['--folder <path>', 'the folder with the exports'],
      ['--output <path>', 'the mapping file to write (default: "mapping.toml")'],
      ['--name <text>', 'the name of the practice (default: "Main office")'],
      ['--time-zone <zone>', 'its time zone, like America/Chicago (default: of this computer)'],
      ['--schema <path>', 'write the JSON schema of mappings, for an editor'],
      ['--connector <name>', '"files", or "sql" for a database (default: "files")'],
      ['--db-user <user>', 'with --connector sql: a database user that can only read'],
      ...database,
    ],
  },
  'connector-test': {
    help: 'Run a program that prints records, and say what is wrong with them. Nothing is sent.',
    options: [],
  },
  'confirm-restore': {
    help: 'Confirm that the office works with a restored backup of its database, so that the agent goes on.',
    options: [config],
  },
  update: {
    help: 'Install a signed release of the agent. A running agent tries it, and goes back when it does not report.',
    options: [['--file <path>', 'the release; its name ends in .release']],
  },
}

const notes = `
Start with: bridgework-agent setup
Options of a command: bridgework-agent <command> --help

Settings file: --config, else BRIDGEWORK_AGENT_CONFIG, else ~/.config/bridgework-agent/config.json
(as root: /etc/bridgework-agent/config.json; on Windows: Bridgework\\Agent\\config.json in ProgramData).
Exit codes: 0 success, 1 failure, 2 wrong option or setting, 3 the server refused the agent's key.`

/** Parses the command line, or throws a `UsageError` that says what is wrong. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  let line: CommandLine | undefined
  const { program, parse } = createProgram(
    'bridgework-agent',
    "Reads the practice management system of this office and keeps Bridgework's copy current.",
  )
  program.enablePositionalOptions().version(agentVersion, '--version', 'print the version').addHelpText('after', notes)
  for (const [name, { help, options }] of Object.entries(commands) as [CommandName, (typeof commands)['run']][]) {
    const command = program.command(name).description(help)
    for (const [flags, text] of options) command.addOption(createOption(flags, text, once(String)))
    if (name === 'connector-test')
      command.argument('<program...>', 'the program and its arguments').passThroughOptions()
    command.action(() => {
      const values: Record<string, string | true> = command.opts()
      const options = command.options.flatMap((option) => {
        const value = values[option.attributeName()]
        return value === undefined ? [] : [[option.name(), value] as const]
      })
      line = { command: name, options: new Map(options), program: command.args }
    })
  }
  const print = parse(args)
  return line ?? { print: print ?? '' }
}

/** The option's text, or null when it was not given. */
export function optionText(options: Options, name: string): string | null {
  const value = options.get(name)
  return typeof value === 'string' ? value : null
}
