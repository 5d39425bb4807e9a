import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AuditEntry, recordAudit } from '../../../modules/audit/store.ts'
import { sealKeyOf } from '../../../modules/chain/seal-key.ts'
import { sealOnce } from '../../../modules/chain/sealer.ts'
import { insertDisclosures } from '../../../modules/disclosure/store.ts'
import { type CompanyId, type LocationId, newUuid } from '../../../platform/identity/identity.ts'
import { aDigest, operatorOn, secretKey, someOperator } from '../testing/test-operator.ts'

type Operator = Awaited<ReturnType<typeof someOperator>>
type Line = { cursor: string; type: 'act' | 'disclosure'; id: string; [name: string]: unknown }

const anAct: AuditEntry<'account.sign_in'> = {
  side: 'account' as const,
  ...{ tenantId: null, userId: null, actor: 'A', action: 'account.sign_in' as const },
  ...{ facts: {}, ip: null, requestId: null },
}

test('F26: a follower misses no entry that is committed late, and has each once, wherever it is cut and resumed', async (t) => {
  const operator = await someOperator(t)
  const { pool } = operator
  let isWriting = true

  // Each writer draws an id, is overtaken by others, and commits then.
  const writers = Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      for (let count = 0; count < 25; count++) {
        const client = await pool.connect()
        await client.query('begin')
        await recordAudit(client, { ...anAct, facts: { provider: `${writer} ${count}` } })
        await client.query('select pg_sleep($1)', [(Math.random() ** 3 * 60) / 1000])
        await client.query('commit')
        client.release()
        const digest = aDigest(newUuid<CompanyId>(), '7' as LocationId)
        await insertDisclosures(pool, [digest, digest], { timeoutMs: 5_000 })
      }
    }),
  ).finally(() => {
    isWriting = false
  })
  const sealing = (async () => {
    for (let isLast = false; !isLast; await sleep(5)) {
      isLast = !isWriting
      await seal(operator)
    }
  })()
  const taken: Line[] = []
  const follow = async () => {
    const lines = await linesOf(operator, taken.at(-1)?.cursor)
    // As one that is killed in the middle: what it has written last says where to go on.
    taken.push(...lines.slice(0, Math.ceil(Math.random() * lines.length)))
    return lines.length > 0
  }
  const naive: string[] = []
  while (isWriting) {
    await follow()
    const { rows } = await pool.query('select id from audit_event where id > $1 order by id', [naive.at(-1) ?? '0'])
    naive.push(...rows.map(({ id }) => id))
  }
  await Promise.all([writers, sealing])
  while (await follow());

  for (const [type, table, count] of [
    ['act', 'audit_event', 150],
    ['disclosure', 'disclosure', 300],
  ] as const) {
    const { rows } = await pool.query<{ id: string }>(`select id from ${table} order by id`)
    const ids = taken.filter((line) => line.type === type).map(({ id }) => id)
    assert.deepEqual(
      ids,
      rows.map(({ id }) => id),
    )
    assert.equal(ids.length, count)
  }
  const { rows } = await pool.query<{ id: string }>('select id from audit_event where id <= $1', [naive.at(-1)])
  assert.ok(naive.length < rows.length, 'one that goes by the highest id misses some, so the test can fail')
})

test('the page of the export names every field, and no line has a value of a filter', async (t) => {
  const operator = await someOperator(t)
  const { pool, run } = operator
  await operator.ask('organization', 'create', '--name', 'Smile Group', '--reason', 'Ticket 12')
  const digest = aDigest(newUuid<CompanyId>(), '7' as LocationId)
  const filters = { starts_from: '2031-05-06T00:00:00Z', patient_id: '4711' }
  await insertDisclosures(pool, [{ ...digest, filters, coverage: { ids: ['3', '9'] } }], { timeoutMs: 5_000 })
  assert.deepEqual(await linesOf(operator), [], 'what has no seal yet is not written')
  await seal(operator)

  const lines = await linesOf(operator)
  assert.deepEqual(
    lines.map(({ type, reason, coverage, filters: names }) => [type, reason, coverage, names]),
    [
      ['act', 'Ticket 12', undefined, undefined],
      ['act', 'Ticket 12', undefined, undefined],
      ['disclosure', undefined, '3,9', ['patient_id', 'starts_from']],
    ],
  )
  assert.doesNotMatch(JSON.stringify(lines), /2031-05-06|\b4711\b/)
  const page = readFileSync(join(import.meta.dirname, '../../../../../../docs/guides/audit-export.md'), 'utf8')
  for (const line of lines)
    for (const field of Object.keys(line)) assert.ok(page.includes(`| \`${field}\` |`), `${field} is explained`)

  const last = lines.at(-1)?.cursor ?? ''
  const again = await run('audit', 'export', '--after', last)
  assert.deepEqual([again.out, again.code], ['', 0])
  for (const cursor of ['x', '1', '../1', last.toUpperCase().replace('-', '_')])
    assert.equal((await run('audit', 'export', '--after', cursor)).code, 2, cursor)
  const foreign = await run('audit', 'export', '--after', last.replace(/-[0-9a-f]{16}-/, '-0123456789abcdef-'))
  assert.match(foreign.err, /^The cursor is not of this database’s chain/)
  assert.equal(foreign.code, 1)
})

test('the command follows until SIGTERM, and ends with whole lines, exit code 0 and the cursor to go on with', async (t) => {
  const operator = await someOperator(t)
  await recordAudit(operator.pool, anAct)
  await seal(operator)
  const child = exportProcess(t, operator, { options: ['--follow'] })
  const closed = once(child, 'close')
  const said: string[] = []
  child.stderr.on('data', (text) => said.push(String(text)))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value ?? 'null') as Line

  const first = await next()
  await recordAudit(operator.pool, { ...anAct, facts: { provider: randomUUID() } })
  await seal(operator)
  const second = await next()
  child.kill('SIGTERM')

  assert.deepEqual([(await closed)[0], (await lines.next()).done], [0, true])
  assert.deepEqual([first.id, second.id], ['1', '2'])
  assert.match(said.join(''), new RegExp(`Wrote 2 lines\\. Go on with --after ${second.cursor}\n`))
})

test('F26: the command needs little memory, also where each of 400 reads lists 5,000 ids', async (t) => {
  const operator = await someOperator(t)
  const ids = Array.from({ length: 5_000 }, (_, index) => String(10 ** 13 + index * 7_919))
  const listed = { ...aDigest(newUuid<CompanyId>(), '7' as LocationId), coverage: { ids } }
  await insertDisclosures(operator.pool, [listed], { timeoutMs: 30_000 })
  // Copied by the database, which would take seconds to read two million ids as JSON. Sealed as they come: on a busy machine, the days of all at
  // once take longer than a statement may.
  const columns =
    'company_id, key_pair_id, location_id, dataset, notes, filters, records, counted, digested, record_ids, request_id, ip'
  for (let batch = 1; batch <= 4; batch++) {
    await operator.ownerPool.query(
      `insert into disclosure (${columns})
       select ${columns} from (select * from disclosure limit 1) first cross join generate_series(1, $1::integer)`,
      [batch === 1 ? 99 : 100],
    )
    await seal(operator)
  }

  const child = exportProcess(t, operator, { execArgv: ['--max-old-space-size=48'] })
  let lines = 0
  for await (const line of createInterface({ input: child.stdout })) lines += line.includes('"disclosure"') ? 1 : 0

  assert.equal(lines, 400)
  assert.equal(child.exitCode ?? (await once(child, 'close'))[0], 0)
})

async function seal({ pool }: Operator): Promise<void> {
  await sealOnce({ pool, key: async () => sealKeyOf(secretKey), now: () => new Date() })
}

/** The command in a process of its own. */
function exportProcess(
  t: TestContext,
  { serverUrl, ownerUrl }: Operator,
  { execArgv = [], options = [] }: { execArgv?: string[]; options?: string[] },
) {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-audit-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const main = join(import.meta.dirname, '../main.ts')
  return spawn(process.execPath, [...execArgv, main, 'audit', 'export', ...options], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: serverUrl,
      BRIDGEWORK_MIGRATION_DATABASE_URL: ownerUrl,
      BRIDGEWORK_DATA_DIR: folder,
    },
  })
}

async function linesOf({ pool }: Operator, after?: string): Promise<Line[]> {
  const { out, err, code } = await operatorOn(pool).run('audit', 'export', ...(after ? ['--after', after] : []))
  assert.equal(code, 0, err)
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
