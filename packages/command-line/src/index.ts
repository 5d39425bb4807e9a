import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'

export { InvalidArgumentError } from 'commander'

/** The command line is wrong: one sentence, and the help of the command that was meant, if any. Exit code 2. */
export class UsageError extends Error {
  readonly usage: string

  constructor(message: string, usage = '') {
    super(message)
    this.usage = usage
  }
}

/** A program to add commands to. `parse` runs the action of the command, or returns the text to print; it throws a `UsageError`. */
export function createProgram(
  name: string,
  description: string,
): { program: Command; parse: (args: readonly string[]) => string | null } {
  let printed = ''
  const write = (text: string) => {
    printed += text
  }
  const program = new Command(name)
    .description(description)
    .exitOverride()
    .showHelpAfterError()
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {} })
  const parse = (args: readonly string[]) => {
    try {
      program.parse(args, { from: 'user' })
      return null
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error
      // No word at all, or a group without its command: the help is the answer.
      if (error.exitCode === 0 || error.code === 'commander.help') return printed.trim()
      throw new UsageError(sentence(error.message), printed.trim())
    }
  }
  return { program, parse }
}

/**
 * An option. `collect` turns a value, and what came before it, into what the command gets; it may throw an `InvalidArgumentError` that goes
 * on after the option's name ("must be …"). Commander would take the next option for a missing value.
 */
export function createOption<Value>(
  flags: string,
  help: string,
  collect: (text: string, before: Value | undefined) => Value,
): Option {
  const option = new Option(flags, help)
  if (!option.required) return option
  return option.argParser((text: string, before: Value | undefined) => {
    if (text === '' || text.startsWith('--')) throw new InvalidArgumentError('needs a value.')
    return collect(text, before)
  })
}

/** Collects one value, where commander would let the last one win. */
export function once<Value>(read: (text: string) => Value): (text: string, before: Value | undefined) => Value {
  return (text, before) => {
    if (before !== undefined) throw new InvalidArgumentError('is given twice.')
    return read(text)
  }
}

/** Commander's message in our words: "error: unknown option '--onec'\n(Did you mean --once?)" and the like. */
function sentence(message: string): string {
  return message
    .replace(/^error: unknown (\w+) '(.*?)'(?=\n|$)/s, 'Unknown $1 "$2".')
    .replace(/\n\(Did you mean (?:one of )?(.+)\?\)$/, ' Did you mean "$1"?')
    .replace(/^error: too many arguments.* but got \d+: (.*?)(, .*)?\.$/s, 'Unexpected argument "$1".')
    .replace(/^error: option '(\S+)[^']*' argument missing$/, '$1 needs a value.')
    .replace(/^error: option '(\S+)[^']*' argument '.*' is invalid\. /s, '$1 ')
}
