import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Queryable } from '../../platform/database/queryable.ts'
import { openPublishedSeals, publishSeals } from './published.ts'
import { someChain } from './testing/test-chain.ts'

/** The soak tries more: `npm run soak -- F21`. */
const runs = Number(process.env.BRIDGEWORK_TEST_RUNS ?? 50)

test('F21: verify finds every edit, removal, addition, exchange and cut of entries and of seals', async (t) => {
  const seed = Number(process.env.BRIDGEWORK_TEST_SEED ?? randomInt(2 ** 31))
  t.diagnostic(`seed ${seed}`)
  const chain = await someChain(t)
  const published = mkdtempSync(join(tmpdir(), 'bridgework-seals-'))
  t.after(() => rmSync(published, { recursive: true }))
  for (let day = 1; day <= 6; day += 1) {
    await chain.disclose(12, `2026-03-0${day}T10:00:00Z`)
    // Ids that nothing has, as after a failed insert: what is added there stands between entries.
    await chain.ownerPool.query(
      `select setval(pg_get_serial_sequence('disclosure', 'id'), (select max(id) from disclosure) + 3)`,
    )
    await chain.act(4)
    await chain.seal(`2026-03-0${day}T10:01:00Z`)
    await chain.disclose(5, `2026-03-0${day}T20:00:00Z`, [chain.there])
    await chain.seal(`2026-03-0${day}T20:01:00Z`)
  }
  await publishSeals(chain.pool, published)
  const untouched = await chain.verify({ published: await openPublishedSeals(published) })
  assert.deepEqual(untouched.found, [])
  assert.ok(untouched.report.practiceSeals > 5)

  const found: Record<string, number> = {}
  const client = await chain.ownerPool.connect()
  try {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(tamperings)), fc.nat(), async (kind, choice) => {
        await client.query('begin')
        try {
          await tamperings[kind]?.(client, choice)
          const { report } = await chain.verify({ published: await openPublishedSeals(published) }, client)
          assert.ok(report.findings > 0, `${kind} ${choice} was not found`)
          found[kind] = (found[kind] ?? 0) + 1
        } finally {
          await client.query('rollback')
        }
      }),
      { seed, numRuns: runs, endOnFailure: true },
    )
  } finally {
    client.release()
  }
  t.diagnostic(JSON.stringify(found))
})

type Tamper = (db: Queryable, choice: number) => Promise<void>

const disclosureEdits = [
  `disclosed_at = disclosed_at + interval '1 microsecond'`,
  'company_id = gen_random_uuid()',
  'key_pair_id = gen_random_uuid()',
  'location_id = (select max(l.id) + min(l.id) - location_id from location l)',
  `dataset = dataset || 's'`,
  `filters = filters || '{"starts_from": "2026-01-01"}'`,
  'records = records + 1',
  'counted = coalesce(counted, 0) + 1',
  'digested = coalesce(digested, 0) + 1',
  'last_id = last_id + 1, record_ids = case when record_ids is not null then record_ids || 7 end',
  'after_id = after_id + 1, record_ids = record_ids[2:]',
  `request_id = request_id || ' '`,
  `ip = '203.0.113.10'`,
]

const actEdits = [
  `occurred_at = occurred_at + interval '1 microsecond'`,
  `side = 'operator'`,
  `tenant_id = coalesce(tenant_id, '') || '7'`,
  'user_id = gen_random_uuid()',
  `actor = actor || '.'`,
  `action = 'grant.none'`,
  `facts = facts || '{"name": "."}'`,
  `facts = to_jsonb(facts::text)`,
  `facts = '{}'`,
  `ip = '2001:db8::1/64'`,
  `request_id = ''`,
  `reason = coalesce(reason, '') || '.'`,
]

const sealEdits = [
  `previous = sha256('x')`,
  `sealed_at = sealed_at + interval '1 microsecond'`,
  'last_disclosure_id = last_disclosure_id - 1',
  'disclosures = disclosures + 1',
  `disclosures_sha256 = sha256('x')`,
  'last_act_id = last_act_id - 1',
  'acts = acts - 1',
  `acts_sha256 = sha256('x')`,
  'practices = practices + 1',
  `practices_sha256 = sha256('x')`,
  `key_id = '0123456789abcdef'`,
  `signature = sha256('x') || sha256('y')`,
]

const practiceSealEdits = [
  'entries = entries + 1',
  `head = sha256('x')`,
  'last_disclosure_id = last_disclosure_id - 1',
  `sealed_at = sealed_at + interval '1 microsecond'`,
  `key_id = '0123456789abcdef'`,
  `signature = sha256('x') || sha256('y')`,
  'seal_number = seal_number + 1',
  `first_at = first_at + interval '1 microsecond'`,
  `last_at = last_at - interval '1 microsecond'`,
]

const tamperings: Record<string, Tamper> = {
  'edit of a disclosure': edit('disclosure', 'id', disclosureEdits),
  'edit of an act': edit('audit_event', 'id', actEdits),
  'edit of a seal': edit('seal', 'number', sealEdits),
  'edit of a practice seal': edit('practice_seal', 'ctid', practiceSealEdits),
  'removal of a disclosure': remove('disclosure', 'id'),
  'removal of an act': remove('audit_event', 'id'),
  'removal of a seal': remove('seal', 'number'),
  'removal of a practice seal': remove('practice_seal', 'ctid'),
  'addition between disclosures': async (db, choice) => {
    const { rows } = await db.query<{ id: string }>(
      `select g.id from generate_series(1, (select max(id) from disclosure)) g (id)
        where not exists (select 1 from disclosure d where d.id = g.id) order by g.id`,
    )
    await copyOf(db, choice, pick(rows, choice).id)
  },
  'addition of an old disclosure at the end': (db, choice) => copyOf(db, choice, '1000000'),
  'addition of a practice seal': async (db) => {
    await db.query(
      `insert into practice_seal select organization_id, entries + 100, head, last_disclosure_id, sealed_at, key_id, signature, seal_number + 100,
              first_at, last_at from practice_seal limit 1`,
    )
  },
  'exchange of two disclosures': exchange('disclosure', 'id'),
  'exchange of two acts': exchange('audit_event', 'id'),
  'exchange of two seals': exchange('seal', 'number'),
  'cut of the last disclosures': cut('disclosure', 'id'),
  'cut of the last acts': cut('audit_event', 'id'),
  'cut of the last seals': cut('seal', 'number'),
  'cut of everything from a seal on': async (db, choice) => {
    const from = 1 + (choice % 12)
    const { rows } = await db.query<{ d: string; a: string }>(
      'select last_disclosure_id as d, last_act_id as a from seal where number = $1 union all select 0, 0 limit 1',
      [from - 1],
    )
    await db.query('delete from practice_seal where seal_number >= $1', [from])
    await db.query('delete from seal where number >= $1', [from])
    await db.query('delete from disclosure where id > $1', [rows[0]?.d])
    await db.query('delete from audit_event where id > $1', [rows[0]?.a])
    await db.query('update practice_head set entries = 0')
  },
}

function edit(table: string, key: string, edits: readonly string[]): Tamper {
  return async (db, choice) => {
    const chosen = await someKey(db, table, key, choice)
    const { rowCount } = await db.query(
      `update ${table} set ${pick(edits, Math.floor(choice / 7))} where ${key} = $1`,
      [chosen],
    )
    assert.equal(rowCount, 1)
  }
}

function remove(table: string, key: string): Tamper {
  return async (db, choice) => {
    await db.query(`delete from ${table} where ${key} = $1`, [await someKey(db, table, key, choice)])
  }
}

function cut(table: string, key: string): Tamper {
  return async (db, choice) => {
    await db.query(`delete from ${table} where ${key} >= $1`, [await someKey(db, table, key, choice)])
  }
}

/** Everything of two neighbours changes places. An identity column takes no other value, so a copy is made under the other's id. */
function exchange(table: string, key: string): Tamper {
  return async (db, choice) => {
    const { rows } = await db.query<{ key: string }>(`select ${key} as key from ${table} order by ${key}`)
    const index = choice % (rows.length - 1)
    const [left, right] = [rows[index]?.key, rows[index + 1]?.key]
    const saved = `saved_${randomUUID().replaceAll('-', '')}`
    await db.query(
      `create temporary table ${saved} on commit drop as select * from ${table} where ${key} in (${left}, ${right})`,
    )
    await db.query(`update ${saved} set ${key} = ${left}::bigint + ${right}::bigint - ${key}`)
    await db.query(`delete from ${table} where ${key} in (${left}, ${right})`)
    await db.query(`insert into ${table} overriding system value select * from ${saved}`)
  }
}

async function someKey(db: Queryable, table: string, key: string, choice: number): Promise<string> {
  const { rows } = await db.query<{ key: string }>(`select ${key}::text as key from ${table} order by ${key}`)
  return pick(rows, choice).key
}

async function copyOf(db: Queryable, choice: number, id: string): Promise<void> {
  const saved = `saved_${randomUUID().replaceAll('-', '')}`
  const from = await someKey(db, 'disclosure', 'id', choice)
  await db.query(`create temporary table ${saved} on commit drop as select * from disclosure where id = ${from}`)
  await db.query(`update ${saved} set id = ${id}`)
  await db.query(`insert into disclosure overriding system value select * from ${saved}`)
}

function pick<T>(list: readonly T[], choice: number): T {
  // Every list here has members.
  return list[choice % list.length] as T
}
