import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { aRecord } from '../testing/test-client.ts'
import { command, someCommand, someFolder } from './testing/test-command.ts'

/** A day, a local time and a moment, as a mirror has them. */
const timesOf = {
  sqlite: `select '2026-02-03' as day, '2026-02-03T09:00:00' as local, '2026-02-03T17:00:00.000Z' as moment`,
  postgres: `select date '2026-02-03' as day, timestamp '2026-02-03 09:00' as local, timestamptz '2026-02-03 17:00Z' as moment`,
}

test('sql asks a mirror of either kind, changes nothing in it, and says how to open it', async (t) => {
  const { env, location } = await someCommand(t)
  await location.upload('patients', { p1: aRecord('patients', { last_name: 'Ask' }) })
  for (const to of [`sqlite:${join(someFolder(t), 'copy.sqlite')}`, await someTarget(t, 'postgres')]) {
    assert.equal((await command(['mirror', '--to', to], env)).code, 0)
    const query = 'select last_name, 1 + 1 as two from patients'
    const table = await command(['sql', '--to', to, query], env)
    assert.deepEqual([table.code, table.out], [0, 'last_name  two\nAsk        2\n'], table.err)
    const lines = await command(['sql', '--to', to, query, '--json'], env)
    assert.deepEqual(JSON.parse(lines.out), { last_name: 'Ask', two: 2 })
    const ids = await command(['sql', '--to', to, 'select 9007199254740993 as id, null as gap'], env)
    assert.equal(ids.out, 'id                gap\n9007199254740993\n')

    const change = await command(['sql', '--to', to, `update patients set last_name = 'x' returning 1`], env)
    assert.equal(change.code, 1)
    assert.match(change.err, /This query would do more than read the mirror/)
    const wrong = await command(['sql', '--to', to, 'select last_nam from patients'], env)
    assert.equal(wrong.code, 1)
    assert.match(wrong.err, /last_nam.*last_name/)
    const unknown = await command(['sql', '--to', to, 'select * from patient'], env)
    assert.match(unknown.err, /patient.*Did you mean "patients"\?/)
    const two = await command(['sql', '--to', to, 'select 1; commit; drop table patients'], env)
    assert.deepEqual([two.code, two.out], [1, ''])
    assert.match(two.err, /Ask one query at a time/)
    const ended = await command(['sql', '--to', to, 'select 1 as one; -- done'], env)
    assert.equal(ended.out, 'one\n1\n')
    assert.equal((await command(['sql', '--to', to, ' '], env)).code, 2)
    const times = await command(['sql', '--to', to, timesOf[to.startsWith('sqlite') ? 'sqlite' : 'postgres']], env)
    assert.match(times.out, /\n2026-02-03 +2026-02-03T09:00:00 +2026-02-03T17:00:00.000Z\n$/)
    assert.match((await command(['sql', '--to', to], env)).out, /^(sqlite3 -readonly \/|psql )/)
  }
  const missing = await command(['sql', '--to', 'sqlite:/nonexistent/copy.sqlite', 'select 1'], env)
  assert.equal(missing.code, 1)
  assert.match(missing.err, /There is no mirror. Create it: bridgework mirror --to sqlite:\/nonexistent\/copy\.sqlite/)
  const folder = await command(['sql', '--to', someFolder(t), 'select 1'], env)
  assert.deepEqual([folder.code, /has no SQL/.test(folder.err)], [2, true])
})

test('sql shows an answer of many rows', async (t) => {
  const file = join(someFolder(t), 'copy.sqlite')
  await (await openStore('sqlite', file)).close()
  const rows =
    'with recursive number (n) as (select 1 union all select n + 1 from number where n < 200000) select n from number'
  const { code, out, err } = await command(['sql', '--to', `sqlite:${file}`, rows], {})
  assert.deepEqual([code, out.split('\n').length], [0, 200_002], err)
})

test('status shows each dataset with its lag, for people and for programs', async (t) => {
  const { env, location, world } = await someCommand(t, { insurancePlans: 2 })
  const set = `update dataset_state set synced_at = now() - interval '10 minutes' where dataset = 'insurance_plans'`
  await world.pool.query(set)
  const { out, code } = await command(['status'], env)
  assert.equal(code, 0)
  assert.match(out, /insurance_plans +\S+ +2 +10 min/)
  assert.match(out, /patients +pending +0 +never read/)
  const lines = (await command(['status', '--json', '--location', location.id], env)).out.trim().split('\n')
  const plans = lines.map((line) => JSON.parse(line)).find(({ dataset }) => dataset === 'insurance_plans')
  assert.ok(plans.lag_seconds >= 600 && plans.lag_seconds < 700 && plans.location_id === location.id)
})
