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
  const child = spawn(pythonWith('psycopg'), ['-m', 'bridgework', ...args], {
    env: {
      ...process.env,
      PYTHONPATH: pythonPackage,
      PYTHONDONTWRITEBYTECODE: '1',
      XDG_CONFIG_HOME: config,
      BRIDGEWORK_BASE_URL: url,
      BRIDGEWORK_CLIENT_ID: vendor.clientId,
      BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => {
    out += text
  })
  child.stderr.on('data', (text) => {
    err += text
  })
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, out, err })),
  )
  return { child, ended }
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
