import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { CompanyId, KeyPairId } from '../../platform/identity/identity.ts'
import type { FactsOf } from '../audit/in-words.ts'
import { recordOperatorAct } from '../audit/operator-act.ts'
import { addDisclosedDays } from '../disclosure/accounting.ts'
import { makeDisclosureMonths } from '../disclosure/months.ts'
import { type DisclosureEntry, insertDisclosures } from '../disclosure/store.ts'
import { dropMonth } from './drop-month.ts'
import { someChain } from './testing/test-chain.ts'

const now = new Date('2026-04-02T08:00:00Z')

/** Months of disclosures, sealed each day; one seal has disclosures of two months, the later month's before some of the earlier one's. */
async function someMonths(t: TestContext) {
  const chain = await someChain(t)
  for (const at of ['2019-02-10T10:00:00', '2019-03-01T10:00:00', '2019-03-31T10:00:00']) {
    await chain.disclose(12, `${at}Z`)
    await chain.act(1)
    await chain.seal(`${at}.500Z`)
  }
  await chain.disclose(6, '2019-03-31T23:59:50Z')
  await chain.disclose(8, '2019-04-01T00:00:00Z')
  await chain.disclose(4, '2019-03-31T23:59:55Z', [chain.there])
  await chain.seal('2019-04-01T00:00:30Z')
  for (const at of ['2019-04-01T10:00:00', '2019-04-02T10:00:00', '2019-05-02T10:00:00']) {
    await chain.disclose(12, `${at}Z`)
    await chain.seal(`${at}.500Z`)
  }
  const record = (db: Queryable, facts: FactsOf<'disclosure.drop_month'>) =>
    recordOperatorAct(db, {
      ...{ userId: null, actor: 'test', action: 'disclosure.drop_month', facts },
      ...{ ip: null, requestId: null },
    })
  const drop = async (month: string, at = now) => {
    const owner = await chain.ownerPool.connect()
    try {
      return await dropMonth(owner, { month, key: chain.key, now: at, record, onProgress: () => {} })
    } finally {
      owner.release()
    }
  }
  return { ...chain, drop }
}

test('F29: after a month is dropped what is left verifies, also seals that it had a part of, and verify says what was dropped when', async (t) => {
  const chain = await someMonths(t)
  assert.deepEqual((await chain.verify()).found, [])
  const rowsFrom = async (day: string) =>
    (await chain.ownerPool.query('select d::text from disclosure d where disclosed_at >= $1 order by id', [day])).rows
  const later = await rowsFrom('2019-04-01T00:00:00Z')

  await chain.drop('2019-02')
  const { drop } = await chain.drop('2019-03')

  assert.deepEqual([drop.disclosures, drop.sealNumber, drop.remaining.length], [34, 3, 10])
  assert.deepEqual(await rowsFrom('-infinity'), later)
  const { report, found } = await chain.verify()
  assert.deepEqual(found, [])
  assert.deepEqual(
    report.dropped.map(({ month, disclosures, seal, droppedAt }) => [month, disclosures, seal, droppedAt]),
    [
      ['2019-02', 12, 1, '2026-04-02T08:00:00.000000Z'],
      ['2019-03', 34, 3, '2026-04-02T08:00:00.000000Z'],
    ],
  )
  assert.ok(report.practiceSeals > 4)
  assert.deepEqual((await chain.verify({ from: new Date('2019-04-01T05:00:00Z') })).found, [])

  // The act is sealed as every other one.
  await chain.seal('2026-04-02T08:01:00Z')
  const { rows } = await chain.ownerPool.query(`select facts from audit_event where action = 'disclosure.drop_month'`)
  const { sealSha256, ...dropped } = rows[1].facts
  assert.deepEqual(dropped, { month: '2019-03', disclosures: 34, sealNumber: 3 })
  assert.match(sealSha256, /^[0-9a-f]{64}$/)
  assert.deepEqual((await chain.verify()).found, [])

  // With the rest of the seal gone, no hash remains, and the chains of the practices go on.
  await chain.drop('2019-04', new Date('2026-05-02T08:00:00Z'))
  const last = await chain.drop('2019-05', new Date('2026-06-02T08:00:00Z'))
  assert.equal(last.drop.remaining.length, 0)
  await makeDisclosureMonths(chain.pool)
  await chain.disclose(5, new Date().toISOString())
  await chain.seal(new Date(Date.now() + 60_000).toISOString())
  const after = await chain.verify()
  assert.deepEqual(after.found, [])
  assert.equal(after.report.disclosures, 5)
})

test('F29: a month stays that is younger than six years, not the oldest, not wholly sealed, or not as it was sealed', async (t) => {
  const chain = await someMonths(t)
  const refused = async (month: string, errors: RegExp, at = now) =>
    await assert.rejects(chain.drop(month, at), { code: 'month_kept', errors })
  await refused(
    '2019-02',
    /2019-02 may be dropped from 2025-03-01 on, six years after its end/,
    new Date('2025-02-28T23:59:59Z'),
  )
  await refused('2019-03', /Drop 2019-02 first/)
  await refused('2018-03', /no table of the month 2018-03. The oldest is of 2019-02/)
  // A clock of the machine that is ahead does not make the month older: the database's counts too.
  await refused('2024-02', /no table/, new Date('2040-01-01'))
  await chain.ownerPool.query('update disclosure set records = records + 1 where id = 14')
  await chain.drop('2019-02')
  await refused('2019-03', /The disclosure 14 was changed. Nothing was dropped. Run "disclosure verify"/)
  await chain.ownerPool.query('update disclosure set records = records - 1 where id = 14')
  await chain.disclose(1, '2019-03-05T10:00:00Z')
  await refused('2019-03', /Disclosures of 2019-03 have no seal yet/)
  assert.deepEqual((await chain.pool.query('select month from disclosure_drop')).rows, [{ month: '2019-02' }])
})

test('F29: what a drop has on record cannot hide anything else', async (t) => {
  const chain = await someMonths(t)
  await chain.drop('2019-02')
  await chain.drop('2019-03')
  const tamperings: [string, RegExp][] = [
    ['delete from disclosure_drop', /disclosures? .*removed/],
    [
      `delete from audit_event where facts ->> 'month' = '2019-03'`,
      /The month 2019-03 was dropped without its act: none says that 34 disclosures up to seal 3 were dropped/,
    ],
    [
      `update audit_event set facts = facts || '{"disclosures": 33}' where facts ->> 'month' = '2019-03'`,
      /The month 2019-03 was dropped without its act/,
    ],
    [`delete from disclosure_drop where month = '2019-03'`, /removed/],
    [
      `update disclosure_drop set text = replace(text, '2019-03', '2019-04'), month = '2019-04' where month = '2019-03'`,
      /record of the dropped month 2019-04 was changed/,
    ],
    [
      `update disclosure_drop set month = '2019-05' where month = '2019-03'`,
      /record of the dropped month 2019-05 was changed/,
    ],
    [`delete from disclosure where id = (select min(id) from disclosure)`, /removed/],
    ['update disclosure set records = records + 1 where id = 45', /disclosure 45 was changed/],
    [`delete from disclosure where disclosed_at >= '2019-05-01'`, /removed/],
    [`update seal set disclosures = 1 where number = 2`, /signature of seal 2/],
    ['delete from seal where number = 3', /missing/],
    [
      `insert into disclosure overriding system value select 5, disclosed_at, company_id, key_pair_id, location_id, dataset, notes, filters, records,
        counted, digested, after_id, last_id, record_ids, request_id, ip from disclosure where id = 60`,
      /1 disclosures stand among those that were dropped/,
    ],
  ]
  const client = await chain.ownerPool.connect()
  t.after(() => client.release())
  for (const [statement, expected] of tamperings) {
    await client.query('begin')
    const { rowCount } = await client.query(statement)
    assert.ok(rowCount, statement)
    const { found } = await chain.verify({}, client)
    await client.query('rollback')
    assert.match(found.join('\n'), expected, statement)
  }
  assert.deepEqual((await chain.verify()).found, [])
  for (const statement of [
    `insert into disclosure_drop values ('2020-01', '', '')`,
    'delete from disclosure_drop',
    `update disclosure_drop set month = '2020-01'`,
  ])
    await assert.rejects(chain.pool.query(statement), { code: '42501' }, statement)
})

test('F29: a month is dropped while reads are recorded and a backup reads: none waits long', async (t) => {
  const chain = await someMonths(t)
  await addDisclosedDays(chain.ownerPool, '0', '12')
  const entry: DisclosureEntry = {
    companyId: randomUUID() as CompanyId,
    keyPairId: randomUUID() as KeyPairId,
    locationId: chain.here,
    dataset: 'patients',
    notes: false,
    filters: {},
    coverage: { ids: ['1'] },
    records: 1,
    counted: null,
    digested: null,
    requestId: 'r',
    ip: '203.0.113.9',
  }
  const reader = await chain.ownerPool.connect()
  await reader.query('begin; select count(*) from disclosure')
  let isOver = false
  let longest = 0
  const writing = (async () => {
    while (!isOver) {
      const beganAt = performance.now()
      await insertDisclosures(chain.pool, [entry], { timeoutMs: 3_000 })
      longest = Math.max(longest, performance.now() - beganAt)
    }
  })()
  const dropping = chain.drop('2019-02')
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  await reader.query('rollback')
  reader.release()
  await dropping
  isOver = true
  await writing
  t.diagnostic(`the longest insert took ${longest.toFixed()} ms`)
  assert.ok(longest < 2_500)
  assert.equal((await chain.pool.query(`select from disclosed_day where day < '2019-03-01'`)).rowCount, 0)
})
