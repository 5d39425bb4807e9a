import { createOption, createProgram } from '@bridgework/command-line'
import { releaseVersion } from '@bridgework/contract/release'
import type { AuditAction } from '../../modules/audit/in-words.ts'
import { actOptions, createRecorder, type RecordAct, reasonedOptions } from './act.ts'
import type { Answer } from './answer.ts'
import type { Context } from './context.ts'
import { flag, type Option } from './option.ts'

type Options = Readonly<Record<string, Option<unknown>>>

/** What the options of a command hold, by their names in camel case. */
export type Values<Of> = { readonly [Name in keyof Of]: Of[Name] extends Option<infer Value> ? Value : never }

export type Command = {
  readonly help: string
  /** The action of what it leaves in the history; null: it changes nothing, and shows nothing of a patient. */
  readonly act: AuditAction | null
  readonly options: Options
  /** Migrates the database, also where the settings leave that to a command. */
  readonly migrates?: true
  /** null: it has written its answer itself. */
  readonly run: (context: Context, values: never, record: RecordAct<never>) => Promise<Answer | null>
}

/** The commands on one kind of thing. */
export type CommandGroup = { readonly help: string; readonly commands: Readonly<Record<string, Command>> }

/**
 * Gives `run` the types of its options, then forgets them, so that a group can hold any command. A command with an act gets `record`, which it
 * calls in the transaction of the change, and the options that say who and why; `needsReason`: why is required.
 */
export function command<Of extends Options, Action extends AuditAction | null>({
  needsReason = false,
  ...definition
}: {
  help: string
  act: Action
  needsReason?: [Action] extends [AuditAction] ? boolean : false
  migrates?: true
  options: Of
  run: (
    context: Context,
    values: Values<Of>,
    ...record: [Action] extends [AuditAction] ? [RecordAct<Action>] : []
  ) => Promise<Answer | null>
}): Command {
  const more = definition.act === null ? {} : needsReason ? reasonedOptions : actOptions
  // Every value comes from the option of its name, whose type `run` was checked with.
  return { ...definition, options: { ...definition.options, ...more } } as unknown as Command
}

export type CommandLine =
  | { print: string }
  | { run: (context: Context) => Promise<Answer | null>; isJson: boolean; migrates: boolean }

/** Parses the arguments, or throws a UsageError that says what is wrong and what is accepted. */
export function parseCommandLine(groups: Readonly<Record<string, CommandGroup>>, args: readonly string[]): CommandLine {
  // Not an option of the program: commander would take it from the commands that have one of this name.
  if (args.length === 1 && args[0] === '--version') return { print: releaseVersion }
  let line: CommandLine | undefined
  const { program, parse } = createProgram('npm run operator --', 'Runs this installation of Bridgework.')
  for (const [groupName, group] of Object.entries(groups)) {
    const parent = program.command(groupName).description(group.help)
    for (const [name, { help, act, options, migrates = false, run }] of Object.entries(group.commands)) {
      const required = Object.entries(options).filter(([, option]) => option.isRequired)
      const usage = [...required.map(([key, option]) => flagsOf(key, option)), '[options]'].join(' ')
      const each = parent.command(name).description(help).usage(usage)
      const all: Options = { ...options, json: flag('print the answer as JSON') }
      for (const [key, option] of Object.entries(all))
        each.addOption(createOption(flagsOf(key, option), option.help, option.collect))
      each.action((values: Record<string, unknown>) => {
        const missing = required.filter(([key]) => values[key] === undefined)
        if (missing.length > 0)
          each.error(`Missing: ${missing.map(([key, option]) => flagsOf(key, option)).join(', ')}.`)
        const record = createRecorder(act, values)
        line = { run: (context) => run(context, values as never, record), isJson: values.json === true, migrates }
      })
    }
  }
  const print = parse(args)
  return line ?? { print: print ?? '' }
}

/** `ownerEmail` is written `--owner-email <address>`. */
function flagsOf(key: string, { placeholder }: Option<unknown>): string {
  const name = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return placeholder === null ? name : `${name} ${placeholder}`
}
