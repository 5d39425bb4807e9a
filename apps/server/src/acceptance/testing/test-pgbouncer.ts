import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresAccount } from '../../platform/database/embedded/account.ts'
import { serverRole } from '../../platform/database/embedded/cluster.ts'
import { poolerGuide } from '../../platform/database/testing/test-settings.ts'
import { freePort } from '../../testing/test-port.ts'

/** PgBouncer 1.21 or newer, where BRIDGEWORK_TEST_PGBOUNCER says or the PATH leads to. Null: there is none. */
export function findPgBouncer(env: NodeJS.ProcessEnv): string | null {
  const folders = ['/usr/sbin', ...(env.PATH ?? '').split(delimiter)]
  const program = env.BRIDGEWORK_TEST_PGBOUNCER ?? folders.map((folder) => join(folder, 'pgbouncer')).find(existsSync)
  if (!program || !existsSync(program)) return null
  const [, minor = '0'] = /^PgBouncer 1\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? []
  return Number(minor) >= 21 ? program : null
}

/** What is missing where `findPgBouncer` found nothing. */
export const pgBouncerMissing =
  'PgBouncer 1.21 or newer was not found. On Debian 13, run "apt-get install pgbouncer", or set BRIDGEWORK_TEST_PGBOUNCER to the program, and try again.'

/** PgBouncer with the guide's file: only ports and paths are others. Returns the address of a database through it. */
export async function startPgBouncer(
  t: { after: (work: () => unknown) => void },
  program: string,
  databaseUrl: string,
): Promise<string> {
  const { port, pathname } = new URL(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-pgbouncer-'))
  const account = postgresAccount(null)
  const [config, users] = ['pgbouncer.ini', 'userlist.txt'].map((name) => join(folder, name)) as [string, string]
  const ownPort = await freePort()
  const [, guide = ''] = /^```ini\n(; \/etc\/pgbouncer[\s\S]*?)^```$/m.exec(readFileSync(poolerGuide, 'utf8')) ?? []
  let text = guide
  for (const [theirs, ours] of [
    ['bridgework = host=127.0.0.1 port=5432', `${pathname.slice(1)} = host=127.0.0.1 port=${port}`],
    ['listen_port = 6432', `listen_port = ${ownPort}`],
    ['/etc/pgbouncer/userlist.txt', users],
  ] as const) {
    assert.ok(text.includes(theirs), theirs)
    text = text.replace(theirs, ours)
  }
  writeFileSync(config, text)
  const password = randomUUID()
  writeFileSync(users, `"${serverRole}" "${password}"\n`)
  if ('uid' in account) for (const path of [folder, config, users]) chownSync(path, account.uid, account.gid)
  const child = spawn(program, ['-q', config], { ...account, stdio: ['ignore', 'ignore', 'pipe'], env: {} })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    said += piece
  })
  t.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    }
    rmSync(folder, { recursive: true, force: true })
  })
  for (let tries = 0; !(await listens(ownPort)); tries += 1) {
    assert.ok(tries < 100 && child.exitCode === null, `PgBouncer listens: ${said}`)
    await sleep(50)
  }
  return Object.assign(new URL(databaseUrl), { port: String(ownPort), password }).href
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
