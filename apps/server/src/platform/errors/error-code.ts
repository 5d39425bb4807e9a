/**
 * What names an error to a program: the code of the system (ENOENT), of the database (57P01), of a library or of a Problem; undefined when it
 * has none. Only what looks like a code, one word, so it may go to the log, where a message may not: that may hold a value.
 */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^\w{3,60}$/.test(code) ? code : undefined
}
