import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { vendorApiPath } from '@bridgework/contract'
import { findClusterFolder } from '@bridgework/server/src/platform/database/embedded/cluster-folder.ts'
import { connectEmbedded } from '@bridgework/server/src/platform/database/embedded/embedded-postgres.ts'
import { readPostmasterFile } from '@bridgework/server/src/platform/database/embedded/orphan.ts'
import { processesIn } from '@bridgework/server/src/platform/database/embedded/process-table.ts'
import { freePort } from '@bridgework/server/src/testing/test-port.ts'
import { startCommand } from '@bridgework/server/src/testing/test-start-command.ts'

/** The real server in a process of its own, as production starts it, on a PostgreSQL that the same process keeps running and that goes when it is removed. */
export type ThrowAwayServer = {
  readonly url: string
  readonly vendorUrl: string
  readonly dataDir: string
  readonly secretKeyFile: string
  /** The folder of the embedded database. */
  home: () => string
  pid: () => number
  postmasterPid: () => number
  /** All processes of its Postgres. */
  postgresPids: () => number[]
  /** Starts it and waits until it is ready. Returns how long that took. */
  start: () => Promise<number>
  /** SIGKILL. */
  kill: () => Promise<void>
  /** SIGKILL of the server and of all processes of its Postgres. */
  killAll: () => Promise<void>
  /** Removes the embedded database and all else in the server's folder, but for the secret key. Nothing may run. */
  wipe: () => void
  /** Runs a command of the operator. Throws what it says when it fails. */
  operate: (...args: string[]) => Promise<void>
  /** SIGTERM, waited for; then PostgreSQL is stopped. */
  stop: () => Promise<void>
  /** Kills what still runs and removes everything. */
  remove: () => Promise<void>
}

/** Makes the folder and the settings; nothing runs yet. */
export async function createThrowAwayServer(): Promise<ThrowAwayServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-bench-'))
  // As root, Postgres runs as an account that must be able to pass through.
  chmodSync(folder, 0o711)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  chmodSync(dataDir, 0o711)
  const secretKeyFile = join(folder, 'secret.key')
  writeFileSync(secretKeyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  const logFile = join(folder, 'server.log')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | undefined

  const home = () => {
    const place = findClusterFolder(dataDir)
    if (!place) throw new Error('the server has made no database yet')
    return place.home
  }
  const pid = () => {
    if (child?.pid === undefined) throw new Error('the server does not run')
    return child.pid
  }
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }
  const killAll = async () => {
    await end('SIGKILL')
    // Its Postgres outlives a killed server. By number, and only those that stand in this cluster's folder.
    while (postgresPids().length > 0) {
      for (const each of postgresPids()) killIfThere(each)
      await sleep(20)
    }
  }
  const postgresPids = () => (findClusterFolder(dataDir) ? processesIn(join(home(), 'data')) : [])

  return {
    url,
    vendorUrl: `${url}${vendorApiPath}`,
    dataDir,
    secretKeyFile,
    home,
    pid,
    postgresPids,
    postmasterPid: () => {
      const file = readPostmasterFile(join(home(), 'data'))
      if (!file) throw new Error('Postgres does not run')
      return file.pid
    },
    async start() {
      const begunAt = performance.now()
      const log = openSync(logFile, 'a')
      const { flags, env } = startCommand()
      const fresh = spawn(process.execPath, [...flags, serverMain, dataDir], {
        cwd: folder,
        env: { ...settings({ port, dataDir, secretKeyFile }), ...env },
        stdio: ['ignore', log, log],
      })
      closeSync(log)
      child = fresh
      while (!(await isReady(url))) {
        if (fresh.exitCode !== null || fresh.signalCode !== null) {
          throw new Error(`the server ended before it was ready: ${readFileSync(logFile, 'utf8').slice(-2_000)}`)
        }
        if (performance.now() - begunAt > 180_000) throw new Error('the server is not ready after three minutes')
        await sleep(10)
      }
      return performance.now() - begunAt
    },
    kill: () => end('SIGKILL'),
    killAll,
    wipe() {
      if (findClusterFolder(dataDir)) rmSync(home(), { recursive: true, force: true, maxRetries: 5 })
      for (const name of readdirSync(dataDir))
        rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 })
    },
    async operate(...args) {
      const { serverUrl, ownerUrl, close } = await connectEmbedded(dataDir, { log: () => {} })
      try {
        const urls = { DATABASE_URL: serverUrl, BRIDGEWORK_MIGRATION_DATABASE_URL: ownerUrl }
        const env = { ...settings({ port, dataDir, secretKeyFile }), ...urls }
        await promisify(execFile)(process.execPath, [operatorMain, ...args], { cwd: folder, env })
      } finally {
        await close()
      }
    },
    async stop() {
      await end('SIGTERM')
      const { close } = await connectEmbedded(dataDir, { log: () => {} })
      await close()
    },
    async remove() {
      await killAll()
      if (findClusterFolder(dataDir)) rmSync(home(), { recursive: true, force: true, maxRetries: 5 })
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const serverMain = join(import.meta.dirname, 'server-main.ts')
const operatorMain = join(import.meta.dirname, '../../../apps/server/src/apis/operator/main.ts')

/** As in production, which has no demo practice that changes meanwhile; previews on, because plans are one. */
function settings(at: { port: number; dataDir: string; secretKeyFile: string }): NodeJS.ProcessEnv {
  return {
    BRIDGEWORK_ENVIRONMENT: 'production',
    BRIDGEWORK_HOST: '127.0.0.1',
    BRIDGEWORK_PORT: String(at.port),
    BRIDGEWORK_PUBLIC_URL: 'https://bridgework.example',
    BRIDGEWORK_TRUSTED_PROXIES: '127.0.0.1',
    BRIDGEWORK_DATA_DIR: at.dataDir,
    BRIDGEWORK_SECRET_KEY_FILE: at.secretKeyFile,
    BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans',
    NODE_COMPILE_CACHE: join(at.dataDir, 'compiled'),
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
