/** What was typed is not a command. `usage` is the help of the nearest level. Exit code 2. */
export class UsageError extends Error {
  readonly usage: string

  constructor(message: string, usage: string) {
    super(message)
    this.usage = usage
  }
}
