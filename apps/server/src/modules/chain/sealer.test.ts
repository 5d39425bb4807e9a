import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pool } from 'pg'
import { createSealer, sealOnce } from './sealer.ts'
import { findLastSeal, listPracticeSeals, listSeals, lockChain } from './store.ts'
import { someChain } from './testing/test-chain.ts'

const endOfTime = new Date(8.64e15)

test('F21: everything that is committed is sealed once, in order, and what is sealed verifies', async (t) => {
  const chain = await someChain(t)
  assert.deepEqual(await chain.seal('2026-03-01T10:00:00Z'), { number: null, isMore: false }, 'nothing to seal')
  await chain.disclose(7, '2026-03-01T10:00:00Z')
  await chain.act(3)
  assert.equal((await chain.seal('2026-03-01T10:01:00Z')).number, 1)
  assert.equal((await chain.seal('2026-03-01T10:02:00Z')).number, null)
  await chain.disclose(2, '2026-03-01T10:02:00Z')
  assert.equal((await chain.seal('2026-03-01T10:03:00Z')).number, 2)

  const seals = await listSeals(chain.pool, { after: 0, until: endOfTime, limit: 10 })
  assert.deepEqual(
    seals.map(({ number, disclosures, acts, practices }) => [number, disclosures, acts, practices]),
    [
      [1, 7, 3, 0],
      [2, 2, 0, 0],
    ],
  )
  const { report, found } = await chain.verify()
  assert.deepEqual(found, [])
  assert.deepEqual([report.seals, report.disclosures, report.acts, report.unsealed], [2, 9, 3, 0])
})

test('F21: after a day ends each practice gets a seal of its own, over its own disclosures alone', async (t) => {
  const chain = await someChain(t)
  await chain.disclose(5, '2026-03-01T10:00:00Z')
  await chain.seal('2026-03-01T10:01:00Z')
  await chain.disclose(2, '2026-03-01T23:59:00Z', [chain.here])
  assert.equal((await chain.seal('2026-03-02T00:00:10Z')).number, 2)
  assert.equal((await chain.seal('2026-03-03T00:00:10Z')).number, null, 'a day without disclosures needs no seal')
  await chain.disclose(1, '2026-03-03T10:00:00Z', [chain.there])
  await chain.seal('2026-03-03T10:01:00Z')
  await chain.seal('2026-03-04T00:00:10Z')

  const counts = await Promise.all(
    chain.practices.map(async ({ organizationId }) =>
      (await listPracticeSeals(chain.pool, organizationId, '0', 10)).map(({ entries }) => Number(entries)),
    ),
  )
  assert.deepEqual(counts, [[4], [3, 4]])
  assert.deepEqual((await chain.verify()).found, [])
})

test('F21: an entry that is committed after one with a higher id is not passed over', async (t) => {
  const chain = await someChain(t)
  const slow = await someOpenAct(chain)
  await chain.act(2)
  const sealing = chain.seal('2026-03-01T10:01:00Z')
  await slow.query('select pg_sleep(0.2)')
  await slow.query('commit')
  slow.release()
  await sealing
  assert.equal((await findLastSeal(chain.pool))?.acts, 3)
  assert.deepEqual((await chain.verify()).found, [])
})

test('F21: a writer that does not end holds back its own kind of entries, and nothing that writes', async (t) => {
  const chain = await someChain(t)
  const slow = await someOpenAct(chain)
  await chain.act(1)
  await chain.disclose(1, '2026-03-01T10:00:00Z')
  const [sealed] = await Promise.all([chain.seal('2026-03-01T10:01:00Z'), chain.act(1)])
  assert.equal(sealed.number, 1)
  const [first] = await listSeals(chain.pool, { after: 0, until: endOfTime, limit: 1 })
  assert.deepEqual([first?.disclosures, first?.acts], [1, 0])
  await slow.query('rollback')
  slow.release()
  await chain.seal('2026-03-01T10:02:00Z')
  assert.equal((await findLastSeal(chain.pool))?.acts, 2)
  assert.deepEqual((await chain.verify()).found, [])
})

test('F21: several processes seal at once and write one chain; entries from before it are sealed in slices', async (t) => {
  const chain = await someChain(t)
  await chain.disclose(11_000, '2026-02-01T10:00:00Z')
  const sealers = Array.from({ length: 3 }, () =>
    createSealer({
      pool: chain.pool,
      key: async () => chain.key,
      now: () => new Date(),
      log: (event) => assert.fail(event.event),
      everyMs: 1,
    }),
  )
  for (const sealer of sealers) sealer.start()
  await chain.disclose(40, new Date().toISOString())
  await Promise.all(sealers.map((sealer) => sealer.stop()))
  while ((await sealOnce({ pool: chain.pool, key: async () => chain.key, now: () => new Date() })).isMore);

  const seals = await listSeals(chain.pool, { after: 0, until: endOfTime, limit: 100 })
  assert.equal(
    seals.reduce((sum, { disclosures }) => sum + disclosures, 0),
    11_040,
  )
  assert.ok(seals.every(({ disclosures }) => disclosures <= 5_000))
  const { report, found } = await chain.verify()
  assert.deepEqual(found, [])
  assert.equal(report.beforeChain, 11_000)
})

test('F21: a process that dies while it seals leaves nothing, and another one goes on', async (t) => {
  const chain = await someChain(t)
  await chain.disclose(3, '2026-03-01T10:00:00Z')
  const dying = await chain.pool.connect()
  await dying.query('begin')
  assert.ok(await lockChain(dying))
  await dying.query(
    'insert into practice_head (organization_id, entries, head, last_disclosure_id, unsealed) values (1, 1, $1, 1, 1)',
    [Buffer.alloc(32)],
  )
  assert.equal((await chain.seal('2026-03-01T10:01:00Z')).number, null, 'one seals at a time')
  const { rows } = await dying.query('select pg_backend_pid() as pid')
  await chain.pool.query('select pg_terminate_backend($1, 5000)', [rows[0].pid])
  dying.release(true)
  assert.equal((await chain.seal('2026-03-01T10:02:00Z')).number, 1)
  assert.equal((await chain.pool.query('select from practice_head where organization_id = 1')).rowCount, 0)
  assert.deepEqual((await chain.verify()).found, [])
})

test('F21: an orderly stop leaves nothing without a seal', async (t) => {
  const chain = await someChain(t)
  const sealer = createSealer({
    pool: chain.pool,
    key: async () => chain.key,
    now: () => new Date(),
    log: (event) => assert.fail(event.event),
  })
  sealer.start()
  await chain.disclose(3, new Date().toISOString())
  await sealer.stop()
  assert.equal((await chain.verify()).report.unsealed, 0)
})

test('K05: the server’s role adds and reads seals, and cannot change or remove one', async (t) => {
  const chain = await someChain(t)
  await chain.disclose(1, '2026-03-01T10:00:00Z')
  await chain.seal('2026-03-01T10:01:00Z')
  for (const table of ['seal', 'practice_seal'])
    for (const statement of [`update ${table} set key_id = ''`, `delete from ${table}`, `truncate ${table}`])
      await assert.rejects(chain.pool.query(statement), { code: '42501' }, statement)
})

/** A connection whose transaction has written an act and is still open. */
async function someOpenAct({ ownerPool }: { ownerPool: Pool }) {
  const slow = await ownerPool.connect()
  await slow.query('begin')
  await slow.query(`insert into audit_event (side, actor, action) values ('account', 'slow', 'account.sign_in')`)
  return slow
}
