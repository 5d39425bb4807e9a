import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@bridgework/server/src/testing/test-port.ts'
import { cpuClock } from '../cpu-time.ts'
import { runSql, type World } from '../world/practice.ts'
import { peerFile, startChild } from './child.ts'
import type { Peer } from './peer.ts'

/**
 * PostGraphile over a schema of its own: the tables with their foreign keys, and a function for a page or a delta, as its documentation advises
 * for what a condition cannot say. Null where it is not installed.
 */
export async function startPostgraphile(world: World): Promise<Peer | null> {
  const program = peerFile('postgraphile/dist/cli-run.js')
  const base = peerFile('postgraphile')
  if (program === null || base === null) return null
  await runSql(world.ownerUrl, schema)
  const port = await freePort()
  // Inside the installed packages, so that the preset finds them.
  const folder = mkdtempSync(join(base, '../.bridgework-'))
  const config = join(folder, 'graphile.config.mjs')
  const preset = { server: world.ownerUrl, port }
  writeFileSync(config, presetText(preset))
  const url = `http://127.0.0.1:${port}/graphql`
  const ready = `${url}?query=${encodeURIComponent('{__typename}')}`
  const child = await startChild(process.execPath, [program, '-C', config], {
    readyUrl: ready,
    env: { NODE_ENV: 'production', GRAPHILE_ENV: 'production' },
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true })
    throw error
  })
  return {
    who: 'PostGraphile',
    request: (locationId, { items, after = '0', since = '1970-01-01T00:00:00Z' }) => ({
      url: `${url}?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(
        JSON.stringify({ locationId, items, after, since }),
      )}`,
      headers: { accept: 'application/json' },
    }),
    countOf: (body) => (body as { data: { plans: unknown[] } }).data.plans.length,
    cpu: cpuClock(() => [child.pid], world.server),
    async stop() {
      await child.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const query = `query ($locationId: BigInt!, $items: Int!, $after: BigInt!, $since: Datetime!) {
  plans: plansAfterList(ofLocation: $locationId, afterId: $after, since: $since, first: $items) {
    id sourceId planName groupNumber employerName planType renewalMonth isHidden updatedAt
    carrier { name payerId }
    feeSchedule { id name isHidden }
  }
}`.replace(/\s+/g, ' ')

function presetText({ server, port }: { server: string; port: number }): string {
  return `import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'
import { makePgService } from 'postgraphile/adaptors/pg'
export default {
  extends: [PostGraphileAmberPreset],
  gather: { pgStrictFunctions: true },
  schema: { defaultBehavior: '+query:resource:list +list' },
  pgServices: [makePgService({ connectionString: ${JSON.stringify(server)}, schemas: ['graphile'] })],
  grafserv: { port: ${port}, host: '127.0.0.1', graphqlOverGET: true, graphiql: false, watch: false },
  grafast: { explain: false },
}
`
}

/** The tables of the baseline under a name of their own, with keys that PostGraphile makes relations of. */
const schema = `
  drop schema if exists graphile cascade;
  create schema graphile;
  create table graphile.carrier (like baseline.carrier including all);
  insert into graphile.carrier select * from baseline.carrier;
  create table graphile.fee_schedule (like baseline.fee_schedule including all);
  insert into graphile.fee_schedule select * from baseline.fee_schedule;
  create table graphile.insurance_plan (like baseline.insurance_plan including all);
  insert into graphile.insurance_plan select * from baseline.insurance_plan;
  alter table graphile.insurance_plan
    add constraint carrier foreign key (location_id, carrier_id) references graphile.carrier (location_id, id),
    add constraint fee_schedule foreign key (location_id, fee_schedule_id) references graphile.fee_schedule (location_id, id);
  comment on constraint carrier on graphile.insurance_plan is '@fieldName carrier';
  comment on constraint fee_schedule on graphile.insurance_plan is '@fieldName feeSchedule';
  create function graphile.plans_after(of_location bigint, after_id bigint, since timestamptz)
    returns setof graphile.insurance_plan language sql stable as $$
      select * from graphile.insurance_plan p
       where p.location_id = of_location and p.id > after_id and p.updated_at > since - interval '5 minutes'
       order by p.id
    $$;
  comment on function graphile.plans_after is '@simpleCollections only';
  analyze graphile.carrier, graphile.fee_schedule, graphile.insurance_plan;
`
