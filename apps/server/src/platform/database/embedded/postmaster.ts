import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseStartError } from '../start-error.ts'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { cleanEnvironment } from './environment.ts'
import { isAlive } from './process-table.ts'

/** A running Postgres server. `exited` resolves when its process is gone, also one that another process started. */
export type Postmaster = { pid: number; exited: Promise<void> }

export type Command = { program: string; args: readonly string[] }

/**
 * What must hold whatever the cluster's postgresql.conf says. Nothing that a statement carries reaches Postgres' log: `terse` drops
 * DETAIL, `panic` drops STATEMENT, and only LOG and worse is written, because the text of an ERROR itself can name a value
 * ("invalid input syntax for type integer: …"). Errors reach the client, which logs their code.
 */
export function serverCommand(
  binaries: Binaries,
  data: string,
  socketDir: string,
  settings: Readonly<Record<string, string>>,
): Command {
  const fixed: Record<string, string> = {
    listen_addresses: '',
    port: String(socketPort),
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    password_encryption: 'scram-sha-256',
    // After a crash, before recovery: one call for the file system in the place of one for each of thousands of files.
    ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
    // What a crash leaves to be replayed before anybody is served again: the bound of that time.
    max_wal_size: '256MB',
    // Ends the statement of a client that died, so that its locks do not outlive it.
    client_connection_check_interval: '2s',
    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
    log_destination: 'stderr',
    log_line_prefix: '%m [%p] ',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_statement: 'none',
    log_min_duration_statement: '-1',
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
    log_duration: 'off',
    log_lock_waits: 'off',
    log_temp_files: '-1',
    log_connections: '',
    log_checkpoints: 'off',
    log_autovacuum_min_duration: '-1',
    ...settings,
  }
  const args = Object.entries(fixed).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return { program: join(binaries.directory, 'bin/postgres'), args: ['-D', data, ...args] }
}

/** Names the socket's file in its folder; nothing listens on a TCP port. */
export const socketPort = 5432

/**
 * Starts the server in a process group of its own: Ctrl-C in a terminal must reach us alone, so that requests in flight still find a
 * database. It does not keep our process alive. Its log goes to a file and not through us, or it would lose its log when we die.
 */
export function spawnPostmaster(command: Command, account: Account, logFile: string): Postmaster {
  const log = openLog(logFile)
  const child = spawn(command.program, command.args, {
    ...account,
    cwd: '/',
    env: cleanEnvironment(),
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const exited = exitOf(child)
  child.unref()
  if (child.pid === undefined)
    throw new DatabaseStartError(
      `Postgres cannot be started, because ${command.program} cannot be run. Check the file and its access rights.`,
    )
  return { pid: child.pid, exited }
}

/** A server that an earlier process of this program started and left behind. */
export function adoptPostmaster(pid: number): Postmaster {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setInterval(() => {
    if (isAlive(pid)) return
    clearInterval(timer)
    resolve()
  }, 200)
  timer.unref()
  return { pid, exited: promise }
}

/**
 * Ends the server: `smart` waits for other sessions to finish first, `fast` ends them. Falls to harder ways when it takes too long, at
 * most 28 s in all; nothing committed is lost by any of them.
 */
export async function stopPostmaster(
  postmaster: Postmaster,
  way: 'smart' | 'fast',
  patienceMs = 20_000,
): Promise<void> {
  const steps: [NodeJS.Signals, number][] = [
    ...(way === 'smart' ? ([['SIGTERM', patienceMs]] as [NodeJS.Signals, number][]) : []),
    ['SIGINT', way === 'smart' ? 5_000 : patienceMs],
    ['SIGQUIT', 3_000],
    ['SIGKILL', 2_000],
  ]
  for (const [signal, waitMs] of steps) {
    // A number that is free again may already be another program's.
    if (await hasExited(postmaster, 0)) return
    if (!send(postmaster.pid, signal)) return
    if (await hasExited(postmaster, waitMs)) return
  }
}

/** What Postgres has written to its log since `from`, in bytes. */
export function logSince(logFile: string, from: number): string {
  return readFileSync(logFile).subarray(from).toString('utf8')
}

export function logSize(logFile: string): number {
  return statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
}

async function hasExited(postmaster: Postmaster, waitMs: number): Promise<boolean> {
  const timeout = new AbortController()
  const exited = postmaster.exited.then(() => true)
  const late = sleep(waitMs, false, { signal: timeout.signal }).catch(() => false)
  const answer = await Promise.race([exited, late])
  timeout.abort()
  return answer
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

function exitOf(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.once('error', () => resolve())
  return promise
}

/** Appends, and keeps one older file once it is large. With the settings above it hardly grows. */
function openLog(file: string): number {
  if (logSize(file) > 4 * 2 ** 20) renameSync(file, `${file}.1`)
  return openSync(file, 'a', 0o600)
}
