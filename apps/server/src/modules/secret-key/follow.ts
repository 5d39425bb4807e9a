import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { databaseErrorCode } from '../../platform/database/unavailable.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import { requireInstallation, wrongKey } from '../credentials/installation.ts'
import { isSameHash, type SecretKey } from '../credentials/secret.ts'
import {
  loadSecretKey,
  readSecretKeys,
  SecretKeyFileError,
  type SecretKeySettings,
} from '../credentials/secret-key-file.ts'
import { forgetReader, noteReader } from './reader.ts'

/** The secret key of a running server, and what ends its following. */
export type FollowedSecretKey = { secretKey: SecretKey; stop: () => Promise<void> }

/**
 * Loads the secret key and keeps it up to date: every `pollMs` it reads the file again, notes in the database which keys this process has, and asks
 * it which one is current. So a rotation reaches every process without a restart. A file that cannot be used is logged once, and the keys before
 * stay. Throws SecretKeyFileError and WrongSecretKey at the start.
 */
export async function followSecretKey(deps: {
  pool: Pool
  settings: SecretKeySettings
  log: Log
  pollMs?: number
}): Promise<FollowedSecretKey> {
  const { pool, settings, log, pollMs = 1_000 } = deps
  const processId = randomUUID()
  const secretKey = loadSecretKey(settings)
  await requireInstallation(pool, secretKey)
  let warned = ''
  const warn = (text: string) => {
    if (text !== warned && text !== '') log({ event: 'server.warning', text })
    warned = text
  }

  /** Takes over what the file has; false when that is what is known already. */
  const readFile = (): boolean => {
    const keys = readSecretKeys(settings)
    const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id).join()
    if (idsOf(keys) === idsOf(secretKey.all())) return false
    if (!secretKey.adopt(keys, secretKey.check)) throw wrongKey()
    return true
  }
  const note = async (isNew: boolean): Promise<void> => {
    const check = await noteReader(pool, processId, secretKey, isNew)
    if (isSameHash(check, secretKey.check)) return
    if (!secretKey.adopt(secretKey.all(), check)) throw wrongKey()
    await noteReader(pool, processId, secretKey, true)
    log({ event: 'secret_key.reloaded', keys: secretKey.all().length, current: secretKey.id })
  }
  await note(true)

  const poll = async () => {
    let problem = ''
    let isNew = false
    try {
      isNew = readFile()
      if (isNew) log({ event: 'secret_key.reloaded', keys: secretKey.all().length, current: secretKey.id })
    } catch (error) {
      problem = `${error instanceof Error ? error.message : error} The keys from before stay in use.`
      if (!(error instanceof SecretKeyFileError))
        problem = 'The secret key file no longer has the key in use. Restore its line.'
    }
    try {
      await note(isNew)
    } catch (error) {
      problem ||= `This server cannot follow the secret key (${databaseErrorCode(error)}).`
    }
    warn(problem)
  }
  const loop = createLoop({ steps: { 'follow the secret key': poll }, everyMs: pollMs, log })
  loop.start()
  return {
    secretKey,
    stop: async () => {
      await loop.stop()
      await forgetReader(pool, processId).catch(() => {})
    },
  }
}
