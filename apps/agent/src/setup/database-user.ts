import { randomBytes } from 'node:crypto'
import { SourceProblem } from '../connector.ts'
import { accountText, grantStatement, quoted } from '../open-dental/database/account.ts'
import { connectDatabase, type Database } from '../open-dental/database/connection.ts'
import type { DatabaseSettings } from '../open-dental/database/database-settings.ts'

/** A user that reads one database from the computers that `host` names, and can do nothing else. */
export type ReadingUser = { readonly name: string; readonly host: string; readonly password: string }

/** Long, random, and free of what a person could mistype or a shell could read. */
export function newPassword(): string {
  return randomBytes(18).toString('base64url')
}

/** What a database's administrator runs to create the user; `isEncrypted`: the server then refuses the user's connections in plain text. */
export function statementsFor(user: ReadingUser, database: string, isEncrypted: boolean): string[] {
  const account = { user: user.name, host: user.host }
  return [
    `create user ${accountText(account)} identified by ${quoted(user.password)}${isEncrypted ? ' require ssl' : ''}`,
    grantStatement(database, account),
  ]
}

/** What a person runs when the agent is gone. */
export function statementToDrop(user: Pick<ReadingUser, 'name' | 'host'>): string {
  return `drop user ${quoted(user.name)}@${quoted(user.host)}`
}

/**
 * Creates the user as this administrator, whose password is kept nowhere. `undo` removes it again. Throws a `SourceProblem`; a user that
 * exists already is left as it is.
 */
export async function createReadingUser(
  administrator: DatabaseSettings,
  wanted: { name: string; password: string },
): Promise<{ user: ReadingUser; undo: () => Promise<void> }> {
  const user = await withDatabase(administrator, async (database) => {
    // As the server sees this computer: "localhost", a name or an address. The agent will look the same.
    const rows = await database.query("select substring_index(user(), '@', -1) as host")
    const user = { ...wanted, host: rows[0]?.host ?? 'localhost' }
    const [create = '', grant = ''] = statementsFor(user, administrator.name, Boolean(administrator.tls))
    await database.query(create).catch((error: unknown) => {
      throw refusedCreation(error, user, administrator)
    })
    try {
      await database.query(grant)
    } catch (error) {
      await database.query(statementToDrop(user))
      throw error
    }
    return user
  })
  const undo = () => withDatabase(administrator, (database) => database.query(statementToDrop(user))).then(() => {})
  return { user, undo }
}

async function withDatabase<T>(settings: DatabaseSettings, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await connectDatabase(settings)
  try {
    return await work(database)
  } finally {
    await database.end()
  }
}

function refusedCreation(error: unknown, user: ReadingUser, administrator: DatabaseSettings): unknown {
  const code = error instanceof SourceProblem && error.cause instanceof Error ? error.cause.message : ''
  if (code === 'ER_CANNOT_USER') {
    return new SourceProblem(
      'access_denied',
      `The database has a user ${quoted(user.name)}@${quoted(user.host)} already.`,
      `Give its password, or another name, or remove it first if nothing uses it: ${statementToDrop(user)};`,
    )
  }
  if (code === 'ER_SPECIFIC_ACCESS_DENIED_ERROR') {
    return new SourceProblem(
      'rights_missing',
      `The user "${administrator.user}" may not create users in this database.`,
      'Name an administrator of the database (often "root"), or let one run the statements.',
    )
  }
  return error
}
