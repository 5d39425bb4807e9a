import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, rmSync, type Stats } from 'node:fs'

/** A file or folder that another account of the computer can have put there or can change. The message names it and says what to do. */
export class NotOwn extends Error {}

/** Windows has neither modes nor this flag: there, links are found before a file is opened, and the folder's rights keep others out. */
const isWindows = process.platform === 'win32'
const noFollow = isWindows ? 0 : constants.O_NOFOLLOW

/** Throws `NotOwn` unless this is a folder itself, and no other account but the administrator's can write in it. */
export function requireOwnFolder(path: string): void {
  const found = lstatSync(path)
  if (!found.isDirectory()) throw new NotOwn(`${path} is a link or a file, and not a folder. Remove it.`)
  requireOwn(path, found)
}

/** Reads a file itself, and not what a link leads to. Throws `NotOwn` for a link, for anything else than a file, and for what others can write. */
export function readOwnFile(path: string): Buffer {
  if (lstatSync(path).isSymbolicLink()) throw new NotOwn(`${path} is a link, and not a file. Remove it.`)
  // What is not a file must not keep us waiting.
  const file = openSync(path, constants.O_RDONLY | noFollow | (isWindows ? 0 : constants.O_NONBLOCK))
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new NotOwn(`${path} is not a file. Remove it.`)
    requireOwn(path, found)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** Makes a file, in the place of whatever has its name, and opens it for writing. */
export function createOwnFile(path: string): number {
  rmSync(path, { force: true })
  // Exclusive: what another account puts there meanwhile, a link too, is an error.
  return openSync(path, 'wx', 0o600)
}

function requireOwn(path: string, { uid, mode }: Stats): void {
  if (isWindows) return
  const isOwn = uid === 0 || uid === process.geteuid?.()
  if (!isOwn || (mode & 0o022) !== 0) {
    throw new NotOwn(
      `Another account than the agent's can write to ${path}. Give it to the agent's account and run: chmod go-w ${path}`,
    )
  }
}
