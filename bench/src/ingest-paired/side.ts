import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { cpuClock, residentMb } from '../cpu-time.ts'
import type * as Practice from '../world/practice.ts'
import type * as Server from '../world/throw-away-server.ts'
import { packLines, sendUpload } from '../world/upload.ts'
import { type Batch, withChanges } from './batches.ts'

/** In this order: nothing is stored yet; everything is stored; one record in a hundred has changed. */
export const phases = ['new', 'unchanged', '1% changed'] as const
export type Phase = (typeof phases)[number]

/** A checkout's server on a throw-away database. */
export type Side = Awaited<ReturnType<typeof openSide>>

/** Starts the server of a checkout, with its own code. `packing`: whether segments may be packed while records arrive. */
export async function openSide(folder: string, options: { locations: number; packing: boolean }) {
  // Each checkout makes its practice with its own modules; both export the same functions.
  const load = (path: string) => import(pathToFileURL(join(folder, 'bench/src/world', path)).href)
  const { createWorld }: typeof Practice = await load('practice.ts')
  const { createThrowAwayServer }: typeof Server = await load('throw-away-server.ts')
  const server = await createThrowAwayServer()
  await server.start()
  const world = await createWorld(server, { locations: options.locations })
  const admin = new pg.Client({ connectionString: world.adminUrl })
  await admin.connect()
  await admin.query(`update location set time_zone = 'America/Phoenix'`)
  // Its workers come by the clock: a side that other programs slow down would pay for more of them.
  await admin.query('alter system set autovacuum = off')
  await admin.query('select pg_reload_conf()')
  const packer = await holdPacker(world.adminUrl, options.packing)
  let number = 0

  const upload = async (round: number, { dataset, body }: { dataset: string; body: Buffer<ArrayBuffer> }) => {
    number += 1
    const locationId = world.locationIds[round] ?? ''
    const answer = await sendUpload(world, { locationId, dataset, number, body })
    if (answer.status !== 200) throw new Error(`${folder}: the upload was refused: ${answer.status} ${answer.text}`)
    return JSON.parse(answer.text) as Record<string, number>
  }
  const clocks = { server: cpuClock(() => [server.pid()], null), postgres: cpuClock(() => [], server) }
  const used = () => ({ server: clocks.server() ?? 0, postgres: clocks.postgres() ?? 0 })
  const sizes = async () => {
    const { rows } = await admin.query<{ stored: string; wal: string }>(
      `select (select sum(pg_total_relation_size(oid)) from pg_class
                where relname in ('record', 'record_reference', 'record_count', 'upload')) as stored,
              pg_current_wal_lsn() - '0/0' as wal`,
    )
    return { stored: Number(rows[0]?.stored), wal: Number(rows[0]?.wal) }
  }

  return {
    folder,
    /** Sends what the measured records refer to. */
    async prepare(round: number, batches: readonly Batch[]): Promise<void> {
      for (const { dataset, lines } of batches) await upload(round, { dataset, body: packLines(lines) })
      await admin.query('vacuum analyze')
    },
    /** Sends the uploads one after the other, and tells what that took. */
    async send(round: number, phase: Phase, batches: readonly Batch[]) {
      const sent = phase === '1% changed' ? batches.map(withChanges) : batches
      const bodies = sent.map(({ dataset, lines }) => ({ dataset, body: packLines(lines) }))
      await admin.query('checkpoint')
      const before = await sizes()
      const spent = { records: 0, ms: 0, server: 0, postgres: 0 }
      for (const body of bodies) {
        const [begun, at] = [used(), performance.now()]
        const { inserted = 0, changed = 0, unchanged = 0 } = await upload(round, body)
        spent.ms += performance.now() - at
        const [ended, records] = [used(), inserted + changed + unchanged]
        const isExpected = { new: inserted === records, unchanged: unchanged === records, '1% changed': changed > 0 }
        if (!isExpected[phase]) throw new Error(`${folder}: ${phase} was not that`)
        spent.records += records
        spent.server += ended.server - begun.server
        spent.postgres += ended.postgres - begun.postgres
        if (phase === 'new') await admin.query('analyze record, record_reference')
      }
      const { records } = spent
      const after = await sizes()
      return {
        recordsPerSecond: records / (spent.ms / 1000),
        serverSeconds: spent.server / 1000 / (records / 100_000),
        postgresSeconds: spent.postgres / 1000 / (records / 100_000),
        storedBytes: (after.stored - before.stored) / records,
        walBytes: (after.wal - before.wal) / records,
      }
    },
    /** Lets what waits be packed and measures that. */
    async finish() {
      const megabytes = residentMb(server.pid())
      const left = async () => {
        if (!packer) return 0
        const { rows } = await admin.query<{ left: string }>(
          `select coalesce(sum(s.total - coalesce(g.records, 0)), 0) as left
             from dataset_state s
             left join segment_state g using (location_id, dataset)
            where s.dataset <> 'fee_schedules' and s.total - coalesce(g.records, 0) >= 250`,
        )
        return Number(rows[0]?.left)
      }
      const [records, begun, before] = [await left(), performance.now(), used()]
      await packer?.release()
      while ((await left()) > 0) await sleep(50)
      const [seconds, after] = [(performance.now() - begun) / 1000, used()]
      const cpuMs = after.server - before.server + after.postgres - before.postgres
      const { rows } = packer
        ? await admin.query<{ bytes: string }>(
            `select pg_total_relation_size('segment') / greatest(sum(records), 1) as bytes from segment`,
          )
        : { rows: [] }
      return {
        megabytes,
        packedPerSecond: records === 0 ? null : records / seconds,
        packingSeconds: records === 0 ? 0 : cpuMs / 1000 / (records / 100_000),
        segmentBytes: Number(rows[0]?.bytes ?? 0),
      }
    },
    async remove(): Promise<void> {
      await packer?.release()
      await admin.end().catch(() => {})
      await server.remove()
    },
  }
}

/** Locks the state of all segments, which lets the packer wait as while another process packs; null where a release has none. */
async function holdPacker(adminUrl: string, packing: boolean): Promise<{ release: () => Promise<void> } | null> {
  const client = new pg.Client({ connectionString: adminUrl })
  client.on('error', () => {})
  await client.connect()
  const { rowCount } = await client.query(`select from pg_class where relname = 'segment_state'`)
  let isHeld = rowCount !== 0
  if (isHeld && !packing) {
    await client.query(
      `insert into segment_state (location_id, dataset) select location_id, dataset from dataset_state on conflict do nothing`,
    )
    await client.query('begin')
    await client.query('select from segment_state for update')
  }
  const release = async () => {
    if (!isHeld) return
    isHeld = false
    if (!packing) await client.query('rollback').catch(() => {})
    await client.end().catch(() => {})
  }
  if (rowCount !== 0) return { release }
  await client.end()
  return null
}
