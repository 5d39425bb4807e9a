import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { schemas } from '../../schemas.ts'
import { findClusterFolder } from '../cluster-folder.ts'
import type { EmbeddedUrls } from '../connection.ts'
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres.ts'
import { isAlive, killProcess, processesIn } from '../process-table.ts'

/** A folder for one test's data directory and for what root puts elsewhere. What still runs in it when the test ends is killed. */
export type TestFolder = { path: string; dataDir: string; copyRoot: string; atEnd: (() => unknown)[] }

export function testFolder(t: TestContext, dataDirName = 'data'): TestFolder {
  const path = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  chmodSync(path, 0o711)
  const folder = {
    path,
    dataDir: join(path, dataDirName),
    copyRoot: join(path, 'elsewhere'),
    atEnd: [] as (() => unknown)[],
  }
  t.after(async () => {
    // Here and not in `t.after`, whose oldest entry runs first: the folder must go last.
    for (const end of folder.atEnd) await end()
    for (const pid of servingProcesses(folder)) killProcess(pid)
    await until(() => servingProcesses(folder).length === 0)
    rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}

export async function startIn(folder: TestFolder, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedPostgres> {
  const database = await startEmbeddedPostgres({ ...folder, log: () => {}, ...options })
  folder.atEnd.push(() => database.stop())
  return database
}

export type Answer = Partial<EmbeddedUrls> & { refusal?: string }

type AloneOptions = { env?: NodeJS.ProcessEnv; uid?: number; gid?: number; program?: string; script?: string }

/** A server in a process of its own. `answer` is its line: addresses or refusal. */
export async function startAlone(
  folder: TestFolder,
  options: AloneOptions = {},
): Promise<{ child: ChildProcess; answer: Answer }> {
  const { child, answer } = spawnAlone(folder, options)
  return { child, answer: await answer }
}

/** As `startAlone`, without waiting for the answer. */
export function spawnAlone(
  folder: TestFolder,
  options: AloneOptions = {},
): { child: ChildProcess; answer: Promise<Answer> } {
  const {
    env = {},
    program = process.execPath,
    script = join(import.meta.dirname, '../lone-server.ts'),
    ...account
  } = options
  const child = spawn(program, [script, folder.dataDir, folder.copyRoot], {
    ...account,
    cwd: '/',
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  folder.atEnd.push(() => child.kill('SIGKILL'))
  const { promise, resolve } = Promise.withResolvers<Answer>()
  createInterface(child.stdout).on('line', (text) => resolve(JSON.parse(text)))
  child.once('close', () => resolve({ refusal: 'it ended without a word' }))
  return { child, answer: promise }
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** The process id of the Postgres that serves the data directory. */
export function postmasterPid(folder: TestFolder): number {
  return Number(readFileSync(join(clusterOf(folder), 'postmaster.pid'), 'utf8').split('\n')[0])
}

export function clusterOf(folder: TestFolder): string {
  const place = findClusterFolder(folder.dataDir)
  if (!place) throw new Error('There is no cluster')
  return join(place.home, 'data')
}

export async function query<T extends pg.QueryResultRow>(url: string | undefined, sql: string): Promise<T[]> {
  const client = new pg.Client({
    connectionString: url ?? 'postgres://missing',
    connectionTimeoutMillis: 2_000,
    // In a database that was not migrated, tables of a test are there.
    options: `-c search_path=${[...schemas, 'public']}`,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<T>(sql)).rows
  } finally {
    await client.end()
  }
}

export async function until(condition: () => boolean | Promise<boolean>, patienceMs = 10_000): Promise<void> {
  const end = performance.now() + patienceMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`It did not happen within ${patienceMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

function servingProcesses(folder: TestFolder): number[] {
  try {
    const place = findClusterFolder(folder.dataDir)
    return place ? processesIn(join(place.home, 'data')).filter(isAlive) : []
  } catch {
    // A test that spoilt its data directory on purpose has nothing running in it.
    return []
  }
}
