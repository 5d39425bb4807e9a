import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { DatabaseStartError } from '../start-error.ts'

/** Who Postgres runs as; empty: the user of this process. Given to spawn, which also drops every supplementary group. */
export type Account = { uid: number; gid: number } | Record<string, never>

export const accountName = 'bridgework'

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * Postgres refuses to run as root. An existing cluster runs as its owner; a new one of root as the system account `bridgework`, which is
 * made when it is missing. `cluster` is the data directory of an existing cluster, or null.
 */
export function postgresAccount(cluster: string | null): Account {
  if (!isRoot()) return {}
  if (cluster !== null) {
    const { uid, gid } = statSync(cluster)
    if (uid !== 0) return { uid, gid }
    throw new DatabaseStartError(
      `${cluster} belongs to root, but Postgres never runs as root. Change its owner to the account that Postgres should run as.`,
    )
  }
  const found = findAccount()
  if (found) return found
  const made = spawnSync(
    'useradd',
    [
      '--system',
      '--user-group',
      '--no-create-home',
      '--home-dir',
      '/nonexistent',
      '--shell',
      '/usr/sbin/nologin',
      accountName,
    ],
    // The folders of programs for root are not in the PATH of every root: a plain `su` keeps its user's, and a program that is started with few settings has none.
    { encoding: 'utf8', cwd: '/', env: { PATH: '/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin' } },
  )
  // Looked up also when useradd failed: another process may have made it meanwhile.
  const account = findAccount()
  if (account) return account
  const reason = made.error ? 'useradd cannot be run' : made.stderr.trim().split('\n').at(-1)
  throw new DatabaseStartError(
    `Postgres cannot run as root, and the system account "${accountName}" cannot be created (${reason}). Create it, or start Bridgework as an ordinary user.`,
  )
}

/** Whether the account may enter the folder. Tried by entering it. */
export function canEnter(directory: string, account: Account): boolean {
  const run = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], {
    ...account,
    cwd: '/',
    stdio: 'ignore',
    env: {},
  })
  return run.status === 0
}

function findAccount(): { uid: number; gid: number } | null {
  const [uid, gid] = ['-u', '-g'].map((flag) => {
    const run = spawnSync('id', [flag, accountName], { encoding: 'utf8', cwd: '/' })
    return run.status === 0 ? Number(run.stdout) : Number.NaN
  })
  return Number.isInteger(uid) && Number.isInteger(gid) && uid !== 0 ? { uid: uid as number, gid: gid as number } : null
}
