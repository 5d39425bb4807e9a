import { parseArgs } from 'node:util'
import { ApiError } from '../api-error.ts'
import { datasetNames } from '../dataset-resource.ts'
import { clientVersion } from '../version.ts'
import { completionOf } from './completion.ts'
import { type Command, type Context, type Option, type Options, type Surroundings, writeTo } from './context.ts'
import { doctor } from './doctor.ts'
import { exitCodes } from './exit-codes.ts'
import { locations } from './locations.ts'
import { login } from './login.ts'
import { mirror } from './mirror.ts'
import { pull } from './pull.ts'
import { openClient, readSettings, SettingsError } from './settings.ts'
import { printable } from './table.ts'
import { UsageError } from './usage-error.ts'
import { watch } from './watch.ts'

const globalOptions = {
  json: { summary: 'for programs: JSON on stdout, one value a line, and no progress' },
  help: { summary: 'show this help' },
} as const satisfies Record<string, Option>

const commands: Readonly<Record<string, Command>> = {
  login,
  locations,
  pull,
  mirror,
  watch,
  doctor,
  completion: completionOf(() => commands, globalOptions, { pull: datasetNames }),
}

/** Runs the command line and gives its exit code. Data goes to stdout, everything else to stderr. */
export async function run(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, env, signal } = surroundings
  const say = (text: string) => void stderr.write(`${text}\n`)
  const write = (text: string) => writeTo(stdout, text)
  const [name = '--help', ...rest] = argv
  try {
    if (name === '--version') return await write(`${clientVersion}\n`).then(() => exitCodes.done)
    if (name === '--help' || name === '-h' || name === 'help') {
      const asked = rest[0] === undefined ? undefined : commands[rest[0]]
      await write(asked ? helpOf(String(rest[0]), asked) : overview())
      return exitCodes.done
    }
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (!command)
      throw new UsageError(`Unknown command ${JSON.stringify(name)}. Commands: ${Object.keys(commands).join(', ')}`)
    const { args, options } = readArguments(command, rest)
    if (options.flag('help')) return await write(helpOf(name, command)).then(() => exitCodes.done)
    if (args.length > command.argsMax)
      throw new UsageError(`Unexpected argument ${JSON.stringify(args[command.argsMax])}.`)
    let isTokenLost = false
    const context: Context = {
      ...surroundings,
      args,
      options,
      json: options.flag('json'),
      client: () =>
        openClient(env, readSettings(env), (event) => {
          if (event.event !== 'token.store.failed' || isTokenLost) return
          isTokenLost = true
          say(`The token cannot be saved for the next command: ${event.because}`)
        }),
      say,
      write,
    }
    return await command.run(context)
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted
    return explain(error, name, say)
  }
}

function readArguments(command: Command, rest: readonly string[]): { args: string[]; options: Options } {
  const all: Readonly<Record<string, Option>> = { ...command.options, ...globalOptions }
  const options = Object.fromEntries(
    Object.entries(all).map(([option, { value }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const)
      return [option, { type, multiple: type === 'string', ...(option === 'help' && { short: 'h' }) }]
    }),
  )
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: [...rest], options, allowPositionals: true, strict: true })
  } catch (error) {
    const message = error instanceof Error ? error.message.split('. ')[0] : String(error)
    throw new UsageError(
      `${message}. Options: ${Object.keys(all)
        .map((option) => `--${option}`)
        .join(', ')}`,
    )
  }
  const textsOf = (option: string) => {
    const value = parsed.values[option]
    return Array.isArray(value) ? value.map(String) : undefined
  }
  for (const [option, { repeatable }] of Object.entries(all)) {
    if (!repeatable && (textsOf(option)?.length ?? 0) > 1) throw new UsageError(`--${option} is given twice.`)
  }
  return {
    args: parsed.positionals,
    options: {
      text: (option) => textsOf(option)?.at(-1),
      list: (option) => {
        const values = textsOf(option)?.flatMap((text) => text.split(',').map((value) => value.trim()))
        return values && [...new Set(values)]
      },
      flag: (option) => parsed.values[option] === true,
    },
  }
}

function explain(error: unknown, name: string, say: (text: string) => void): number {
  if (error instanceof UsageError) {
    say(`${error.message}\nUsage: bridgework help ${Object.hasOwn(commands, name) ? name : ''}`.trimEnd())
    return exitCodes.usage
  }
  if (error instanceof SettingsError) {
    say(error.message)
    return exitCodes.credentials
  }
  if (error instanceof ApiError) {
    const id = error.requestId === null ? '' : `\nRequest id: ${error.requestId}`
    say(`${printable(error.message)}${id}\nRun bridgework doctor to find the cause.`)
    if (error.status === 401 || error.status === 403) {
      return error.status === 401 || error.code === 'agreement_required' ? exitCodes.credentials : exitCodes.denied
    }
    if (error.status === 404) return exitCodes.denied
    if (error.status === 422) return exitCodes.usage
    return error.status === 0 || error.status === 429 || error.status >= 500 ? exitCodes.unavailable : exitCodes.failed
  }
  say(error instanceof Error ? error.message : String(error))
  return exitCodes.failed
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return `bridgework ${clientVersion}: dental practices’ data in your own database

${lines.join('\n')}

bridgework help <command> shows a command’s options. Credentials come from BRIDGEWORK_BASE_URL,
BRIDGEWORK_CLIENT_ID and BRIDGEWORK_CLIENT_SECRET, or from bridgework login.
Exit codes: 0 success, 1 failure, 2 wrong usage, 3 wrong credentials, 4 not granted, 5 partial success, 6 service unavailable, 130 interrupted.
`
}

function helpOf(name: string, { summary, usage, details = [], options }: Command): string {
  const all: Readonly<Record<string, Option>> = { ...options, ...globalOptions }
  const lines = Object.entries(all).map(([option, { value, summary: what }]) => {
    return `  ${`--${option}${value ? ` <${value}>` : ''}`.padEnd(26)}${what}`
  })
  const more = details.length > 0 ? `\n${details.join('\n')}\n` : ''
  return `bridgework ${name}: ${summary}\n\n  bridgework ${`${name} ${usage}`.trim()}\n${more}\n${lines.join('\n')}\n`
}
