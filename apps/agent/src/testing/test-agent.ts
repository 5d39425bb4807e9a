import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DatabaseSettings } from '../open-dental/database/database-settings.ts'

const mainFile = fileURLToPath(new URL('../main.ts', import.meta.url))

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** What is compiled once serves every process of a test run. */
const { NODE_COMPILE_CACHE } = process.env
const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }

/** The agent as a process of its own, with nothing else of the test's environment. */
export function spawnAgent(
  args: readonly string[],
  options: { env?: Record<string, string>; main?: string; cwd?: string } = {},
): { process: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [options.main ?? mainFile, ...args], {
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', ...compiled, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { process: child, ended }
}

export function runAgentCommand(
  args: readonly string[],
  options: { env?: Record<string, string>; main?: string; cwd?: string } = {},
): Promise<Ended> {
  return spawnAgent(args, options).ended
}

/** A folder that is gone after the test. */
export function temporaryFolder(t: { after(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'bwa-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Settings of an enrolled agent; the path of their file. */
export function writeTestConfig(
  folder: string,
  server: { url: string; agentId: string; agentKey: string; organizationId: string },
  database: DatabaseSettings | { engine: string; name: string },
  more: Record<string, unknown> = {},
): string {
  const path = join(folder, 'config.json')
  const document = {
    server_url: server.url,
    organization_id: server.organizationId,
    agent_id: server.agentId,
    agent_key: server.agentKey,
    database,
    state_path: join(folder, 'state.sqlite'),
    ...more,
  }
  writeFileSync(path, JSON.stringify(document), { mode: 0o600 })
  return path
}
