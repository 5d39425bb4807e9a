import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../../errors/error-code.ts'
import type { Log } from '../../log/log-event.ts'
import { DatabaseStartError } from '../start-error.ts'
import type { Account } from './account.ts'
import { binariesFor, findBinaries } from './binaries.ts'
import { createCluster, readCredentials, requireMajorVersion, sweepHalfMade } from './cluster.ts'
import {
  chooseClusterFolder,
  ensureCopyRoot,
  ensureDataDir,
  findClusterFolder,
  recordClusterFolder,
  systemRoot,
} from './cluster-folder.ts'
import { type EmbeddedUrls, embeddedUrls, probe } from './connection.ts'
import { type DataDirLock, lockDataDir, tryLockDataDir } from './data-dir-lock.ts'
import { findRunning, readPostmasterFile } from './orphan.ts'
import { serverCommand } from './postmaster.ts'
import { openSocketDir, removeLeftSocketDir } from './socket-dir.ts'
import { supervise } from './supervisor.ts'

export { serverRole as embeddedServerRole } from './cluster.ts'

export type EmbeddedOptions = {
  dataDir: string
  log: Log
  /** Takes cluster and binaries where Postgres' account cannot reach them (only as root). Default: /var/lib/bridgework. */
  copyRoot?: string
  /** For tests: a cluster that need not survive a crash, and settings over ours. */
  throwAway?: { settings: Readonly<Record<string, string>> }
}

export type EmbeddedPostgres = EmbeddedUrls & {
  /** Ends every session and the server, within 30 s. Safe to call twice. */
  stop: () => Promise<void>
}

/**
 * Starts the data directory's own Postgres, made at the first call, and keeps it running: one that dies is back within 5 s, at the same
 * address. Holds the data directory's lock until `stop`. Throws a DatabaseStartError whose message is one line for a person.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = openDataDir(options.dataDir)
  return start(dataDir, await lockDataDir(dataDir), options, 'fast')
}

/**
 * The embedded database for a command beside a server: the running one when there is one, else started until `close`. Sessions that
 * another command has opened meanwhile are waited for. Throws a DatabaseStartError.
 */
export async function connectEmbedded(
  directory: string,
  options: Omit<EmbeddedOptions, 'dataDir'>,
): Promise<EmbeddedUrls & { close: () => Promise<void> }> {
  const dataDir = openDataDir(directory)
  const until = performance.now() + 30_000
  for (;;) {
    const lock = tryLockDataDir(dataDir, 'command')
    if (lock) {
      const { stop, ...urls } = await start(dataDir, lock, { ...options, dataDir }, 'smart')
      return { ...urls, close: stop }
    }
    const urls = await findServer(dataDir)
    if (urls) return { ...urls, close: async () => {} }
    if (performance.now() > until) {
      throw new DatabaseStartError(
        `The server that uses ${dataDir} does not answer. Wait until it is ready, or stop it.`,
      )
    }
    await sleep(200)
  }
}

function openDataDir(directory: string): string {
  try {
    ensureDataDir(directory)
    return realpathSync(directory)
  } catch (error) {
    const reason = codeOf(error) ?? 'unknown'
    throw new DatabaseStartError(
      `The data directory ${directory} cannot be used (${reason}). Check its access rights, or set BRIDGEWORK_DATA_DIR to another directory.`,
      { cause: error },
    )
  }
}

async function start(
  dataDir: string,
  lock: DataDirLock,
  options: EmbeddedOptions,
  way: 'fast' | 'smart',
): Promise<EmbeddedPostgres> {
  try {
    options.log({ event: 'database.starting', kind: 'embedded' })
    const copyRoot = options.copyRoot ?? systemRoot
    const packaged = findBinaries()
    const place = findClusterFolder(dataDir) ?? chooseClusterFolder(dataDir, packaged, copyRoot)
    ensureCopyRoot(copyRoot)
    const binaries = binariesFor(packaged, place.account, copyRoot)
    if (place.exists) await sweepHalfMade(place.home)
    else await createCluster(place, binaries, { isThrowAway: options.throwAway !== undefined })
    recordClusterFolder(dataDir, place.home)
    requireMajorVersion(place.home, binaries)
    const data = join(place.home, 'data')
    const left = findRunning(data) ?? readPostmasterFile(data)
    const socket = await chooseSocketDir(place.home, place.account, findRunning(data))
    if (left && left.socketDir !== socket.path) removeLeftSocketDir(left.socketDir, place.account)
    const urls = embeddedUrls(socket.path, readCredentials(place.home))
    const server = await supervise({
      data,
      socketDir: socket.path,
      command: serverCommand(binaries, data, socket.path, options.throwAway?.settings ?? {}),
      account: place.account,
      logFile: join(dataDir, 'postgres.log'),
      url: urls.ownerUrl,
      log: options.log,
    })
    let stopped: Promise<void> | undefined
    const stop = async () => {
      await server.stop(way)
      socket.remove()
      lock.release()
      options.log({ event: 'database.stopped', kind: 'embedded' })
    }
    return {
      ...urls,
      stop() {
        stopped ??= stop()
        return stopped
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** An orphan's folder is kept when it can be used: its server may then be adopted. */
async function chooseSocketDir(home: string, account: Account, running: { socketDir: string } | null) {
  if (running && running.socketDir !== '' && existsSync(running.socketDir)) {
    return { path: running.socketDir, remove: () => removeLeftSocketDir(running.socketDir, account) }
  }
  return openSocketDir(home, account)
}

/** The addresses of the server that another process runs on this data directory; null while it does not answer. */
async function findServer(dataDir: string): Promise<EmbeddedUrls | null> {
  const place = findClusterFolder(dataDir)
  const running = place ? findRunning(join(place.home, 'data')) : null
  if (!place || !running) return null
  const urls = embeddedUrls(running.socketDir, readCredentials(place.home))
  return (await probe(urls.ownerUrl)) === 'ready' ? urls : null
}
