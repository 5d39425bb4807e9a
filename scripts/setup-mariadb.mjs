// The Open Dental tests run against a real MariaDB, from its programs alone: no service is started.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { underSetupLock } from './setup-lock.mjs'

/** Each by its name, or by the older one. */
const programs = [
  ['mariadbd', 'mysqld'],
  ['mariadb-install-db', 'mysql_install_db'],
  ['mariadb', 'mysql'],
]
const packages = ['mariadb-server-core', 'mariadb-client-core']

/** Finds MariaDB's programs, or installs them on Debian and Ubuntu as root, or throws `fail` with the command that a person must run. */
export async function requireMariadb(root, fail, machine = thisMachine()) {
  const missing = () => missingIn(machine.folders)
  if (missing().length === 0) return
  if (!machine.isDebian || !machine.isRoot) {
    throw fail(`the tests need MariaDB's programs, and ${missing().join(', ')} cannot be found: ${advice(machine)}`)
  }
  await underSetupLock(root, () => {
    if (missing().length === 0) return
    console.error(
      `Installing MariaDB's programs for the tests (apt-get install ${packages.join(' ')}); no service is started.`,
    )
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
      const run = spawnSync('apt-get', ['-q', ...args], { env, stdio: ['ignore', 2, 2] })
      if (run.status !== 0)
        throw fail(`apt-get ${args[0]} did not succeed; its message is above; by hand: ${advice(machine)}`)
    }
  })
  if (missing().length > 0) throw fail(`${missing().join(', ')} cannot be found, though the packages are installed.`)
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
  }
}

function missingIn(folders) {
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

function advice({ isDebian, isRoot, platform }) {
  if (isDebian) {
    const sudo = isRoot ? '' : 'sudo '
    return `run "${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends ${packages.join(' ')}".`
  }
  if (platform === 'darwin') return 'run "brew install mariadb".'
  return 'install MariaDB (on Fedora: "sudo dnf install mariadb-server"), and run the same command again.'
}
