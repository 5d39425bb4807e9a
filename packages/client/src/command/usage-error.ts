/** The command was written wrongly; the text says how to write it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
