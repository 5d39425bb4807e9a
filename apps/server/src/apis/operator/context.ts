import { isIPv6 } from 'node:net'
import type { Pool } from 'pg'
import type { Config } from '../../config.ts'
import { ensureFirstAgreement } from '../../modules/credentials/agreement.ts'
import { requireInstallation } from '../../modules/credentials/installation.ts'
import type { SecretKey } from '../../modules/credentials/secret.ts'
import { loadSecretKey, type SecretKeySettings } from '../../modules/credentials/secret-key-file.ts'
import { openDatabase } from '../../platform/database/open-database.ts'
import { createPool } from '../../platform/database/pool.ts'
import type { LogEvent } from '../../platform/log/log-event.ts'
import type { Progress } from './progress.ts'

/** What a command works with. */
export type Context = {
  pool: Pool
  /** The database as the schema's owner, for what the server's role may not do. */
  ownerUrl: string
  publicUrl: string
  environment: Config['environment']
  /** Where a server of these settings listens, if one runs. */
  localUrl: string
  /** Aborted when the person wants it to end. */
  signal: AbortSignal
  /** Says how far a long command is. */
  progress: Progress
  /** Asks the person at the terminal; null where there is none. */
  ask: ((question: string) => Promise<string>) | null
  /** Writes a part of a long answer. Resolves when it is handed over, so that a slow reader is waited for. */
  write: (text: string) => Promise<void>
  /** Prints what a person should read before they answer. */
  say: (text: string) => void
  /** Read when a command makes or hashes a secret, and not for a list. */
  secretKey: () => Promise<SecretKey>
  /** Where the secret key is, for the command that changes the file. */
  keyFile: SecretKeySettings
  close: () => Promise<void>
}

type ContextOptions = Pick<Context, 'say' | 'ask' | 'write' | 'signal' | 'progress'> & {
  /** The command migrates, also where servers do not. */
  migrates: boolean
}

/**
 * Opens the database beside a running server, or starts the embedded one until `close`. `say` gets what a person who waits wants to know.
 * Throws the errors of `openDatabase`, whose messages are for that person.
 */
export async function openContext(
  config: Config,
  { say, ask, write, signal, progress, migrates }: ContextOptions,
): Promise<Context> {
  const log = (event: LogEvent) => {
    if (event.event === 'database.starting') say('Starting the database for this command …')
    if (event.event === 'database.waiting') say('Waiting for another process to migrate the database …')
    if (event.event === 'database.migrated') say(`Migrated the database: ${event.name}`)
  }
  const database = await openDatabase(config, log, { beside: true, migrates })
  const pool = createPool(database.directUrl, {
    max: 4,
    log,
    applicationName: 'bridgework operator',
    // A grant of an organization with thousands of locations takes its time.
    statementTimeoutMs: 60_000,
  })
  const close = async () => {
    await pool.end()
    await database.close()
  }
  try {
    await ensureFirstAgreement(pool)
  } catch (error) {
    await close()
    throw error
  }
  return {
    pool,
    ownerUrl: database.ownerUrl,
    publicUrl: config.publicUrl,
    environment: config.environment,
    localUrl: `http://${isIPv6(config.host) ? `[${config.host}]` : config.host}:${config.port}`,
    signal,
    progress,
    ask,
    write,
    say,
    secretKey: async () => {
      const secretKey = loadSecretKey(config)
      await requireInstallation(pool, secretKey)
      return secretKey
    },
    keyFile: config,
    close,
  }
}
