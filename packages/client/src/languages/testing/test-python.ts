import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { StoreKind } from '../../sync/testing/test-mirror.ts'

/** The folder of the Python package. */
export const pythonPackage = join(import.meta.dirname, '../../../../../clients/python')

/** Debian's own Python has what Debian's packages bring; another may come first in the path. */
const pythons = ['/usr/bin/python3', 'python3']

/** A Python with these modules. */
export function pythonWith(...modules: string[]): string {
  const program = `import ${modules.join(', ')}`
  const found = pythons.find((python) => spawnSync(python, ['-W', 'ignore', '-c', program]).status === 0)
  if (found === undefined) throw new Error(`No Python with ${modules.join(', ')} was found. Run: npm test`)
  return found
}

export type PythonRun = { child: ChildProcess; ended: Promise<{ code: number | null; out: string; err: string }> }

/** Starts the Python command as the vendor; it ends with the test at the latest. */
export function startPython(
  t: TestContext,
  args: readonly string[],
  { url, vendor, config }: { url: string; vendor: { clientId: string; clientSecret: string }; config: string },
): PythonRun {
  const env = {
    XDG_CONFIG_HOME: config,
    BRIDGEWORK_BASE_URL: url,
    BRIDGEWORK_CLIENT_ID: vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
  }
  const child = spawnPython(['-m', 'bridgework', ...args], env)
  t.after(() => child.kill('SIGKILL'))
  return { child, ended: endOf(child) }
}

/** Runs a program in the package's folder, to its end. */
export function runPython(args: readonly string[], env: Record<string, string> = {}): PythonRun['ended'] {
  return endOf(spawnPython(args, env))
}

function spawnPython(args: readonly string[], env: Record<string, string>) {
  return spawn(pythonWith('psycopg'), args, {
    cwd: pythonPackage,
    env: { ...process.env, PYTHONPATH: pythonPackage, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function endOf(child: ReturnType<typeof spawnPython>): PythonRun['ended'] {
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => {
    out += text
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}

/** A folder of the test's own. */
export function someFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-python-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A target as the command names it. */
export function placeOf(kind: StoreKind, target: string): string {
  return kind === 'sqlite' ? `sqlite:${target}` : target
}
