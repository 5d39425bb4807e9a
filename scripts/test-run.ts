// Starts node:test, and gives a file that failed beside others a second run of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadTogether } from './test-processes.ts'

const root = join(import.meta.dirname, '..')
/** A test process seldom lives long enough to need its old objects collected, and young ones mostly die within this space. */
const heap = ['--min-semi-space-size=32', '--max-semi-space-size=32', '--initial-old-space-size=512']
/** Ends a test that waits for what an uncaught error prevented; no test takes so long, however busy the machine is. */
const testTimeoutMs = 900_000
/** More failures than these are a fault, and not a busy machine. */
const runAgainMax = 6

export interface TestRun {
  /** What node:test starts as a process each. */
  readonly paths: readonly string[]
  readonly processesAtOnce: number
  /** Options of node --test. */
  readonly options?: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** For the list of failed files. */
  readonly folder: string
  readonly onStart?: (child: ChildProcess) => void
}

/**
 * The exit code of the run. Where at most six files failed, and others ran beside them, each runs once more alone; the code is 0 when all of them
 * pass then, and the end of the output names them: a test that needs a quiet machine is to be mended all the same.
 */
export async function runTestFiles(run: TestRun): Promise<number> {
  const failures = join(run.folder, 'failed-files')
  const code = await runOnce(run, failures)
  const failed = existsSync(failures) ? [...new Set(readFileSync(failures, 'utf8').split('\n').filter(Boolean))] : []
  rmSync(failures, { force: true })
  if (code !== 1 || run.paths.length === 1 || failed.length === 0 || failed.length > runAgainMax) return code
  console.log(`\nFailed beside the others, and run once more alone:\n${list(failed)}`)
  for (const [index, file] of failed.entries()) {
    const path = loadTogether(join(run.folder, `again-${index}.mjs`), [file])
    const again = await runOnce({ ...run, paths: [path], processesAtOnce: 1 }, failures)
    if (again !== 0) return again
  }
  console.log(`\nFailed beside the others, passed alone (see the first failure above):\n${list(failed)}`)
  return 0
}

function runOnce({ paths, processesAtOnce, options = [], env, onStart }: TestRun, failures: string): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      '--test',
      ...heap,
      `--test-concurrency=${processesAtOnce}`,
      `--test-timeout=${testTimeoutMs}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${join(import.meta.dirname, 'test-failures.ts')}`,
      `--test-reporter-destination=${failures}`,
      ...options,
      ...paths,
    ],
    { cwd: root, stdio: 'inherit', env },
  )
  onStart?.(child)
  // A signal counts as a failure that is not tried again.
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 2)))
}

const list = (paths: readonly string[]) => paths.map((path) => `  ${path}`).join('\n')
