import { createOption, createProgram, once } from '@bridgework/command-line'
import { agentVersion } from './version.ts'

type CommandName = 'enroll' | 'run' | 'check' | 'confirm-restore'

/** Options by name; a flag that was given is `true`. */
export type Options = ReadonlyMap<string, string | true>

/** A command to run, or a text to print. */
export type CommandLine = { command: CommandName; options: Options } | { print: string }

const json = ['--json', 'print JSON, one object per line'] as const
const config = ['--config <path>', 'the settings file; "bridgework-agent --help" names the default'] as const

const commands: Readonly<Record<CommandName, { help: string; options: readonly (readonly [string, string])[] }>> = {
  enroll: {
    help: 'Exchange a one-time code for the key of this agent, and write the settings file.',
    options: [
      ['--server <url>', 'the address of Bridgework'],
      ['--code <code>', 'the one-time code; it begins with bwe_'],
      ['--name <text>', 'a name for this agent (default: the name of this computer)'],
      ['--connector <name>', '"open-dental", or "files" for exports of another system (default: "open-dental")'],
      ['--db-user <user>', 'a database user that can only read'],
      ['--db-password-file <path>', 'file with the password (default: BRIDGEWORK_AGENT_DB_PASSWORD, or you are asked)'],
      ['--db-host <host>', 'the database server (default: "127.0.0.1")'],
      ['--db-port <port>', 'its port (default: 3306)'],
      ['--db-socket <path>', 'a socket to use instead of host and port'],
      ['--db-name <name>', 'the database (default: "opendental")'],
      ['--folder <path>', 'with --connector files: the folder with the exports'],
      ['--mapping <path>', 'with --connector files: the mapping file (TOML or JSON)'],
      [
        '--time-zone <zone>',
        'time zone of every location, like America/Chicago (default: set at Bridgework, or found in the database)',
      ],
      ['--interval <seconds>', 'time between two cycles (default: 60)'],
      ['--state <path>', 'file in which the agent remembers what it sent'],
      ['--replace', 'enroll again; settings that you do not give stay as they are'],
      config,
    ],
  },
  run: {
    help: 'Keep Bridgework current until you stop the agent.',
    options: [
      ['--once', 'run one cycle, then exit'],
      ['--full', 'read and compare every record in the first cycle'],
      json,
      config,
    ],
  },
  check: { help: 'Check the settings, the server and the practice management system.', options: [json, config] },
  'confirm-restore': {
    help: 'Confirm that the office works with a restored backup of its database, so that the agent goes on.',
    options: [config],
  },
}

const notes = `
Start with: bridgework-agent enroll --server <url> --code <code> --db-user <user>
Options of a command: bridgework-agent <command> --help

Settings file: --config, else BRIDGEWORK_AGENT_CONFIG, else ~/.config/bridgework-agent/config.json
(as root: /etc/bridgework-agent/config.json).
Exit codes: 0 success, 1 failure, 2 wrong option or setting, 3 the server refused the agent's key.`

/** Parses the command line, or throws a `UsageError` that says what is wrong. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  let line: CommandLine | undefined
  const { program, parse } = createProgram(
    'bridgework-agent',
    "Reads the practice management system of this office and keeps Bridgework's copy current.",
  )
  program.version(agentVersion, '--version', 'print the version').addHelpText('after', notes)
  for (const [name, { help, options }] of Object.entries(commands) as [CommandName, (typeof commands)['run']][]) {
    const command = program.command(name).description(help)
    for (const [flags, text] of options) command.addOption(createOption(flags, text, once(String)))
    command.action((values: Record<string, string | true>) => {
      const options = command.options.flatMap((option) => {
        const value = values[option.attributeName()]
        return value === undefined ? [] : [[option.name(), value] as const]
      })
      line = { command: name, options: new Map(options) }
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
