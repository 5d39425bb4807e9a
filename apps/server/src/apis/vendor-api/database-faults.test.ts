import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { superuserUrl } from '../../platform/database/testing/test-database.ts'
import { spoilSettings } from '../../platform/database/testing/test-settings.ts'
import { type Answer, aPlan, someWorld } from '../../testing/test-world.ts'
import { assertProblem, eventually } from './testing/test-answer.ts'

/** One or more of each class of Appendix A that means that the same request may succeed later. */
const later =
  `08000 08003 08006 08001 08004 08007 08P01 25006 25P03 25P04 40000 40001 40003 40P01 53000 53100 53200 53300 53400
  55P03 57000 57014 57P01 57P02 57P03 57P04 57P05 58000 58030 58P01 58P02 58P03 XX000`.split(/\s+/)
/** Those of the same classes, and of others, for which waiting does not help. */
const never = '22012 22P02 23505 25001 25P02 28000 40002 42P01 42501 54000 54001 55000 55006 P0001 XX001 XX002'.split(
  ' ',
)

test('each error of the database after which a request may succeed later is 503 with Retry-After, in the middle of a read and of an upload', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const vendor = await world.addVendor([location])
  await world.ownerPool.query(`
    create function fail(state text) returns boolean language plpgsql as $$
      begin if state <> '' then raise exception using errcode = state, message = 'injected'; end if; return true; end $$;
    create table fault (state text);
    insert into fault values ('');
    grant select on fault to public;
    create function fail_upload() returns trigger language plpgsql as $$ begin perform fail(state) from fault; return new; end $$;
    create trigger fail_upload before insert on upload for each row execute function fail_upload();
    alter table record enable row level security;
    create policy fail on record using ((select fail(state) from fault))`)
  const list = `/locations/${location.id}/insurance_plans`
  const requests: Record<string, () => Promise<Answer>> = {
    'a page': () => vendor.get(list),
    'one record': () => vendor.get(`${list}/1`),
    'an export': () => vendor.get(`${list}/export`),
    'an upload': () => location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Renamed' }) }),
  }
  const answers = async (state: string) => {
    await world.ownerPool.query('update fault set state = $1', [state])
    return await Promise.all(Object.entries(requests).map(async ([what, ask]) => [what, await ask()] as const))
  }
  for (const state of later) {
    for (const [what, answer] of await answers(state)) {
      // Another upload holds the lock, as far as this one knows.
      assertProblem(answer, state === '55P03' && what === 'an upload' ? 'busy' : 'unavailable')
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/, `${state} in ${what}`)
    }
  }
  for (const state of never) for (const [, answer] of await answers(state)) assertProblem(answer, 'internal')
  for (const [what, { status }] of await answers('')) assert.equal(status, 200, what)
})

test('a deadlock, and a database that has become read-only, are 503 with Retry-After', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 3 })
  const upload = () => location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Renamed' }) })
  const other = new pg.Client({ connectionString: superuserUrl(new URL(world.serverUrl).pathname.slice(1)) })
  // The test of a read-only database ends it.
  other.on('error', () => {})
  t.after(() => other.end())
  await other.connect()
  // The upload looks for a deadlock first, and so it is the one that ends.
  await other.query("begin; set local deadlock_timeout = '30s'")
  await other.query('select from record where location_id = $1 for update', [location.id])
  const uploaded = upload()
  const waiting = `
    select from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())`
  await eventually(async () => (await world.ownerPool.query(waiting)).rowCount === 1, 5_000, 'the upload waits')
  const locked = other.query('select from dataset_state where location_id = $1 for update', [location.id])
  const answer = await uploaded
  assertProblem(answer, 'unavailable')
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  assert.ok(world.events.some((each) => 'because' in each && each.because === 'database: 40P01'))
  await locked
  await other.query('rollback')
  assert.equal((await upload()).status, 200)

  await spoilSettings(world, [['default_transaction_read_only', 'on']], [world.pool])
  assertProblem(await location.upload('insurance_plans', { p2: null }), 'unavailable')
  assert.ok(world.events.some((each) => 'because' in each && each.because === 'database: 25006'))
})
