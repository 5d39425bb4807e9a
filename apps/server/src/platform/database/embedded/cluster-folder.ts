import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../make-folder.ts'
import { DatabaseStartError } from '../start-error.ts'
import { type Account, canEnter, isRoot, postgresAccount } from './account.ts'
import { type Binaries, canRun } from './binaries.ts'

/** Where clusters and copies of the binaries go that cannot be in their data directory. */
export const systemRoot = '/var/lib/bridgework'

/** The folder of one cluster: `data`, `socket` and `credentials.json`. Mode 0700, owned by the account that Postgres runs as. */
export type ClusterFolder = { home: string; account: Account; exists: boolean }

/** Makes the data directory when there is none: the owner's alone, but as root one that Postgres' account may pass through. */
export function ensureDataDir(dataDir: string): void {
  const mode = isRoot() ? 0o711 : 0o700
  // The mode of mkdir is narrowed by the umask.
  if (makeFolder(dataDir, mode)) chmodSync(dataDir, mode)
}

/** Where the cluster of this data directory is; null before the first start. Changes nothing. */
export function findClusterFolder(dataDir: string): ClusterFolder | null {
  const elsewhere = readRecord(dataDir)
  if (elsewhere && holdsCluster(elsewhere.home)) return existing(elsewhere.home)
  if (elsewhere?.made) {
    throw new DatabaseStartError(
      `${recordFile(dataDir)} says that the database is in ${elsewhere.home}, but that folder has no database. Restore it, or use another data directory.`,
    )
  }
  const local = join(dataDir, 'postgres')
  return !elsewhere && holdsCluster(local) ? existing(local) : null
}

/**
 * Where the cluster of this data directory is to be made: in it, or below `copyRoot` where Postgres' account cannot reach the data directory
 * or the binaries. Only the holder of the data directory's lock may call this.
 */
export function chooseClusterFolder(dataDir: string, binaries: Binaries, copyRoot: string): ClusterFolder {
  const account = postgresAccount(null)
  const begun = readRecord(dataDir)
  if (begun) return { home: begun.home, account, exists: false }
  if (!isRoot() || (canEnter(dataDir, account) && canRun(binaries, account))) {
    return { home: join(dataDir, 'postgres'), account, exists: false }
  }
  ensureCopyRoot(copyRoot)
  if (!canEnter(copyRoot, account)) {
    throw new DatabaseStartError(
      `The account that Postgres runs as can open neither ${dataDir} nor ${copyRoot}. Give it access to one of them.`,
    )
  }
  const home = unusedHome(dataDir, copyRoot)
  writeRecord(dataDir, { home, made: false })
  return { home, account, exists: false }
}

/** To be called when the cluster is complete: from now on it is an error when it is not there. */
export function recordClusterFolder(dataDir: string, home: string): void {
  if (readRecord(dataDir)) writeRecord(dataDir, { home, made: true })
}

/** Made by root, and only as root: below it Postgres' account owns its cluster and nothing else. */
export function ensureCopyRoot(copyRoot: string): void {
  if (isRoot() && mkdirSync(copyRoot, { recursive: true }) !== undefined) chmodSync(copyRoot, 0o755)
}

function existing(home: string): ClusterFolder {
  return { home, account: postgresAccount(join(home, 'data')), exists: true }
}

function holdsCluster(home: string): boolean {
  const stat = statSync(home, { throwIfNoEntry: false })
  if (!stat) return false
  if (!isRoot() && stat.uid !== process.getuid?.()) {
    throw new DatabaseStartError(
      `The database in ${home} belongs to another account. Start Bridgework as that account or as root.`,
    )
  }
  if (existsSync(join(home, 'data/PG_VERSION'))) return true
  if (readdirSync(home).length === 0) return false
  throw new DatabaseStartError(
    `${home} is not empty and does not hold a complete database. Move it away, or use another data directory.`,
  )
}

/**
 * Named after the data directory, so that a person finds it. A cluster that is there already belonged to a data directory that was removed
 * since: it is left alone, because we never delete one, and not taken over, because its secrets are gone.
 */
function unusedHome(dataDir: string, copyRoot: string): string {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  for (let number = 1; ; number += 1) {
    const home = join(copyRoot, number === 1 ? hash : `${hash}-${number}`)
    if (!existsSync(home)) return home
  }
}

type Elsewhere = { home: string; made: boolean }

function recordFile(dataDir: string): string {
  return join(dataDir, 'postgres.json')
}

function readRecord(dataDir: string): Elsewhere | null {
  const file = recordFile(dataDir)
  if (!existsSync(file)) return null
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as Elsewhere
    if (typeof record.home === 'string' && typeof record.made === 'boolean') return record
  } catch {
    // Said below, like any other content that is not ours.
  }
  throw new DatabaseStartError(
    `${file} cannot be read. It must name the folder of the database, for example {"home": "…", "made": true}.`,
  )
}

function writeRecord(dataDir: string, record: Elsewhere): void {
  const file = recordFile(dataDir)
  writeFileSync(`${file}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
