import { UsageError } from '@bridgework/command-line'
import { ConfigError } from '../../config.ts'
import { WrongSecretKey } from '../../modules/credentials/installation.ts'
import { SecretKeyFileError } from '../../modules/credentials/secret-key-file.ts'
import { DatabaseStartError } from '../../platform/database/start-error.ts'
import { databaseErrorCode, isDatabaseUnavailable } from '../../platform/database/unavailable.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { toJson } from './answer.ts'
import { parseCommandLine } from './command-line.ts'
import { commands } from './commands.ts'
import type { Context } from './context.ts'

/**
 * Runs one command and returns the exit code: 0 done, 1 refused or failed, 2 not understood, or the answer's own. The answer goes to `out`, all else to `err`.
 * The database is opened only for a command that was understood.
 */
export async function runOperator(
  args: readonly string[],
  deps: {
    open: (options: { migrates: boolean }) => Promise<Context>
    out: (text: string) => void
    err: (text: string) => void
  },
): Promise<number> {
  try {
    const line = parseCommandLine(commands, args)
    if ('print' in line) {
      deps.out(line.print)
      return 0
    }
    const context = await deps.open(line)
    try {
      const answer = await line.run(context)
      if (answer === null) return 0
      deps.out(line.isJson ? toJson(answer.data) : answer.text)
      if (answer.note !== undefined) deps.err(answer.note)
      return answer.exitCode ?? 0
    } finally {
      await context.close()
    }
  } catch (error) {
    const { code, message, exitCode } = explain(error)
    if (args.includes('--json')) deps.err(toJson({ errors: message, code }))
    else deps.err(error instanceof UsageError && error.usage !== '' ? `${message}\n\n${error.usage}` : message)
    return exitCode
  }
}

/** What a person can do something with. Anything else is a mistake in the program: its class and place, never a value that it carries. */
function explain(error: unknown): { code: string; message: string; exitCode: number } {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, exitCode: 2 }
  if (error instanceof ConfigError) return { code: 'settings', message: error.problems.join('\n'), exitCode: 2 }
  if (error instanceof Problem) return { code: error.code, message: error.errors, exitCode: 1 }
  if (error instanceof DatabaseStartError || error instanceof SecretKeyFileError || error instanceof WrongSecretKey) {
    return { code: isDatabaseUnavailable(error) ? 'unavailable' : 'start_refused', message: error.message, exitCode: 1 }
  }
  if (isDatabaseUnavailable(error)) {
    const message = `The database cannot do this now (${databaseErrorCode(error)}). Nothing was changed, or all of it: look before you repeat.`
    return { code: 'unavailable', message, exitCode: 1 }
  }
  const at =
    error instanceof Error
      ? (error.stack ?? '')
          .split('\n')
          .find((line) => line.includes('/src/'))
          ?.trim()
      : undefined
  return { code: 'internal', message: `Internal error: ${databaseErrorCode(error)} ${at ?? ''}`.trim(), exitCode: 1 }
}
