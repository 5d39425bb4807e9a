import { exitCodes } from './exit-codes.ts'

/** The command was written wrongly; the text says how to write it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.usage) {
    super(message)
    this.exitCode = exitCode
  }
}
