import { parseArgs } from 'node:util'
import { ApiError } from '../api-error.ts'
import { datasetNames } from '../dataset-resource.ts'
import { didYouMean } from '../did-you-mean.ts'
import { TargetError } from '../stores/target-error.ts'
import { clientVersion } from '../version.ts'
import { completionOf } from './completion.ts'
import { type Command, type Context, type Option, type Options, type Surroundings, writeTo } from './context.ts'
import { doctor } from './doctor.ts'
import { exitCodes } from './exit-codes.ts'
import { listen } from './listen.ts'
import { locations } from './locations.ts'
import { login } from './login.ts'
import { mirror } from './mirror.ts'
import { pull } from './pull/pull.ts'
import { openClient, readSettings, SettingsError } from './settings.ts'
import { sql } from './sql.ts'
import { status } from './status.ts'
import { printable } from './table.ts'
import { UsageError } from './usage-error.ts'
import { watch } from './watch.ts'

const globalOptions = {
  json: { summary: 'for programs: JSON, one value a line: data on stdout, errors on stderr; no progress' },
  help: { summary: 'show this help' },
} as const satisfies Record<string, Option>

const commands: Readonly<Record<string, Command>> = {
  login,
  locations,
  status,
  pull,
  mirror,
  sql,
  watch,
  listen,
  doctor,
  completion: completionOf(() => commands, globalOptions, { pull: datasetNames }),
}

/** Runs the command line and gives its exit code. Data goes to stdout, everything else to stderr. */
export async function run(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, env, signal } = surroundings
  // What follows -- is for another program.
  const own = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv
  const isJson = own.includes('--json')
  const say = (text: string) => void stderr.write(`${isJson ? JSON.stringify({ message: text }) : text}\n`)
  const write = (text: string) => writeTo(stdout, text)
  const [name = '--help', ...rest] = argv
  try {
    if (name === '--version') return await write(`${clientVersion}\n`).then(() => exitCodes.done)
    if (name === '--help' || name === '-h' || name === 'help') {
      const asked = rest.find((word) => !word.startsWith('-'))
      await write(asked === undefined ? overview() : helpOf(asked, findCommand(asked, exitCodes.helpUnknown)))
      return exitCodes.done
    }
    const command = findCommand(name, exitCodes.usage)
    const { args, options } = readArguments(command, rest)
    if (options.flag('help')) return await write(helpOf(name, command)).then(() => exitCodes.done)
    if (args.length > command.argsMax)
      throw new UsageError(`Unexpected argument ${JSON.stringify(args[command.argsMax])}.`)
    const told = new Set<string>()
    const once = (what: string, text: string) => {
      if (told.has(what)) return
      told.add(what)
      say(text)
    }
    const context: Context = {
      ...surroundings,
      args,
      options,
      json: options.flag('json'),
      client: () =>
        openClient(env, readSettings(env), (event) => {
          if (event.event === 'token.store.failed')
            once(event.event, `The token cannot be saved for the next command: ${event.because}`)
          // Shorter pauses are over before they are read.
          if (event.event === 'retry' && event.delayMs >= 1000)
            once(event.event, `No answer yet (${event.because}). The request is repeated for a while; Ctrl-C ends it.`)
        }),
      say,
      write,
    }
    return await command.run(context)
  } catch (error) {
    if (signal.aborted) return exitCodes.interrupted
    const { code, text } = explain(error)
    if (isJson) stderr.write(`${JSON.stringify({ error: errorOf(error), exit_code: code })}\n`)
    else stderr.write(`${text}${error instanceof UsageError ? usageOf(name) : ''}\n`)
    return code
  }
}

function findCommand(name: string, exitCode: number): Command {
  const names = Object.keys(commands)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return command
  const meant = didYouMean(name, names)
  throw new UsageError(`Unknown command ${JSON.stringify(name)}.${meant} Commands: ${names.join(', ')}`, exitCode)
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
    const message = error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error)
    const names = Object.keys(all).map((option) => `--${option}`)
    const [, unknown] = /Unknown option '(--.+)'/.exec(message) ?? []
    const meant = unknown === undefined ? '' : didYouMean(unknown, names)
    throw new UsageError(`${message}.${meant} Options: ${names.join(', ')}`)
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

/** What people read, and how the command ends. */
function explain(error: unknown): { text: string; code: number } {
  if (error instanceof UsageError) return { text: error.message, code: error.exitCode }
  if (error instanceof SettingsError) return { text: error.message, code: exitCodes.credentials }
  if (error instanceof ApiError) {
    const id = error.requestId === null ? '' : `\nRequest id: ${error.requestId}`
    const help = error.helpUrl === null ? '' : `\nAbout this error: ${printable(error.helpUrl)}`
    const text = `${printable(error.message)}${id}${help}\nRun bridgework doctor to find the cause.`
    return { text, code: exitCodeOf(error) }
  }
  return { text: messageOf(error), code: exitCodes.failed }
}

function exitCodeOf({ status, code }: ApiError): number {
  if (status === 401 || code === 'agreement_required') return exitCodes.credentials
  if (status === 403 || status === 404) return exitCodes.denied
  if (status === 422) return exitCodes.usage
  return status === 0 || status === 429 || status >= 500 ? exitCodes.unavailable : exitCodes.failed
}

/** What programs read. `status` and `request_id` are null when no answer of the service is the cause. */
function errorOf(error: unknown) {
  const [status, request_id] = error instanceof ApiError ? [error.status, error.requestId] : [null, null]
  return { code: codeOf(error), message: messageOf(error), status, request_id }
}

function codeOf(error: unknown): string {
  if (error instanceof ApiError) return error.code
  if (error instanceof UsageError) return 'usage'
  if (error instanceof SettingsError) return 'credentials_missing'
  return error instanceof TargetError ? 'target_failed' : 'failed'
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) return printable(error.errors)
  return error instanceof Error ? error.message : String(error)
}

function usageOf(name: string): string {
  return `\nUsage: bridgework help ${Object.hasOwn(commands, name) && name !== 'help' ? name : ''}`.trimEnd()
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return `bridgework ${clientVersion}: dental practices’ data in your own database

${lines.join('\n')}

bridgework help <command> shows a command’s options. Credentials come from BRIDGEWORK_BASE_URL,
BRIDGEWORK_CLIENT_ID and BRIDGEWORK_CLIENT_SECRET, or from bridgework login.
Exit codes: 0 success, 1 failure, 2 wrong usage, 3 wrong credentials, 4 not granted, 5 partial success, 6 service unavailable, 64 help for an
unknown command, 130 interrupted.
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
