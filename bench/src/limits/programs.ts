import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { LoadResult } from '../client/load.ts'
import { type CpuClock, cpuClock } from '../cpu-time.ts'
import type { Readable } from '../fixture/reading.ts'
import type { Contender } from '../measure.ts'
import { runSql } from '../world/practice.ts'

const execute = promisify(execFile)

/** `COPY` of one page's documents to psql, over one connection: how fast Postgres gives the bytes away. Null where psql is not installed. */
export async function copyByPsql({ world, locationId }: Readable, items: number): Promise<Contender | null> {
  if (!(await isInstalled('psql'))) return null
  const page =
    `copy (select document from record where location_id = ${BigInt(locationId)} and dataset = 'insurance_plans'
                 order by id limit ${items}) to stdout`.replace(/\s+/g, ' ')
  const run = async (times: number) => {
    const begunAt = performance.now()
    await inFolder(async (folder) => {
      const file = join(folder, 'copy.sql')
      writeFileSync(file, `${page};\n`.repeat(times))
      await execute('psql', ['-X', '-q', '-d', world.ownerUrl, '-o', '/dev/null', '-f', file])
    })
    return (performance.now() - begunAt) / 1000
  }
  const [size] = await runSql<{ bytes: string }>(
    world.ownerUrl,
    `select sum(octet_length(document)) as bytes from (select document from record
      where location_id = $1 and dataset = 'insurance_plans' order by id limit $2) page`,
    [locationId, items],
  )
  let perSecond = 20
  return {
    who: 'limit: COPY by psql',
    cpu: postgresClock(world.server),
    async run(seconds): Promise<LoadResult> {
      const requests = Math.max(5, Math.round(perSecond * seconds))
      const elapsed = await run(requests)
      perSecond = requests / elapsed
      return { requests, requestsPerSecond: perSecond, bytes: requests * Number(size?.bytes ?? 0) }
    },
  }
}

/** The hand-written route's statement by pgbench: how fast Postgres answers it. Null where pgbench is not installed. */
export async function pgbench(
  { world, locationId }: Readable,
  query: { items: number; since?: string },
  connections: number,
): Promise<Contender | null> {
  if (!(await isInstalled('pgbench'))) return null
  const variables = { location: locationId, items: String(query.items + 1), since: query.since ?? '1970-01-01' }
  const definitions = Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`])
  return {
    who: 'limit: pgbench, the same query',
    cpu: postgresClock(world.server),
    run: (seconds) =>
      inFolder(async (folder) => {
        const file = join(folder, 'delta.sql')
        writeFileSync(file, deltaScript)
        const { stdout } = await execute('pgbench', [
          ...['-n', '-M', 'prepared', '-c', String(connections), '-j', '1', '-T', String(seconds), '-f', file],
          ...definitions,
          world.ownerUrl,
        ])
        const requests = /transactions actually processed: (\d+)/.exec(stdout)?.[1]
        if (requests === undefined) throw new Error(`pgbench said: ${stdout}`)
        // It says none when nothing came to its end.
        const perSecond = /tps = ([\d.]+)/.exec(stdout)?.[1] ?? 0
        return { requests: Number(requests), requestsPerSecond: Number(perSecond), bytes: 0 }
      }),
  }
}

const deltaScript =
  `select p.id, p.source_id, p.plan_name, p.group_number, c.name, c.payer_id, p.employer_name, p.plan_type, p.renewal_month,
       p.is_hidden, p.updated_at, f.id, f.name, f.is_hidden
  from baseline.insurance_plan p
  left join baseline.carrier c on c.location_id = p.location_id and c.id = p.carrier_id
  left join baseline.fee_schedule f on f.location_id = p.location_id and f.id = p.fee_schedule_id
 where p.location_id = :location and p.id > 0 and p.updated_at > :since::timestamptz - interval '5 minutes'
 order by p.id limit :items;
`.replace(/\n(?=.)/g, ' ')

function postgresClock(server: Readable['world']['server']): CpuClock {
  return cpuClock(() => [], server)
}

/** Whether a program is on this machine. */
export async function isInstalled(program: string): Promise<boolean> {
  try {
    await execute(program, [program === 'nginx' ? '-v' : '--version'])
    return true
  } catch {
    return false
  }
}

/** A folder that is gone afterwards. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-bench-limit-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
