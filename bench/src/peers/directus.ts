import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { freePort } from '@bridgework/server/src/testing/test-port.ts'
import { cpuClock } from '../cpu-time.ts'
import { runSql, type World } from '../world/practice.ts'
import { peerFile, startChild } from './child.ts'
import type { Peer } from './peer.ts'

/** Directus over a schema of its own, with a static token and its caches off, as the other servers read each time. Null where it is not installed. */
export async function startDirectus(world: World): Promise<Peer | null> {
  const program = peerFile('directus/cli.js')
  if (program === null) return null
  await runSql(world.ownerUrl, schema)
  const port = await freePort()
  const token = randomBytes(16).toString('hex')
  const env = {
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: world.ownerUrl,
    DB_SEARCH_PATH: 'array:directus',
    DB_POOL__MAX: '20',
    SECRET: randomBytes(32).toString('hex'),
    ADMIN_EMAIL: 'bench@example.com',
    ADMIN_PASSWORD: randomBytes(16).toString('hex'),
    ADMIN_TOKEN: token,
    PROJECT_OWNER: 'bench@example.com',
    QUERY_LIMIT_MAX: '-1',
    PRESSURE_LIMITER_ENABLED: 'false',
    RATE_LIMITER_ENABLED: 'false',
    CACHE_ENABLED: 'false',
    TELEMETRY: 'false',
    LOG_LEVEL: 'error',
    NODE_ENV: 'production',
  }
  const cwd = peerFile('..') ?? '.'
  await promisify(execFile)(process.execPath, [...before, program, 'bootstrap'], {
    env: { ...process.env, ...env },
    cwd,
    timeout: 180_000,
  })
  const url = `http://127.0.0.1:${port}`
  const child = await startChild(process.execPath, [...before, program, 'start'], {
    env,
    cwd,
    readyUrl: `${url}/server/ping`,
  })
  return {
    who: 'Directus',
    request: (locationId, { items, after, since }) => {
      const parts = [`limit=${items}`, 'sort=id', 'fields=*,carrier_id.*,fee_schedule_id.*']
      parts.push(`filter[location_id][_eq]=${locationId}`)
      if (after !== undefined) parts.push(`filter[id][_gt]=${after}`)
      if (since !== undefined) {
        // The overlap that the other servers add in their statements. A Date has no microseconds: from the next millisecond on.
        const from = new Date(Date.parse(since) - 300_000 + 1).toISOString()
        parts.push(`filter[updated_at][_gt]=${encodeURIComponent(from)}`)
      }
      return { url: `${url}/items/insurance_plan?${parts.join('&')}`, headers: { authorization: `Bearer ${token}` } }
    },
    countOf: (body) => (body as { data: unknown[] }).data.length,
    cpu: cpuClock(() => [child.pid], world.server),
    stop: child.stop,
  }
}

const before = ['--import', new URL('./without-isolated-vm.ts', import.meta.url).href]

/** The tables of the baseline with keys of one column, which is what Directus wants, and the indexes for a page and a delta. */
const schema = `
  drop schema if exists directus cascade;
  create schema directus;
  create table directus.carrier as
    select row_number() over (order by location_id, id) as id, location_id, id as number, name, payer_id from baseline.carrier;
  alter table directus.carrier add primary key (id);
  create table directus.fee_schedule as select id, location_id, source_id, name, is_hidden from baseline.fee_schedule;
  alter table directus.fee_schedule add primary key (id);
  create table directus.insurance_plan as
    select p.id, p.location_id, p.source_id, p.plan_name, p.group_number, c.id as carrier_id, p.fee_schedule_id, p.employer_name,
           p.plan_type, p.renewal_month, p.is_hidden, p.updated_at
      from baseline.insurance_plan p
      left join directus.carrier c on c.location_id = p.location_id and c.number = p.carrier_id
     order by p.location_id, p.id;
  alter table directus.insurance_plan add primary key (id),
    add foreign key (carrier_id) references directus.carrier (id),
    add foreign key (fee_schedule_id) references directus.fee_schedule (id);
  create index on directus.insurance_plan (location_id, id);
  create index on directus.insurance_plan (location_id, updated_at, id);
  analyze directus.carrier, directus.fee_schedule, directus.insurance_plan;
`
