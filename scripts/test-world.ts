// One throw-away Postgres with a migrated template for a whole test run, and node:test in it.
import { type ChildProcess, spawn } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { withTestDatabase } from './test-database.ts'
import { processesOf } from './test-processes.ts'

const root = join(import.meta.dirname, '..')
const everything = ['{apps,packages,bench,scripts}/**/*.test.ts']
/** Twice as many as the cores of a small machine: a test waits for databases, browsers and clocks half of its time. */
const processesAtOnce = 4
/** A test process seldom lives long enough to need its old objects collected, and young ones mostly die within this space. */
const heap = ['--min-semi-space-size=32', '--max-semi-space-size=32', '--initial-old-space-size=512']
/** Ends a test that waits for what an uncaught error prevented; no test takes so long, however busy the machine is. */
const testTimeoutMs = 1_800_000

let tests: ChildProcess | undefined
let stopSignal: NodeJS.Signals | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopSignal = signal
    tests?.kill(signal)
  })
}
process.exitCode = await withTestDatabase(({ env, folder }) => runTests(env, folder))

function runTests(env: NodeJS.ProcessEnv, world: string): Promise<number> {
  if (stopSignal) return Promise.resolve(130)
  const args = process.argv.slice(2)
  const options = args.filter((argument) => argument.startsWith('-'))
  const paths = args.filter((argument) => !argument.startsWith('-')).map(asGlob)
  const files = globSync(paths.length > 0 ? paths : everything, {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).toSorted()
  if (files.length === 0) {
    console.error(`No test file matches: ${args.join(' ')}`)
    return Promise.resolve(1)
  }
  const inOneFile = args.filter((argument) => argument.endsWith('.ts')).length === 1 && paths.length === 1
  const child = spawn(
    process.execPath,
    [
      '--test',
      ...heap,
      `--test-concurrency=${inOneFile ? 1 : processesAtOnce}`,
      `--test-timeout=${testTimeoutMs}`,
      '--test-reporter=spec',
      ...options,
      ...processesOf(files, join(world, 'together')),
    ],
    { cwd: root, stdio: 'inherit', env },
  )
  tests = child
  return new Promise((resolve) => child.once('close', (code) => resolve(stopSignal ? 130 : (code ?? 1))))
}

function asGlob(path: string): string {
  const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()
  return isFolder ? `${path.replace(/\/+$/, '')}/**/*.test.ts` : path
}
