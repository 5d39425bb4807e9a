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
export async function requireMariadb(root, fail) {
  if (missing().length === 0) return
  const isDebian = existsSync('/etc/debian_version')
  if (!isDebian || process.getuid?.() !== 0) throw fail(`${list(missing())} needed by the tests ${verb()} not found: ${advice(isDebian)}`)
  await underSetupLock(root, () => {
    if (missing().length === 0) return
    console.error(`Installing MariaDB's programs for the tests (apt-get install ${packages.join(' ')}); no service is started.`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
      const run = spawnSync('apt-get', ['-q', ...args], { env, stdio: ['ignore', 2, 2] })
      if (run.status !== 0) throw fail(`apt-get ${args[0]} did not succeed; its message is above. ${advice(true)}`)
    }
  })
  if (missing().length > 0) throw fail(`${list(missing())} ${verb()} still not found after the installation.`)
}

function missing() {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/usr/libexec', '/opt/homebrew/bin']
  return programs
    .filter((names) => !names.some((name) => folders.some((folder) => folder !== '' && isProgram(join(folder, name)))))
    .map(([name]) => name)
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function list(names) {
  return names.join(' and ')
}

function verb() {
  return missing().length === 1 ? 'was' : 'were'
}

function advice(isDebian) {
  if (isDebian) {
    return `run "sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages.join(' ')}".`
  }
  if (process.platform === 'darwin') return 'run "brew install mariadb".'
  return 'install MariaDB’s server programs (on Fedora: "sudo dnf install mariadb-server"), and run the same command again.'
}
