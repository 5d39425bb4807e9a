// One throw-away Postgres with a migrated template for a whole test run, and node:test in it.
import { type ChildProcess, spawn } from 'node:child_process'
import { globSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { embeddedServerRole, startEmbeddedPostgres } from '../apps/server/src/platform/database/embedded-postgres.ts'
import { migrate } from '../apps/server/src/platform/database/migrate.ts'
import { makeTestFolder, removeWhenKilled } from './test-folder.ts'

const root = join(import.meta.dirname, '..')
const everything = ['{apps,packages,bench,scripts}/**/*.test.ts']
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
    files: /^apps\/agent\/src\/(?!demo|kill|main|memory|package|open-dental\/(practice-600|sim|time-zones|tls))/,
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
  /\/(commands-end|real-practice(-year)?|simulated-practice|synthetic-practice|newcomer|kill|payment-plans|main|memory|mirror-living|practice-600|release|windows-installer)\.test\.ts$/
/** Twice as many as the cores of a small machine: a test waits for databases, browsers and clocks half of its time. */
const processesAtOnce = 4
/** A test process seldom lives long enough to need its old objects collected, and young ones mostly die within this space. */
const heap = ['--min-semi-space-size=32', '--max-semi-space-size=32', '--initial-old-space-size=512']
/** Ends a test that waits for what an uncaught error prevented; no test takes so long, however busy the machine is. */
const testTimeoutMs = 1_800_000
/** Nothing here need survive a crash. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  max_wal_size: '2GB',
  max_connections: '300',
  shared_buffers: '256MB',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
}

let tests: ChildProcess | undefined
let stopSignal: NodeJS.Signals | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopSignal = signal
    tests?.kill(signal)
  })
}
process.exitCode = await runInWorld()

async function runInWorld(): Promise<number> {
  const world = makeTestFolder()
  removeWhenKilled(world)
  try {
    const database = await startEmbeddedPostgres({
      dataDir: join(world, 'data'),
      copyRoot: join(world, 'elsewhere'),
      log: () => {},
      throwAway: { settings },
    })
    try {
      return await runTests(await makeTemplate(database), world)
    } finally {
      await database.stop()
    }
  } finally {
    rmSync(world, { recursive: true, force: true })
  }
}

/** Gives the address of the template as a superuser. All roles get its password, so that this one address is all that tests need. */
async function makeTemplate(database: { adminUrl: string; ownerUrl: string }): Promise<string> {
  await migrate(database.ownerUrl, { log: () => {}, serverRole: embeddedServerRole })
  const client = new pg.Client({ connectionString: database.adminUrl })
  await client.connect()
  const password = client.escapeLiteral(new URL(database.adminUrl).password)
  await client.query(
    `alter role bridgework_owner password ${password}; alter role bridgework_server password ${password}`,
  )
  await client.end()
  return database.adminUrl
}

function runTests(url: string, world: string): Promise<number> {
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
    {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        BRIDGEWORK_TEST_DATABASE_URL: url,
        BRIDGEWORK_TEST_MARIADB: join(world, 'mariadb'),
        TMPDIR: join(world, 'tmp'),
        NODE_COMPILE_CACHE: join(world, 'compile-cache'),
        PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
      },
    },
  )
  tests = child
  return new Promise((resolve) => child.once('close', (code) => resolve(stopSignal ? 130 : (code ?? 1))))
}

/**
 * What node:test starts as a process each: a test file, or a file in this folder that loads one or several. It starts them in the order of
 * their names.
 */
function processesOf(files: readonly string[], folder: string): readonly string[] {
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
  return inOrder.map((loaded, index) => {
    const path = join(folder, `${String(index).padStart(4, '0')}-${basename(loaded[0] ?? '', '.ts')}.mjs`)
    writeFileSync(
      path,
      ['scripts/test-cheap-hooks.ts', ...loaded]
        .map((file) => `import ${JSON.stringify(pathToFileURL(join(root, file)).href)}\n`)
        .join(''),
    )
    return path
  })
}

function asGlob(path: string): string {
  const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()
  return isFolder ? `${path.replace(/\/+$/, '')}/**/*.test.ts` : path
}
