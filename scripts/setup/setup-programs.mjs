// What the tests run against and npm cannot install: MariaDB for Open Dental's databases (its programs alone, no service is started),
// Chromium for the portal's pages, what makes the agent's installer for Windows, what runs the commands and samples of the guides, and what runs the clients in other languages.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { underSetupLock } from './setup-lock.mjs'

// Each program and each package by its name, or by one of the others.
export const mariadb = {
  what: "MariaDB's programs",
  programs: [
    ['mariadbd', 'mysqld'],
    ['mariadb-install-db', 'mysql_install_db'],
    ['mariadb', 'mysql'],
  ],
  packages: [['mariadb-server-core'], ['mariadb-client-core']],
  onMac: 'run "brew install mariadb".',
  elsewhere: 'install MariaDB (on Fedora: "sudo dnf install mariadb-server"), and run the same command again.',
}
export const chromium = {
  what: 'a Chromium',
  // The first is the same engine without what only a person at a screen needs: it costs half the time. Ubuntu has no package of it.
  programs: [['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']],
  packages: [['chromium-headless-shell', 'chromium']],
  onMac: 'run "brew install --cask chromium".',
  elsewhere: 'install Chromium (on Fedora: "sudo dnf install chromium"), and run the same command again.',
}

export const msitools = {
  what: 'the programs that make Windows installers',
  programs: [['wixl'], ['msibuild'], ['msiinfo']],
  packages: [['wixl'], ['msitools']],
  onMac: 'run "brew install msitools".',
  elsewhere: 'install msitools with wixl (on Fedora: "sudo dnf install msitools"), and run the same command again.',
}

/** Its tests say that they are skipped where it is missing. */
export const odbc = {
  what: 'unixODBC with drivers',
  programs: [['isql'], ['cc', 'gcc']],
  packages: [
    ['unixodbc'],
    ['unixodbc-dev'],
    ['odbc-postgresql'],
    ['odbc-mariadb'],
    ['libsqliteodbc'],
    ['gcc'],
    ['libc6-dev'],
  ],
  onMac: 'run "brew install unixodbc".',
  elsewhere: 'install unixODBC with its headers and its drivers.',
}

export const samplePrograms = {
  what: 'curl, bash and Python',
  programs: [['curl'], ['bash'], ['python3']],
  packages: [['curl'], ['bash'], ['python3']],
  onMac: 'run "brew install curl bash python".',
  elsewhere: 'install curl, bash and Python 3, and run the same command again.',
}

export const languages = {
  what: 'PHP, Ruby, and Python with psycopg, setuptools, wheel and mypy',
  programs: [['php'], ['ruby']],
  modules: ['psycopg', 'setuptools', 'wheel', 'mypy'],
  packages: [
    ['php-cli'],
    ['ruby'],
    ['python3'],
    ['python3-psycopg'],
    ['python3-setuptools'],
    ['python3-wheel'],
    ['mypy'],
  ],
  onMac: 'run "brew install php ruby python && python3 -m pip install psycopg[binary] setuptools wheel mypy".',
  elsewhere:
    'install PHP and Ruby, run "python3 -m pip install psycopg[binary] setuptools wheel mypy", and run the same command again.',
}

/** Debian's own Python has what Debian's packages bring; another may come first in the path. */
const pythons = ['/usr/bin/python3', 'python3']

/** Finds the programs, or installs their packages on Debian and Ubuntu as root, or throws `fail` with the command that a person must run. */
export async function requirePrograms(wanted, root, fail, machine = thisMachine()) {
  const missing = () => [
    ...missingIn(machine.folders, wanted.programs),
    ...(machine.hasModules?.(wanted.modules ?? []) === false ? [`Python with ${wanted.modules.join(', ')}`] : []),
  ]
  const names = () => missing().join(', ')
  if (missing().length === 0) return
  if (!machine.isDebian || !machine.isRoot) {
    throw fail(`the tests need ${wanted.what}, but ${names()} was not found. To install it, ${advice(wanted, machine)}`)
  }
  await underSetupLock(root, () => {
    if (missing().length === 0) return
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const aptGet = (...args) => {
      const run = spawnSync('apt-get', ['-q', ...args], { env, stdio: ['ignore', 2, 2] })
      if (run.status !== 0)
        throw fail(
          `apt-get ${args[0]} failed; its message is above. To install it yourself, ${advice(wanted, machine)}`,
        )
    }
    console.error(`Installing ${wanted.what} for the tests.`)
    aptGet('update')
    aptGet('install', '-y', '--no-install-recommends', ...packagesOf(wanted, machine))
  })
  if (missing().length > 0) throw fail(`${names()} was not found, but its packages are installed. Check PATH.`)
}

/** As `requirePrograms`, for what some tests can do without: says so once, and goes on. */
export async function suggestPrograms(wanted, root) {
  try {
    await requirePrograms(wanted, root, (message) => new Error(message))
  } catch (error) {
    console.error(`Some tests will be skipped: ${error.message}`)
  }
}

function thisMachine() {
  return {
    folders: [
      ...(process.env.PATH ?? '').split(delimiter),
      '/usr/sbin',
      '/usr/local/sbin',
      '/usr/libexec',
      '/opt/homebrew/bin',
    ],
    platform: process.platform,
    isDebian: existsSync('/etc/debian_version'),
    isRoot: process.getuid?.() === 0,
    hasModules: (names) =>
      names.length === 0 ||
      pythons.some(
        (python) => spawnSync(python, ['-W', 'ignore', '-c', `import ${names}`], { stdio: 'ignore' }).status === 0,
      ),
    hasPackage: (name) => spawnSync('apt-cache', ['show', name], { stdio: 'ignore' }).status === 0,
  }
}

function missingIn(folders, programs) {
  const isThere = (name) => folders.some((folder) => folder !== '' && isProgram(join(folder, name)))
  return programs.filter((names) => !names.some(isThere)).map(([name]) => name)
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Of each package the first name that the machine's lists have; before they were ever fetched, the last, which is the commonest. */
function packagesOf({ packages }, { hasPackage }) {
  return packages.map((names) => names.find(hasPackage) ?? names.at(-1))
}

function advice(wanted, machine) {
  const { isDebian, isRoot, platform } = machine
  const { onMac, elsewhere } = wanted
  if (isDebian) {
    const sudo = isRoot ? '' : 'sudo '
    return `run "${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends ${packagesOf(wanted, machine).join(' ')}".`
  }
  return platform === 'darwin' ? onMac : elsewhere
}
