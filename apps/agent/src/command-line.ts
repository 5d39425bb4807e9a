import { parseArgs } from 'node:util'
import { didYouMean, UsageError } from './usage-error.ts'

const optionsOf = {
  enroll: {
    server: 'string',
    code: 'string',
    name: 'string',
    connector: 'string',
    folder: 'string',
    mapping: 'string',
    'db-host': 'string',
    'db-port': 'string',
    'db-socket': 'string',
    'db-user': 'string',
    'db-name': 'string',
    'db-password-file': 'string',
    'time-zone': 'string',
    interval: 'string',
    state: 'string',
    config: 'string',
    replace: 'boolean',
  },
  run: { once: 'boolean', full: 'boolean', config: 'string', json: 'boolean' },
  check: { config: 'string', json: 'boolean' },
} as const satisfies Record<string, Record<string, 'string' | 'boolean'>>

type CommandName = keyof typeof optionsOf

/** Options by name; a flag that was given is `true`. */
export type Options = ReadonlyMap<string, string | true>

export type CommandLine = { command: CommandName; options: Options } | { command: 'help' } | { command: 'version' }

export const help = `bridgework-agent: reads the practice management system of this office and keeps Bridgework's copy current.

  bridgework-agent enroll --server <url> --code bwe_… --db-user <user> [options]
      Exchanges the one-time code for this agent's key and writes the settings (readable by you alone).
        --db-host <host>  127.0.0.1     --db-port <port>  3306      --db-socket <path>  in place of host and port
        --db-name <name>  opendental    --db-user <user>            a database user that can only read
        --db-password-file <path>       else BRIDGEWORK_AGENT_DB_PASSWORD, else it is asked for
        --time-zone <zone>              of every location, as America/Chicago; else found in the database
        --interval <seconds>  60        --name <text>  this computer's name
        --connector open-dental         the practice management system; files for exports of any other:
        --folder <path>                 where the exports lie     --mapping <path>  what they hold (TOML or JSON)
        --state <path>                  where the agent remembers what was sent
        --replace                       enrol anew; settings that are not given stay as they are

  bridgework-agent run [--once] [--full] [--json]
      Keeps Bridgework current until it is stopped. --once: one pass; exit code 1 when it failed.
      --full: read and compare everything at the first pass. --json: one JSON object per event.

  bridgework-agent check [--json]
      Says in plain words what is wrong and what to do.

  Everywhere: --config <path>, else BRIDGEWORK_AGENT_CONFIG, else ~/.config/bridgework-agent/config.json
  (as root /etc/bridgework-agent/config.json). --help, --version.
  Exit codes: 0 good, 1 failed, 2 wrong option or setting, 3 the server refused the agent's key.
`

/** Understands the command line or throws a `UsageError` that says what is accepted. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const [name, ...rest] = args
  if (name === undefined || args.includes('--help') || name === 'help') return { command: 'help' }
  if (name === '--version') return { command: 'version' }
  if (!isCommand(name)) {
    const names = Object.keys(optionsOf)
    throw new UsageError(`There is no command "${name}".${didYouMean(name, names)} There are: ${names.join(', ')}.`)
  }
  return { command: name, options: parseOptions(name, rest) }
}

function parseOptions(command: CommandName, args: string[]): Options {
  const accepted: Readonly<Record<string, 'string' | 'boolean'>> = optionsOf[command]
  const { tokens } = parseArgs({
    args,
    strict: false,
    tokens: true,
    options: Object.fromEntries(Object.entries(accepted).map(([name, type]) => [name, { type }])),
  })
  const options = new Map<string, string | true>()
  for (const token of tokens) {
    if (token.kind !== 'option') {
      const what = token.kind === 'positional' ? `"${token.value}"` : '"--"'
      throw new UsageError(`${what} is one argument too many for "${command}".`)
    }
    const { name, rawName } = token
    const type = Object.hasOwn(accepted, name) && rawName.startsWith('--') ? accepted[name] : undefined
    if (type === undefined) {
      const names = Object.keys(accepted).map((each) => `--${each}`)
      throw new UsageError(
        `"${command}" has no option ${rawName}.${didYouMean(rawName, names)} It has: ${names.join(', ')}.`,
      )
    }
    if (options.has(name)) throw new UsageError(`${rawName} is given twice.`)
    if (type === 'boolean') {
      if (token.value !== undefined) throw new UsageError(`${rawName} takes no value.`)
      options.set(name, true)
    } else {
      if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
        throw new UsageError(`${rawName} needs a value.`)
      }
      options.set(name, token.value)
    }
  }
  return options
}

/** The option's text, or null when it was not given. */
export function optionText(options: Options, name: string): string | null {
  const value = options.get(name)
  return typeof value === 'string' ? value : null
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(optionsOf, name)
}
