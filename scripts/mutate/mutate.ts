import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fewProcesses, loadTogether } from '../test-processes.ts'
import type { Mutant } from './change.ts'
import { mutantsOf } from './mutants.ts'
import { type Reach, readReach } from './reach.ts'
import { runTestFile } from './test-run.ts'

/** What is promised together: the row codes, the code that the promise rests on, and the test files that hold it. */
export type Promised = {
  codes: readonly string[]
  places: readonly { file: string; only: readonly string[] }[]
  tests: readonly string[]
}

/** `noticedBy` is the test that failed; null: none did. `reached` counts the test files that run the place. */
export type Outcome = { mutant: Mutant; noticedBy: string | null; reached: number }

export type RowOutcome = { codes: readonly string[]; outcomes: Outcome[] }

/** `broken`: test files that fail without a fault, and how. They take no part. */
export type Mutated = { rows: RowOutcome[]; broken: string[] }

export type MutateOptions = {
  root: string
  /** A folder for everything that is written; the caller removes it. */
  folder: string
  env: NodeJS.ProcessEnv
  /** Faults are planted in the code of these rows. */
  rows: readonly Promised[]
  /** All rows: a fault meets the tests of each that rests on its code. */
  table: readonly Promised[]
  /** The same seed plants the same faults in the same code. */
  seed: string
  /** Mutants of each row at most. */
  sample: number
  atOnce: number
  /** Called after tests were ended in their middle, with what the names of their databases begin with. */
  tidy: (databasePrefix: string) => Promise<void>
  tell: (line: string) => void
  extraMs?: number
  signal?: AbortSignal
}

type Slot = { env: NodeJS.ProcessEnv; tmp: string; databasePrefix: string }
type Measured = { file: string; ms: number; reach: Reach }

/** A run that takes so many times as long as without a fault, and `extraMs`, hangs. */
const patience = 4

/**
 * Plants faults in the code of each row, one at a time, and runs the tests that hold it and reach the place, shortest first, until one fails. Each
 * fault is planted once, however many rows chose it; a row counts those that it chose.
 */
export async function mutate(options: MutateOptions): Promise<Mutated> {
  const { rows, table, tell } = options
  const chosen = rows.map((row) => choose(row, options))
  const unique = new Map(chosen.flat().map((mutant) => [keyOf(mutant), mutant]))
  const mutants = [...unique.values()].map((mutant) => ({ mutant, tests: testsOf(mutant, table) }))
  const slots = makeSlots(options)

  const tests = [...new Set(mutants.flatMap((each) => each.tests))].toSorted()
  const files = new Set(mutants.map(({ mutant }) => mutant.file))
  tell(`Running ${tests.length} test files without a fault.`)
  const measured = new Map<string, Measured>()
  const broken: string[] = []
  await inParallel(tests, slots, async (test, slot) => {
    const run = await measure(test, files, slot, options)
    if (typeof run === 'string') broken.push(`${test}: ${run}`)
    else measured.set(test, run)
    const what = typeof run === 'string' ? `FAILS  ${run}` : `${(run.ms / 1000).toFixed(1)} s`
    tell(`${measured.size + broken.length}/${tests.length} ${test}  ${what}`)
  })

  tell(`Planting ${mutants.length} faults in ${files.size} files.`)
  const outcomes = new Map<string, Outcome>()
  await inParallel(mutants, slots, async ({ mutant, tests: ofRows }, slot) => {
    const reaching = ofRows
      .flatMap((test) => measured.get(test) ?? [])
      .filter(({ reach }) => reach(mutant.file, mutant.runAt ?? mutant.start))
      .toSorted((a, b) => a.ms - b.ms)
    const noticedBy = await tryMutant(mutant, reaching, slot, options)
    outcomes.set(keyOf(mutant), { mutant, noticedBy, reached: reaching.length })
    tell(
      `${outcomes.size}/${mutants.length} ${noticedBy === null ? 'SURVIVED' : 'noticed'}  ${mutant.file}:${mutant.line}  ${mutant.was} → ${mutant.is}`,
    )
  })
  return {
    rows: rows.map(({ codes }, index) => ({
      codes,
      outcomes: (chosen[index] ?? []).flatMap((mutant) => outcomes.get(keyOf(mutant)) ?? []),
    })),
    broken,
  }
}

/** The tests of all rows that rest on the code of the fault. */
function testsOf({ file, inside }: Mutant, table: readonly Promised[]): string[] {
  const isOf = (place: Promised['places'][number]) =>
    place.file === file && (place.only.length === 0 || place.only.includes(inside))
  return [...new Set(table.filter(({ places }) => places.some(isOf)).flatMap(({ tests }) => tests))]
}

/** In turn from each place of the row, in an order that only the seed decides, so that no large file has all of them. */
function choose({ codes, places }: Promised, { root, seed, sample }: MutateOptions): Mutant[] {
  const order = (mutant: Mutant) =>
    createHash('sha256')
      .update(`${seed} ${codes} ${keyOf(mutant)}`)
      .digest('hex')
  const ofPlaces = places.map(({ file, only }) =>
    mutantsOf(root, file, only).toSorted((a, b) => (order(a) < order(b) ? -1 : 1)),
  )
  const longest = Math.max(...ofPlaces.map(({ length }) => length))
  const inTurn = Array.from({ length: longest }, (_, turn) => ofPlaces.flatMap((mutants) => mutants[turn] ?? [])).flat()
  return inTurn.slice(0, sample)
}

function keyOf({ file, start, end, is }: Mutant): string {
  return `${file} ${start} ${end} ${is}`
}

function makeSlots({ atOnce, env, folder }: MutateOptions): Slot[] {
  return Array.from({ length: atOnce }, (_, index) => {
    const tmp = join(folder, `m${index}`)
    const databasePrefix = `mutant_${index}_`
    return { tmp, databasePrefix, env: { ...env, TMPDIR: tmp, BRIDGEWORK_TEST_DATABASE_PREFIX: databasePrefix } }
  })
}

/** Runs a test file as it is: it passes, at least the second time, and shows how long it takes and what it reaches; else what failed. */
async function measure(
  test: string,
  files: ReadonlySet<string>,
  slot: Slot,
  options: MutateOptions,
): Promise<Measured | string> {
  const coverage = join(options.folder, `coverage-${slot.databasePrefix}`)
  const compiled = { NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: '1' }
  for (let attempt = 1; ; attempt += 1) {
    rmSync(coverage, { recursive: true, force: true })
    mkdirSync(coverage, { recursive: true })
    const { failure, ms } = await runIn(slot, [test], { ...slot.env, ...compiled }, 1_200_000, options)
    if (failure === null) {
      const reach = readReach(coverage, options.root, files)
      rmSync(coverage, { recursive: true })
      return { file: test, ms, reach }
    }
    if (attempt === 2) return failure
  }
}

async function tryMutant(mutant: Mutant, tests: readonly Measured[], slot: Slot, options: MutateOptions) {
  const planted = join(options.folder, `${slot.databasePrefix}mutant.json`)
  const url = pathToFileURL(join(options.root, mutant.file)).href
  writeFileSync(planted, JSON.stringify({ url, change: mutant }))
  const env = {
    ...slot.env,
    BRIDGEWORK_MUTANT: planted,
    NODE_OPTIONS: `${slot.env.NODE_OPTIONS ?? ''} --import=${pathToFileURL(join(import.meta.dirname, 'load-mutant.ts')).href}`,
  }
  for (const files of fewProcesses(tests.map(({ file }) => file))) {
    const usualMs = tests.filter(({ file }) => files.includes(file)).reduce((sum, { ms }) => sum + ms, 0)
    const limitMs = usualMs * patience + (options.extraMs ?? 20_000)
    const { failure } = await runIn(slot, files, env, limitMs, options)
    if (failure !== null) return failure
  }
  return null
}

async function runIn(
  slot: Slot,
  files: readonly string[],
  env: NodeJS.ProcessEnv,
  limitMs: number,
  options: MutateOptions,
) {
  const { root, folder, signal, tidy } = options
  mkdirSync(slot.tmp, { recursive: true, mode: 0o711 })
  const together = loadTogether(
    join(folder, `${slot.databasePrefix}tests.mjs`),
    files.map((file) => join(root, file)),
  )
  const run = await runTestFile(together, { cwd: root, env, limitMs, signal })
  if (run.failure !== null) {
    await tidy(slot.databasePrefix)
    rmSync(slot.tmp, { recursive: true, force: true })
  }
  return run
}

async function inParallel<T>(
  items: readonly T[],
  slots: readonly Slot[],
  work: (item: T, slot: Slot) => Promise<void>,
) {
  const waiting = [...items]
  await Promise.all(
    slots.map(async (slot) => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item, slot)
    }),
  )
}
