import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findClusterFolder } from '@bridgework/server/src/platform/database/embedded/cluster-folder.ts'
import type { EmbeddedUrls } from '@bridgework/server/src/platform/database/embedded/connection.ts'
import { readPostmasterFile } from '@bridgework/server/src/platform/database/embedded/orphan.ts'
import { processesIn } from '@bridgework/server/src/platform/database/embedded/process-table.ts'
import { freePort } from '@bridgework/server/src/testing/test-port.ts'
import { startCommand } from '@bridgework/server/src/testing/test-start-command.ts'
import { killIfThere } from '../kills/kill-postgres.ts'

/** One of the two server processes. */
export type ServerProcess = {
  readonly name: string
  readonly port: number
  readonly agent: Agent
  start: () => Promise<void>
  kill: () => Promise<void>
  /** SIGTERM; its exit code. */
  stop: () => Promise<number | null>
  /** How far its clock is ahead of the machine's. */
  setClock: (aheadMs: number) => void
  aheadMs: () => number
}

/** Two processes of the server as production starts them, and the PostgreSQL that they share, which a process of its own keeps running. */
export type Service = {
  urls: EmbeddedUrls
  servers: readonly [ServerProcess, ServerProcess]
  dataDir: string
  secretKeyFile: string
  sealsDir: string
  /** Null while it does not run. */
  postmasterPid: () => number | null
  postgresPids: () => number[]
  /** A command of the operator, in a process of its own. */
  operator: (...args: string[]) => Promise<{ code: number | null; output: string }>
  remove: () => Promise<void>
}

/** Runs `work` with a service of its own, and removes everything afterwards, also on Ctrl-C. */
export async function withService<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService()
  const interrupt = () => void service.remove().then(() => process.exit(130))
  for (const signal of signals) process.once(signal, interrupt)
  try {
    return await work(service)
  } finally {
    for (const signal of signals) process.off(signal, interrupt)
    await service.remove()
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const

async function startService(): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-model-'))
  // As root, Postgres runs as an account that must be able to pass through.
  chmodSync(folder, 0o711)
  const [postgresDir, dataDir, sealsDir] = ['postgres', 'data', 'seals'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [postgresDir, dataDir, sealsDir]) {
    mkdirSync(path)
    chmodSync(path, 0o711)
  }
  const secretKeyFile = join(folder, 'secret.key')
  writeFileSync(secretKeyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  const children = new Set<ChildProcess>()
  const begin = (script: string, args: readonly string[], env: NodeJS.ProcessEnv, stdout: 'pipe' | number) => {
    const { flags } = startCommand()
    const child = spawn(process.execPath, [...flags, '--import', started, script, ...args], {
      cwd: folder,
      env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...env },
      stdio: ['ignore', stdout, stdout, 'ipc'],
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }
  const clusterData = () => {
    const place = findClusterFolder(postgresDir)
    return place ? join(place.home, 'data') : null
  }
  const postgresPids = () => {
    const data = clusterData()
    return data === null ? [] : processesIn(data)
  }
  const remove = async () => {
    for (const child of children) child.kill('SIGKILL')
    while (postgresPids().length > 0) {
      for (const pid of postgresPids()) killIfThere(pid)
      await sleep(20)
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const lone = begin(loneServer, [postgresDir, join(folder, 'elsewhere')], {}, 'pipe')
    const urls = JSON.parse(await firstLineOf(lone)) as EmbeddedUrls & { refusal?: string }
    if (urls.refusal !== undefined) throw new Error(urls.refusal)
    const settings = settingsOf({ urls, dataDir, secretKeyFile, sealsDir })
    const servers = [
      await createServer('A', folder, (env, log) => begin(serverMain, [], { ...settings, ...env }, log)),
      await createServer('B', folder, (env, log) => begin(serverMain, [], { ...settings, ...env }, log)),
    ] as const
    // One after the other: the first one makes what they share.
    for (const server of servers) await server.start()
    return {
      urls,
      servers,
      dataDir,
      secretKeyFile,
      sealsDir,
      postgresPids,
      postmasterPid: () => readPostmasterFile(clusterData() ?? '')?.pid ?? null,
      async operator(...args) {
        const child = begin(operatorMain, args, settings, 'pipe')
        let output = ''
        child.stdout?.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
        const [code] = await once(child, 'close')
        return { code: code as number | null, output }
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

const source = join(import.meta.dirname, '../../../../apps/server/src')
const started = join(import.meta.dirname, 'started.ts')
const loneServer = join(source, 'platform/database/embedded/lone-server.ts')
const serverMain = join(source, 'main.ts')
const operatorMain = join(source, 'apis/operator/main.ts')

async function createServer(
  name: string,
  folder: string,
  begin: (env: NodeJS.ProcessEnv, log: number) => ChildProcess,
): Promise<ServerProcess> {
  const port = await freePort()
  const agent = new Agent({ keepAlive: true })
  const logFile = join(folder, `${name}.log`)
  let child: ChildProcess | null = null
  let aheadMs = 0
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return null
    const exit = once(child, 'exit')
    child.kill(signal)
    const [code] = await exit
    return code
  }
  return {
    name,
    port,
    agent,
    async start() {
      const log = openSync(logFile, 'a')
      const fresh = begin({ BRIDGEWORK_PORT: String(port), ...startCommand().env }, log)
      closeSync(log)
      child = fresh
      fresh.send({ aheadMs })
      const until = performance.now() + 120_000
      while (!(await isListening(port))) {
        if (fresh.exitCode !== null || fresh.signalCode !== null || performance.now() > until)
          throw new Error(`server ${name} is not ready: ${readFileSync(logFile, 'utf8').slice(-2_000)}`)
        await sleep(25)
      }
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    setClock(ms) {
      aheadMs = ms
      if (child?.connected) child.send({ aheadMs: ms })
    },
    aheadMs: () => aheadMs,
  }
}

/** As in production, behind a proxy on this machine, which names the callers' addresses; previews on, because plans are one. */
function settingsOf(at: { urls: EmbeddedUrls; dataDir: string; secretKeyFile: string; sealsDir: string }) {
  return {
    BRIDGEWORK_ENVIRONMENT: 'production',
    BRIDGEWORK_HOST: '127.0.0.1',
    BRIDGEWORK_PUBLIC_URL: 'https://bridgework.example',
    BRIDGEWORK_TRUSTED_PROXIES: '127.0.0.1',
    BRIDGEWORK_DATA_DIR: at.dataDir,
    BRIDGEWORK_SEALS_DIR: at.sealsDir,
    BRIDGEWORK_SECRET_KEY_FILE: at.secretKeyFile,
    BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans',
    DATABASE_URL: at.urls.serverUrl,
    BRIDGEWORK_MIGRATION_DATABASE_URL: at.urls.ownerUrl,
    // Two processes and the model share what a cluster has.
    BRIDGEWORK_DATABASE_CONNECTIONS: '20',
  }
}

async function firstLineOf(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const piece of child.stdout?.setEncoding('utf8') ?? []) {
    text += piece
    if (text.includes('\n')) return text
  }
  throw new Error(`PostgreSQL was not started: ${text}`)
}

async function isListening(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(5_000) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}
