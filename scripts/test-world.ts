// One throw-away Postgres with a migrated template for a whole test run, and node:test in it.
import type { ChildProcess } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { withTestDatabase } from './test-database.ts'
import { processesOf } from './test-processes.ts'
import { runTestFiles } from './test-run.ts'

const root = join(import.meta.dirname, '..')
const everything = ['{apps,packages,bench,scripts}/**/*.test.ts']
/** Twice as many as the cores of a small machine: a test waits for databases, browsers and clocks half of its time. */
const processesAtOnce = 4
let tests: ChildProcess | undefined
let stopSignal: NodeJS.Signals | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopSignal = signal
    tests?.kill(signal)
  })
}
process.exitCode = await withTestDatabase(({ env, folder }) => runTests(env, folder))

async function runTests(env: NodeJS.ProcessEnv, world: string): Promise<number> {
  if (stopSignal) return 130
  const args = process.argv.slice(2)
  const options = args.filter((argument) => argument.startsWith('-'))
  const paths = args.filter((argument) => !argument.startsWith('-')).map(asGlob)
  const files = globSync(paths.length > 0 ? paths : everything, {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).toSorted()
  if (files.length === 0) {
    console.error(`No test file matches: ${args.join(' ')}`)
    return 1
  }
  const inOneFile = args.filter((argument) => argument.endsWith('.ts')).length === 1 && paths.length === 1
  const code = await runTestFiles({
    paths: processesOf(files, join(world, 'together')),
    processesAtOnce: inOneFile ? 1 : processesAtOnce,
    options,
    env,
    folder: world,
    onStart: (child) => {
      tests = child
      if (stopSignal) child.kill(stopSignal)
    },
  })
  return stopSignal ? 130 : code
}

function asGlob(path: string): string {
  const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()
  return isFolder ? `${path.replace(/\/+$/, '')}/**/*.test.ts` : path
}
