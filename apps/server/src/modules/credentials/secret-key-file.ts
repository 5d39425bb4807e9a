import { randomBytes } from 'node:crypto'
import { chownSync, linkSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../platform/database/make-folder.ts'
import { codeOf } from '../../platform/errors/error-code.ts'
import { createSecretKeyOf, type DerivedKeys, deriveKeys, type SecretKey } from './secret.ts'

/** The secret key's file cannot be used. The message is one line for the person who starts the server. */
export class SecretKeyFileError extends Error {}

/** Where the settings say that the secret key is. */
export type SecretKeySettings = { secretKeyFile: string | null; dataDir: string }

/**
 * Reads the installation's secret key. `secretKeyFile` null: `secret.key` in the data directory, made when it is missing; a file that the
 * settings name is never made, because a mistyped path would quietly become a new key. Throws SecretKeyFileError.
 */
export function loadSecretKey(settings: SecretKeySettings): SecretKey {
  if (settings.secretKeyFile === null) makeWhenMissing(settings.dataDir, pathOf(settings))
  return createSecretKeyOf(readSecretKeys(settings))
}

/** Reads every key of the file, a line each, the oldest first. Throws SecretKeyFileError. */
export function readSecretKeys(settings: SecretKeySettings): DerivedKeys[] {
  return readLines(pathOf(settings)).map((line) => deriveKeys(Buffer.from(line, 'base64')))
}

/** Adds a new key to the end of the file. Throws SecretKeyFileError, and the file is as it was. */
export function addSecretKey(settings: SecretKeySettings): void {
  const path = pathOf(settings)
  replace(path, [...readLines(path), randomBytes(32).toString('base64')])
}

/** Leaves only this key in the file. Throws SecretKeyFileError, and the file is as it was. */
export function keepSecretKey(settings: SecretKeySettings, id: string): void {
  const path = pathOf(settings)
  replace(
    path,
    readLines(path).filter((line) => deriveKeys(Buffer.from(line, 'base64')).id === id),
  )
}

/** The file that the settings mean. */
export function pathOf({ secretKeyFile, dataDir }: SecretKeySettings): string {
  return secretKeyFile ?? join(dataDir, 'secret.key')
}

function readLines(path: string): string[] {
  let text: string
  try {
    if (isForOthers(statSync(path), { uid: process.getuid?.(), gid: process.getgid?.() })) {
      throw new SecretKeyFileError(`The secret key file ${path} can be read by others: run "chmod 600 ${path}".`)
    }
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (error instanceof SecretKeyFileError) throw error
    throw new SecretKeyFileError(`The secret key file ${path} cannot be read: ${codeOf(error)}.`)
  }
  if (text === '') throw new SecretKeyFileError(`The secret key file ${path} is empty.`)
  const lines = [...new Set(text.split(/\s*\n\s*/))]
  if (!lines.every(isKey)) {
    throw new SecretKeyFileError(
      `The secret key file ${path} must hold 32 random bytes in base64, as "openssl rand -base64 32" prints them; during a rotation one line for each key.`,
    )
  }
  return lines
}

/**
 * Whether accounts but this one may use a file. Kubernetes gives a container its secrets as files of root that the container's group may read:
 * such a group has no other member.
 */
export function isForOthers(
  file: { mode: number; uid: number; gid: number },
  account: { uid: number | undefined; gid: number | undefined },
): boolean {
  const isMounted = file.uid === 0 && account.uid !== 0 && file.gid !== 0 && file.gid === account.gid
  return (file.mode & (isMounted ? 0o037 : 0o077)) !== 0
}

function isKey(line: string): boolean {
  const bytes = Buffer.from(line, 'base64')
  return bytes.length === 32 && bytes.toString('base64') === line
}

/** Written whole beside the file and renamed, so that a reader and a crash find the one before or the new one. A link stays a link. */
function replace(path: string, lines: readonly string[]): void {
  try {
    const target = realpathSync(path)
    const draft = `${target}.new`
    const { uid, gid } = statSync(target)
    rmSync(draft, { force: true })
    writeFileSync(draft, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx', flush: true })
    // The server may run as another account than the person at the command line.
    chownSync(draft, uid, gid)
    renameSync(draft, target)
  } catch (error) {
    throw new SecretKeyFileError(
      `The secret key file ${path} cannot be changed (${codeOf(error)}). Run the command as the owner of the file, or change it yourself: a new key is one more line at its end.`,
    )
  }
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
