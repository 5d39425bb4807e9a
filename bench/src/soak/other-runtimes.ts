import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runTests } from './run-tests.ts'

const run = promisify(execFile)

/** The oldest Node that the client promises, and what else it promises to run on. */
const packages = [`node-${process.platform}-${process.arch}@20.3.0`, 'bun@1.4.5', 'deno@2.9.6']

/** The client's package on other runtimes than ours: they are 280 MB, so they are installed for this alone, into a folder that goes again. */
export async function otherRuntimes(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-runtimes-'))
  try {
    await run('npm', ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', ...packages])
    const found = [
      { name: 'node', at: 'node-*/bin/node' },
      { name: 'bun', at: '@oven/bun-*/bin/bun' },
      { name: 'deno', at: '@deno/*/deno' },
    ].map(({ name, at }) => {
      const [path] = globSync(join(folder, 'node_modules', at))
      if (path === undefined) throw new Error(`npm has no ${name} for this machine`)
      return { name, path }
    })
    await runTests('packages/client/src/package.test.ts', { BRIDGEWORK_TEST_RUNTIMES: JSON.stringify(found) })
    return packages.join(', ')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
