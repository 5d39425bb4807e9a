import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../errors/error-code.ts'
import { searchPath } from '../schemas.ts'
import { DatabaseStartError } from '../start-error.ts'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import type { ClusterFolder } from './cluster-folder.ts'
import { killProcess, processesGiven } from './process-table.ts'
import { run } from './run.ts'

export const databaseName = 'bridgework'
export const adminRole = 'postgres'
export const ownerRole = 'bridgework_owner'
export const serverRole = 'bridgework_server'

/** Passwords by role, from `credentials.json` (0600) beside the cluster. */
export type Credentials = Record<typeof adminRole | typeof ownerRole | typeof serverRole, string>

export function readCredentials(home: string): Credentials {
  const file = join(home, 'credentials.json')
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new DatabaseStartError(`${file} with the database's passwords cannot be read. Restore it from a backup.`, {
      cause: error,
    })
  }
}

/**
 * Makes the whole cluster, roles, database and passwords included, under a temporary name, and renames it into place: what is at `home` is
 * always complete. Half-made ones of an interrupted start are swept first. Only the holder of the data directory's lock may call this.
 */
export async function createCluster(
  place: ClusterFolder,
  binaries: Binaries,
  options: { isThrowAway: boolean },
): Promise<void> {
  await sweepHalfMade(place.home)
  const stage = `${place.home}.new-${randomBytes(6).toString('hex')}`
  const data = join(stage, 'data')
  const credentials = { [adminRole]: newPassword(), [ownerRole]: newPassword(), [serverRole]: newPassword() }
  try {
    for (const directory of [stage, data, join(stage, 'socket')]) makePrivate(directory, place.account)
    await initialize(binaries, data, stage, place.account, credentials, options.isThrowAway)
    await createRoles(binaries, data, place.account, credentials)
    writeFileSync(join(stage, 'credentials.json'), `${JSON.stringify(credentials)}\n`, { mode: 0o600, flag: 'wx' })
    removeEmpty(place.home)
    renameSync(stage, place.home)
    // An initdb that was just being started when its server was killed had no arguments yet to be known by, and may have come since.
    await sweepHalfMade(place.home)
  } catch (error) {
    rmSync(stage, { recursive: true, force: true })
    if (error instanceof DatabaseStartError) throw error
    const reason = codeOf(error) ?? 'unknown'
    throw new DatabaseStartError(`The database cannot be created in ${dirname(stage)} (${reason}). ${freeSpace}`, {
      cause: error,
    })
  }
}

/** Refuses a cluster of another major version: its files mean something else. */
export function requireMajorVersion(home: string, binaries: Binaries): void {
  const major = readFileSync(join(home, 'data/PG_VERSION'), 'utf8').trim()
  if (major === String(binaries.major)) return
  throw new DatabaseStartError(
    `The database in ${home} was created by PostgreSQL ${major}, but this version of Bridgework has PostgreSQL ${binaries.major}. Start the version of Bridgework that created it, or migrate the data first.`,
  )
}

/**
 * An interrupted first start leaves a folder under a temporary name that nothing refers to, and perhaps an initdb that still works on it
 * and would make it again. Never a cluster's own folder. Only the holder of the data directory's lock may call this.
 */
export async function sweepHalfMade(home: string): Promise<void> {
  const isHalfMade = new RegExp(`^${RegExp.escape(basename(home))}\\.new-[\\da-f]{12}$`)
  for (const name of readdirSync(dirname(home)).filter((entry) => isHalfMade.test(entry))) {
    const stage = join(dirname(home), name)
    for (let pids = processesGiven(stage); pids.length > 0; pids = processesGiven(stage)) {
      for (const pid of pids) killProcess(pid)
      await sleep(20)
    }
    rmSync(stage, { recursive: true, force: true, maxRetries: 10 })
  }
}

async function initialize(
  binaries: Binaries,
  data: string,
  stage: string,
  account: Account,
  credentials: Credentials,
  isThrowAway: boolean,
): Promise<void> {
  const passwordFile = join(stage, 'password')
  writeFileSync(passwordFile, `${credentials[adminRole]}\n`, { mode: 0o600, flag: 'wx' })
  own(passwordFile, account)
  const args = [
    ...['-D', data, `--username=${adminRole}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--data-checksums'],
    ...['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
    ...Object.entries(tunable()).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
    ...(isThrowAway ? ['--no-sync'] : []),
  ]
  const { isDone, output } = await run(join(binaries.directory, 'bin/initdb'), args, account)
  rmSync(passwordFile)
  if (!isDone)
    throw new DatabaseStartError(
      `The database cannot be created in ${dirname(stage)}: ${reasonIn(output)}. ${freeSpace}`,
    )
}

/** In single-user mode: nobody can connect before the roles are there, and a failure leaves nothing running. */
async function createRoles(
  binaries: Binaries,
  data: string,
  account: Account,
  credentials: Credentials,
): Promise<void> {
  const statements = [
    `create role ${ownerRole} login password '${credentials[ownerRole]}'`,
    `create role ${serverRole} login password '${credentials[serverRole]}'`,
    `create database ${databaseName} owner ${ownerRole}`,
    `alter database ${databaseName} set search_path = ${searchPath}`,
  ]
  const args = ['--single', '-D', data, '-c', 'exit_on_error=on', '-c', 'password_encryption=scram-sha-256', adminRole]
  const { isDone, output } = await run(
    join(binaries.directory, 'bin/postgres'),
    args,
    account,
    `${statements.join('\n')}\n`,
  )
  if (!isDone)
    throw new DatabaseStartError(`The roles of the database cannot be created: ${reasonIn(output)}. ${freeSpace}`)
}

/** What an operator may change in the cluster's postgresql.conf later. What must hold is on the command line, in postmaster.ts. */
function tunable(): Record<string, string> {
  const megabytes = Math.floor(totalmem() / 2 ** 20)
  return {
    max_connections: '100',
    shared_buffers: `${Math.max(64, Math.min(1024, Math.floor(megabytes / 8)))}MB`,
    effective_cache_size: `${Math.max(128, Math.floor(megabytes / 2))}MB`,
    maintenance_work_mem: '64MB',
    work_mem: '8MB',
    random_page_cost: '1.1',
    // A first sync fills a table within the minute that autovacuum sleeps by default, and would be planned without statistics for so long.
    autovacuum_naptime: '5s',
    // Our statements are short: compiling one costs more than running it.
    jit: 'off',
    max_parallel_workers_per_gather: String(Math.min(2, availableParallelism() - 1)),
  }
}

function makePrivate(directory: string, account: Account): void {
  mkdirSync(directory, { mode: 0o700 })
  chmodSync(directory, 0o700)
  own(directory, account)
}

function own(path: string, account: Account): void {
  if ('uid' in account) chownSync(path, account.uid, account.gid)
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

function newPassword(): string {
  return randomBytes(24).toString('base64url')
}

/** What a program said before it tidied up: its last line is often about that. */
function reasonIn(output: string): string {
  const lines = output.trim().split('\n')
  const reason = lines.find((line) => /No space|FATAL|PANIC|error:/.test(line)) ?? lines.at(-1) ?? ''
  return reason.replace(/^.*?(FATAL|PANIC|error): +/, '').replace(/\.$/, '')
}

const freeSpace = 'Check that the disk has space (100 MB are needed), and start again.'
