import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { someTarget } from '../sync/test-mirror.ts'
import { aRecord } from '../test-client.ts'
import { command, someCommand, someFolder } from './test-command.ts'

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
    const ids = await command(['sql', '--to', to, `select '9007199254740993' as id, null as gap`], env)
    assert.equal(ids.out, 'id                gap\n9007199254740993\n')

    const change = await command(['sql', '--to', to, `update patients set last_name = 'x' returning 1`], env)
    assert.equal(change.code, 1)
    assert.match(change.err, /This query would change the mirror/)
    const wrong = await command(['sql', '--to', to, 'select last_nam from patients'], env)
    assert.equal(wrong.code, 1)
    assert.match(wrong.err, /last_nam/)
    assert.match((await command(['sql', '--to', to], env)).out, /^(sqlite3 -readonly \/|psql )/)
  }
  const missing = await command(['sql', '--to', 'sqlite:/nonexistent/copy.sqlite', 'select 1'], env)
  assert.deepEqual([missing.code, /\/nonexistent\/copy\.sqlite: It cannot be opened/.test(missing.err)], [1, true])
  const folder = await command(['sql', '--to', someFolder(t), 'select 1'], env)
  assert.deepEqual([folder.code, /has no SQL/.test(folder.err)], [2, true])
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
