import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '@bridgework/practice-simulator'
import { startFeeder } from '@bridgework/server/src/sandbox/feeder-process.ts'
import pg from 'pg'
import type { World } from '../../world/practice.ts'
import { inWorld } from '../in-world.ts'
import type { RunOptions } from '../row.ts'
import { startMirror } from './restored-mirror.ts'
import { startOwnProgram } from './restored-program.ts'

/** Puts the service back to a moment, as an operator does. The server does not run, neither before nor after. `online`: made while it ran. */
type Backup = { kind: 'online' | 'crashed'; path: string; restore: () => Promise<void> }

type Random = ReturnType<typeof createRandom>

/** So many of the last backups may be restored, and the first one, from before any record. */
const backupsKept = 4

/**
 * F32: a simulated practice, whose agent sends what changes, two mirrors of the client, one of which is killed, and the program of the guide. In each run
 * the service is backed up and killed at random moments and put back to a random backup. When the agent has compared everything, every copy must be
 * equal to the service, record by record.
 */
export async function restoreAnytime({ runs, seed }: RunOptions): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-restores-'))
  const random = createRandom(seed)
  try {
    return await inWorld({ locations: 0 }, async (world) => {
      const { server } = world
      const backups: Backup[] = [await backUp(world, 'online', join(folder, 'first'))]
      const office = startOffice(world, join(folder, 'office'), random)
      const copies = [
        startMirror(world, join(folder, 'mirror.sqlite')),
        startMirror(world, join(folder, 'killed.sqlite'), createRandom(`${seed} kills`)),
        startOwnProgram(world, createRandom(`${seed} program`)),
      ]
      const restored = { online: 0, crashed: 0 }
      let records = 0
      try {
        await office.hasComparedAll()
        for (let run = 0; run < runs; run += 1) {
          await sleep(random.next() * 2_000)
          const kind = random.pick(['online', 'crashed'] as const)
          backups.push(await backUp(world, kind, join(folder, `backup-${run}`)))
          const [dropped] = backups.length > backupsKept ? backups.splice(1, 1) : []
          if (dropped) rmSync(dropped.path, { recursive: true })
          await sleep(random.next() * 4_000)
          await server.killAll()
          const backup = random.pick(backups)
          await backup.restore()
          restored[backup.kind] += 1
          await server.start()
          // It has waited longer and longer for the service, so it begins anew instead.
          await office.rest()
          const hasCompared = office.hasComparedAll()
          office.goOn()
          await hasCompared
          await office.rest()
          for (const copy of copies) records += await copy.compare()
          office.goOn()
        }
      } finally {
        await office.rest()
        for (const copy of copies) await copy.stop()
      }
      const said = copies.map((copy) => copy.said()).join('; ')
      return `${runs} restores (${restored.online} of backups of the running database, ${restored.crashed} of what a kill leaves), ${records} records compared and none different; ${said}`
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A backup of the files of the database: of the running service, or as a kill leaves them. */
async function backUp({ server, adminUrl }: World, kind: Backup['kind'], path: string): Promise<Backup> {
  const home = server.home()
  if (kind === 'online') await copyOnline(adminUrl, home, path)
  else {
    await server.killAll()
    execFileSync('cp', ['-a', home, path])
    await server.start()
  }
  return {
    kind,
    path,
    async restore() {
      server.wipe()
      execFileSync('cp', ['-a', path, home])
      await server.operate('database', 'restored')
    },
  }
}

/**
 * A base backup while the service writes, as pgBackRest makes it: PostgreSQL's manual, "Making a Base Backup Using the Low Level API"
 * (https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP). The log is copied last, in the place of an archive.
 */
async function copyOnline(adminUrl: string, home: string, path: string): Promise<void> {
  const [data, copied] = [home, path].map((each) => join(each, 'data')) as [string, string]
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('F32', fast => true)`)
    copyChanging(home, path)
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    rmSync(join(copied, 'pg_wal'), { recursive: true })
    copyChanging(join(data, 'pg_wal'), join(copied, 'pg_wal'))
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(copied, name))
    const label = join(copied, 'backup_label')
    writeFileSync(label, rows[0]?.labelfile ?? '', { mode: 0o600 })
    const { uid, gid } = statSync(copied)
    chownSync(label, uid, gid)
  } finally {
    await client.end()
  }
}

/** Copies a folder whose files come and go. */
function copyChanging(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  const failures = stderr.split('\n').filter((line) => line !== '' && !line.includes('No such file or directory'))
  assert.ok(status === 0 || failures.length === 0, stderr)
}

/** The practice, with its agent. Its memory outlives every restore. */
function startOffice(world: World, stateDir: string, random: Random) {
  const settings = {
    BRIDGEWORK_FEEDER_SEED: String(random.whole(1, 1_000_000)),
    BRIDGEWORK_FEEDER_INTERVAL_MS: '50',
  }
  let texts: string[] = []
  let heard = Promise.withResolvers<void>()
  const begin = () =>
    startFeeder({
      demo: { ...world.agent, organizationId: world.organizationId },
      serverUrl: world.server.url,
      stateDir,
      settings,
      log: (event) => {
        if (event.event !== 'sandbox.feeder') return
        texts.push(event.text)
        heard.resolve()
      },
    })
  let feeder = begin()
  return {
    /** Resolves when the agent has ended a cycle, the first since it began, in which the service got all that it lacked. Call it before it begins. */
    async hasComparedAll() {
      const endsAt = performance.now() + 300_000
      texts = []
      while (!texts.some((text) => text.startsWith('{"event":"synced"'))) {
        assert.ok(performance.now() < endsAt, `the agent ended no cycle: ${texts.slice(-5).join(' ')}`)
        heard = Promise.withResolvers()
        await Promise.race([heard.promise, sleep(1_000)])
      }
    },
    rest: () => feeder.stop(),
    goOn() {
      feeder = begin()
    },
  }
}
