import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { postgresAccount } from '../../platform/database/embedded/account.ts'
import { ownerRole, serverRole } from '../../platform/database/embedded/cluster.ts'
import { killProcess, processesIn } from '../../platform/database/embedded/process-table.ts'
import { run } from '../../platform/database/embedded/run.ts'
import { freePort } from '../../testing/test-port.ts'
import { paste } from './test-newcomer.ts'

export type ArchivePrograms = { postgresBin: string; pgbackrest: string }

const guides = join(import.meta.dirname, '../../../../../docs/guides')

/**
 * PostgreSQL 17 or newer and pgBackRest: where BRIDGEWORK_TEST_POSTGRES_BIN (a folder) and BRIDGEWORK_TEST_PGBACKREST say, else where Debian
 * installs them. Null: one of them is not there.
 */
export function findArchivePrograms(env: NodeJS.ProcessEnv): ArchivePrograms | null {
  const installed = '/usr/lib/postgresql'
  const newest = existsSync(installed) ? Math.max(...readdirSync(installed).map(Number).filter(Number.isInteger)) : 0
  const postgresBin = env.BRIDGEWORK_TEST_POSTGRES_BIN ?? (newest >= 17 ? join(installed, String(newest), 'bin') : '')
  const folders = (env.PATH ?? '').split(delimiter)
  const pgbackrest =
    env.BRIDGEWORK_TEST_PGBACKREST ?? folders.map((folder) => join(folder, 'pgbackrest')).find(existsSync) ?? ''
  return existsSync(join(postgresBin, 'initdb')) && existsSync(pgbackrest) ? { postgresBin, pgbackrest } : null
}

/** What is missing where `findArchivePrograms` found nothing. */
export const archiveProgramsMissing =
  'pgBackRest and PostgreSQL 17 or newer were not found. On Debian 13, run "apt-get install postgresql-17 pgbackrest", ' +
  'or set BRIDGEWORK_TEST_POSTGRES_BIN (the folder with initdb) and BRIDGEWORK_TEST_PGBACKREST (the program), and try again.'

/**
 * A cluster with its archive, made and restored by the commands of the guides as they are written. Only the paths are others, and sudo and
 * systemctl are functions: postgres is the account that Postgres has here, and the unit is pg_ctl.
 */
export async function someArchive(t: TestContext, { postgresBin, pgbackrest }: ArchivePrograms) {
  const account = postgresAccount(null)
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-archive-'))
  chmodSync(folder, 0o711)
  const [data, bin, socket] = ['data', 'bin', 'socket'].map((name) => join(folder, name)) as [string, string, string]
  const port = await freePort()
  for (const path of [data, socket, join(folder, 'log')]) {
    mkdirSync(path, { mode: 0o700 })
    if ('uid' in account) chownSync(path, account.uid, account.gid)
  }
  mkdirSync(bin)
  symlinkSync(pgbackrest, join(bin, 'pgbackrest'))
  for (const name of ['psql', 'pg_dump', 'pg_restore']) symlinkSync(join(postgresBin, name), join(bin, name))
  t.after(() => {
    killAll()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  const options = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
  const made = await run(join(postgresBin, 'initdb'), ['-D', data, ...options], account)
  assert.ok(made.isDone, made.output)
  appendFileSync(join(data, 'postgresql.conf'), blocksOf('Set up', 'ini')[0] ?? '')

  const asPostgres = 'uid' in account ? `setpriv --reuid=${account.uid} --regid=${account.gid} --clear-groups` : 'env'
  const prelude = `
    set -euo pipefail
    export PATH='${bin}':/usr/local/bin:/usr/bin:/bin LC_ALL=C TZ=UTC
    export PGHOST='${socket}' PGPORT=${port} PGUSER=postgres
    export PGBACKREST_CONFIG='${folder}/pgbackrest.conf' PGBACKREST_PG1_SOCKET_PATH='${socket}' PGBACKREST_PG1_PORT=${port}
    export PGBACKREST_PG1_USER=postgres PGBACKREST_LOG_PATH='${folder}/log' PGBACKREST_LOCK_PATH='${folder}/log'
    export PGBACKREST_LOG_LEVEL_CONSOLE=warn PGBACKREST_SPOOL_PATH='${folder}/log'
    cd '${folder}'
    sudo() { [ "$1 $2" = '-u postgres' ]; shift 2; ${asPostgres} "$@"; }
    chown() { [ "$1" = postgres: ]; command chown ${'uid' in account ? `${account.uid}:${account.gid}` : '"$(id -u)"'} "$2"; }
    install() { [ "$*" = "-d -m 700 -o postgres -g postgres $8" ]; mkdir -m 700 "$8"; chown postgres: "$8"; }
    stop() { [ ! -f '${data}/postmaster.pid' ] || sudo -u postgres '${postgresBin}/pg_ctl' -s -D '${data}' -w stop; }
    start() {
      sudo -u postgres '${postgresBin}/pg_ctl' -s -D '${data}' -w -t 120 -l '${folder}/log/postgres.log' \\
        -o "-p ${port} -k '${socket}' -c listen_addresses=127.0.0.1 -c max_connections=100" start || { tail '${folder}/log/postgres.log' >&2; return 1; }
    }
    systemctl() {
      case "$1 \${!#}" in
        'restart postgresql@17-main') stop; start ;;
        'stop postgresql@17-main') stop ;;
        'stop bridgework') ;;
        'start postgresql@17-main') start ;;
        *) return 1 ;;
      esac
    }
  `
  const bash = async (commands: string) => {
    const here = commands
      .replaceAll('/etc/pgbackrest.conf', join(folder, 'pgbackrest.conf'))
      .replaceAll('/srv/pgbackrest', join(folder, 'repository'))
      .replaceAll('/srv/backups', join(folder, 'dumps'))
      .replaceAll('/var/lib/postgresql/17/main', data)
    return (await paste(prelude + here)).stdout
  }
  /** Processes of the cluster, without a moment to end in order. */
  function killAll() {
    while (processesIn(data).length > 0) for (const pid of processesIn(data)) killProcess(pid)
  }
  await bash(`start; psql -qv ON_ERROR_STOP=1 <<'END'\n${databaseStatements()}END`)

  const urlAs = (role: string) => `postgres://${role}@127.0.0.1:${port}/bridgework`

  const admin = new pg.Pool({ connectionString: urlAs('postgres'), max: 2 })
  // The cluster is killed and comes back.
  admin.on('error', () => {})
  t.after(() => admin.end())

  return {
    url: urlAs(ownerRole),
    serverUrl: urlAs(serverRole),
    /** As a superuser. */
    pool: admin,
    /** The commands of a section of the guide: its n-th block. `edit` makes another moment, or another kind, of them. */
    follow: async (section: string, block: number, edit = (commands: string) => commands) => {
      const commands = blocksOf(section, 'sh')[block]
      assert.ok(commands, `The guide has no block ${block} of commands in "${section}"`)
      return await bash(edit(commands))
    },
    /** A backup as the unit of the schedule makes it. */
    backup: async (kind: 'full' | 'incr') => {
      const [, command = ''] = /^ExecStart=\/usr\/bin\/(.+)$/m.exec(blocksOf('Schedule', 'ini')[0] ?? '') ?? []
      return await bash(`sudo -u postgres ${command.replace('%i', kind)}`)
    },
    /** A moment for `--target`, later than everything that was committed. */
    now: async () => (await admin.query<{ now: string }>('select clock_timestamp()::text as now')).rows[0]?.now ?? '',
    /** Returns when everything that was committed before is in the archive. */
    archiveAll: async () => {
      const switched = await admin.query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name')
      const isArchived = 'select from pg_stat_archiver where last_archived_wal >= $1'
      for (let tries = 0; (await admin.query(isArchived, [switched.rows[0]?.name])).rowCount === 0; tries += 1) {
        assert.ok(tries < 600, 'the log is not archived after a minute')
        await sleep(100)
      }
    },
    /** Of the database, which nothing may use when it gets another name. */
    endSessions: async () =>
      void (await bash(
        `psql -qc "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = 'bridgework'"`,
      )),
    /** Ends every process of the cluster at once and removes all that it had. */
    destroy: async () => {
      const pids = processesIn(data)
      killAll()
      // The next server takes over the lock file of the socket only from a process that is gone, reaped included.
      for (let tries = 0; pids.some((pid) => existsSync(`/proc/${pid}`)); tries += 1) {
        assert.ok(tries < 600, 'a killed process is still there after a minute')
        await sleep(100)
      }
      for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true })
    },
    /** Waits as the guide says. */
    recovered: async () => {
      const [command = ''] = blocksOf('Restore', 'sh').filter((each) => each.includes('pg_is_in_recovery'))
      for (let tries = 0; (await bash(command)).trim() !== 'f'; tries += 1) {
        assert.ok(tries < 600, 'it is still in recovery after a minute')
        await sleep(100)
      }
    },
  }
}

/** The blocks of commands or settings below a heading of the guide, in order. */
function blocksOf(section: string, kind: 'sh' | 'ini'): string[] {
  const page = readFileSync(join(guides, 'back-up.md'), 'utf8')
  const [text = ''] = page.split(`\n## ${section}\n`)[1]?.split('\n## ') ?? []
  return [...text.matchAll(new RegExp(`^\`\`\`${kind}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, body = '']) => body)
}

/** The statements of the guide to production that make the roles and the database. */
function databaseStatements(): string {
  const page = readFileSync(join(guides, 'run-in-production.md'), 'utf8')
  return /^```sql\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? ''
}
