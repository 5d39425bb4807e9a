import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../platform/database/make-folder.ts'
import { codeOf } from '../../platform/errors/error-code.ts'
import { createSecretKey, type SecretKey } from './secret.ts'

/** The secret key's file cannot be used. The message is one line for the person who starts the server. */
export class SecretKeyFileError extends Error {}

/**
 * Reads the installation's secret key. `secretKeyFile` null: `secret.key` in the data directory, made when it is missing; a file that the
 * settings name is never made, because a mistyped path would quietly become a new key. Throws SecretKeyFileError.
 */
export function loadSecretKey(options: { secretKeyFile: string | null; dataDir: string }): SecretKey {
  const path = options.secretKeyFile ?? join(options.dataDir, 'secret.key')
  if (options.secretKeyFile === null) makeWhenMissing(options.dataDir, path)
  return createSecretKey(readKey(path))
}

function readKey(path: string): Uint8Array {
  let text: string
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new SecretKeyFileError(`The secret key file ${path} can be read by others: run "chmod 600 ${path}".`)
    }
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (error instanceof SecretKeyFileError) throw error
    throw new SecretKeyFileError(`The secret key file ${path} cannot be read: ${codeOf(error)}.`)
  }
  if (text === '') throw new SecretKeyFileError(`The secret key file ${path} is empty.`)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== 32 || bytes.toString('base64') !== text) {
    throw new SecretKeyFileError(
      `The secret key file ${path} must hold 32 random bytes in base64, as "openssl rand -base64 32" prints them.`,
    )
  }
  return bytes
}

/** Written whole under another name and then linked, which fails when the file is there: of two first starts both use one key. */
function makeWhenMissing(dataDir: string, path: string): void {
  try {
    makeFolder(dataDir, 0o700)
  } catch (error) {
    throw new SecretKeyFileError(
      `The data directory ${dataDir} cannot be used (${codeOf(error)}). Check its access rights, or set BRIDGEWORK_DATA_DIR to another directory.`,
    )
  }
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    statSync(path)
    return
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') {
      throw new SecretKeyFileError(`The secret key file ${path} cannot be read: ${codeOf(error)}.`)
    }
  }
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') {
      throw new SecretKeyFileError(`The secret key file ${path} cannot be written: ${codeOf(error)}.`)
    }
  } finally {
    rmSync(draft, { force: true })
  }
}
