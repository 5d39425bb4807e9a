import { StoreConflictError, type SyncStore } from '../sync/store.ts'

/** A file, a folder or a database could not be used. The message names it, says what happened, and what to do. */
export class TargetError extends Error {
  override readonly name = 'TargetError'
  readonly target: string

  constructor(target: string, text: string, options?: ErrorOptions) {
    super(`${target}: ${text}`, options)
    this.target = target
  }
}

/** What a driver's code means, and the cure. */
const texts: Record<string, string> = {
  ENOSPC: 'The disk is full. Free some space and try again: a copy continues where it is.',
  EDQUOT: 'Your quota of the disk is used up. Free some space and try again: a copy continues where it is.',
  EACCES: 'It may not be written or read by this user. Give this user access, or choose another place.',
  EPERM: 'It may not be written or read by this user. Give this user access, or choose another place.',
  EROFS: 'It is on a disk that is read-only. Choose another place.',
  ENOENT: 'It does not exist. Create it, or correct the path.',
  ENOTDIR: 'A part of this path is a file, and not a folder. Choose another path.',
  EEXIST: 'This is a file, and not a folder. Choose another path.',
  EISDIR: 'This is a folder, and not a file. Choose another path.',
  ECONNREFUSED: 'The database server cannot be reached. Check the host and the port, and whether it is running.',
  ENOTFOUND: 'The database server cannot be reached: the name of the host is not known. Check the host.',
  ETIMEDOUT: 'The database server cannot be reached. Check the host, the port and any firewall.',
  ECONNRESET: 'The connection to the database broke. Try again: a copy continues where it is.',
  'sqlite 5': 'Another program has locked it for too long. Close that program and try again.',
  'sqlite 8': 'It may not be written. Give this user access to the file and its folder, or choose another place.',
  'sqlite 10': 'It could not be written or read. Check the disk: it may be full or broken. Then try again.',
  'sqlite 11': 'The file is damaged. Remove it and copy again, or restore it from a backup.',
  'sqlite 13': 'The disk is full, so it could not be written. Check the disk, free some space and try again.',
  'sqlite 14': 'It cannot be opened. Check that its folder exists and that this user may write there.',
  'sqlite 26': 'This is not a SQLite database. Use another file.',
  '28P01': 'The password is wrong. Correct it in the URL.',
  '28000': 'The database refuses this user. Check the user, and the server’s rules for access.',
  '3D000': 'This database does not exist. Create it, or correct its name in the URL.',
  '42501': 'This user lacks rights. Grant it: create on the database, and all on the schema.',
  '53100': 'The database’s disk is full. Free some space there and try again: a copy continues where it is.',
  '53300': 'The database has no free connection. Try again later, or allow more connections.',
  '25006': 'The database is read-only: a replica, perhaps. Use the primary.',
  '57P01': 'The database was shut down. Try again when it runs: a copy continues where it is.',
  '57P03': 'The database is starting or shutting down. Try again in a moment.',
}

/** The system's, SQLite's, Postgres's SQLSTATE. */
const ofDrivers = /^(E[A-Z]+|sqlite \d+|[\dA-Z]{5})$/

/** The error with its target and its cure; one that says both already, or is no driver's, as it is. */
export function explainTarget(target: string, error: unknown): unknown {
  if (error instanceof TargetError || error instanceof StoreConflictError || !(error instanceof Error)) return error
  const code = codeOf(error)
  if (code === null || !ofDrivers.test(code)) return error
  return new TargetError(target, texts[code] ?? `${error.message}.`, { cause: error })
}

/** The store with errors that name its target. */
export function withTarget(target: string, store: SyncStore): SyncStore {
  const { saveDirectory, checkRows, forget, finish } = store
  const explained = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => {
      throw explainTarget(target, error)
    })
  return {
    positions: () => explained(store.positions()),
    apply: (page) => explained(store.apply(page)),
    async *read(key) {
      try {
        yield* store.read(key)
      } catch (error) {
        throw explainTarget(target, error)
      }
    },
    ...(saveDirectory && { saveDirectory: (directory) => explained(saveDirectory(directory)) }),
    ...(checkRows && { checkRows: (key, options) => explained(checkRows(key, options)) }),
    ...(forget && { forget: (key) => explained(forget(key)) }),
    ...(finish && { finish: () => explained(finish()) }),
    close: () => explained(store.close()),
  }
}

/** Opens a store with errors that name its target, those of opening it included. */
export async function openTarget(target: string, open: () => Promise<SyncStore>): Promise<SyncStore> {
  try {
    return withTarget(target, await open())
  } catch (error) {
    throw explainTarget(target, error)
  }
}

/** The system's or Postgres's code; of SQLite's extended codes the last byte is what happened. Some errors of pg have none. */
function codeOf(error: Error): string | null {
  if (/timeout exceeded when trying to connect/.test(error.message)) return 'ETIMEDOUT'
  if (/^Connection terminated/.test(error.message)) return 'ECONNRESET'
  // The socket of a server on this machine.
  if ('syscall' in error && error.syscall === 'connect' && 'code' in error && error.code === 'ENOENT')
    return 'ECONNREFUSED'
  if ('errcode' in error && typeof error.errcode === 'number') return `sqlite ${error.errcode & 0xff}`
  return 'code' in error && typeof error.code === 'string' ? error.code : null
}
