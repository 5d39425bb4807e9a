/** The machine that compiles, and both kinds of programs of Windows. */
export type OdbcTarget = 'here' | 'win32-x64' | 'win32-ia32'
/** Compiles the program that reads through ODBC. The same source and compiler make the same bytes. */
export function compileOdbcProgram(target: OdbcTarget, to: string): void
/** What this machine lacks to compile it, with the command that installs it; null: nothing. */
export function lacksForOdbc(target: OdbcTarget): string | null
