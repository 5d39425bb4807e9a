// Which test files share a process.
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..')
/**
 * Files that share processes, because loading the server costs a process more than many a file's tests, and Chromium's start as much. Each group
 * has so many processes that all cores have work until the end. Long files, those that kill processes, and those that measure have their own.
 */
const sharing = [
  {
    files: /^apps\/(portal\/src|guides|server\/src\/(?!acceptance|platform\/database\/(embedded|pool)|sandbox))/,
    processes: 12,
  },
  {
    files: /^apps\/agent\/src\/(?!demo|kill|main|memory|package)/,
    processes: 5,
  },
  { files: /^apps\/portal\/browser/, processes: 6 },
  { files: /^packages\/client\/src\/(?!package|.*(living|throughput|volume))/, processes: 4 },
  {
    files:
      /^(packages\/(?!client)(?!.*(invariants|living|volume|writer))|scripts\/(?!commands-end|release|setup)|bench\/src\/(client|report))/,
    processes: 2,
  },
]
/** With so many files, one more process saves more time than its start costs. */
const worthAProcess = 4
/** Files that take a minute or more. They start first, so that none is left to run alone on one core at the end. */
const long =
  /\/(commands-end|year-of-changes|plans-and-fees|synthetic-practice|newcomer|kill|payment-plans|main|memory|mirror-living|release|windows-installer)\.test\.ts$/

/**
 * What node:test starts as a process each: a test file, or a file in this folder that loads one or several. It starts them in the order of
 * their names.
 */
export function processesOf(files: readonly string[], folder: string): readonly string[] {
  if (files.length === 1) return files
  const shared = sharing.flatMap(({ files: pattern, processes }) => {
    const together = files.filter((file) => pattern.test(file))
    const count = Math.min(processes, Math.ceil(together.length / worthAProcess))
    // In turn, so that a folder's long files are spread over the processes.
    return Array.from({ length: count }, (_, index) => together.filter((_, at) => at % count === index))
  })
  const alone = files.filter((file) => !sharing.some(({ files: pattern }) => pattern.test(file)))
  mkdirSync(folder)
  const isLong = (file: string) => long.test(file)
  const inOrder = [
    ...alone.filter(isLong).map((file) => [file]),
    ...shared,
    ...alone.filter((file) => !isLong(file)).map((file) => [file]),
  ]
  return inOrder.map((loaded, index) =>
    loadTogether(join(folder, `${String(index).padStart(4, '0')}-${basename(loaded[0] ?? '', '.ts')}.mjs`), loaded),
  )
}

/** Writes a file that loads test files into one process, and gives its path. */
export function loadTogether(path: string, files: readonly string[]): string {
  writeFileSync(
    path,
    ['scripts/test-cheap-hooks.ts', 'scripts/test-end.ts', ...files]
      .map((file) => `import ${JSON.stringify(pathToFileURL(resolve(root, file)).href)}\n`)
      .join(''),
  )
  return path
}

/** The same files in as few processes as they can share, in the order of each process' first file. */
export function fewProcesses(files: readonly string[]): string[][] {
  const processOf = (file: string) => sharing.find(({ files: pattern }) => pattern.test(file)) ?? file
  return [...Map.groupBy(files, processOf).values()]
}
