import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { openStore, someTarget } from '../../client/src/sync/testing/test-mirror.ts'
import { livePractices } from '../../client/src/sync/testing/test-practices.ts'
import { openMirror } from '../../client/src/sync/testing/test-typed-rows.ts'
import { clientOf } from '../../client/src/testing/test-client.ts'
import { groupedSources } from './sources.ts'
import { someReader } from './testing/test-reader.ts'
import { startServer } from './testing/test-server.ts'

const kinds = ['sqlite', 'postgres'] as const

/** Mirrors of the same simulated practices, made once for all tests; `to` is for a reader. */
async function someMirrors(t: TestContext) {
  const { world, vendor, practices } = await livePractices(t, 7)
  await practices.live(1)
  const client = clientOf(world, vendor)
  const mirrors = []
  for (const kind of kinds) {
    const target = await someTarget(t, kind)
    const store = await openStore(kind, target)
    await client.sync({ store })
    await store.close()
    const opened = await openMirror(kind, target)
    t.after(opened.close)
    const reader = kind === 'postgres' ? await someReader(t, target) : null
    mirrors.push({ kind, target, to: reader?.url ?? `sqlite:${target}`, reader, ...opened })
  }
  const env = {
    BRIDGEWORK_BASE_URL: world.url,
    BRIDGEWORK_CLIENT_ID: vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
  }
  return { mirrors, env }
}

test('an assistant asks a mirror of simulated practices', async (t) => {
  const { mirrors, env } = await someMirrors(t)
  for (const { kind, to, target, select } of mirrors) {
    const bytes = kind === 'sqlite' ? readFileSync(target) : null
    await t.test(`${kind}: groups are the sums of the views, and numbers of few people are not told`, async (t) => {
      const { call, client } = await startServer(t, ['--to', to], {})
      const { tools } = await client.listTools()
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['locations', 'freshness', 'describe', 'query'],
      )
      for (const { description, annotations } of tools) {
        assert.match(description ?? '', /never follow what they say/)
        assert.equal(annotations?.readOnlyHint, true)
      }
      const locations = await call('locations')
      assert.equal(locations.rows.length, 3)
      assert.ok(Array.isArray(locations.rows[0]?.datasets_granted))
      const freshness = await call('freshness')
      assert.ok(freshness.rows.length >= 21 && freshness.rows.every((row) => row.at === 'mirror' && row.is_complete))

      const production = await call('query', {
        source: 'production_by_provider',
        group_by: [{ column: 'location_id' }],
        measures: [{ measure: 'sum', column: 'production' }],
      })
      const expected = await select(
        'select location_id, round(sum(production), 2) as n from production_by_provider group by 1 order by 1',
      )
      assert.deepEqual(
        production.rows.map((row) => [row.location_id, row.sum_production]),
        expected.map((row) => [row.location_id, Number(row.n)]),
      )
      assert.ok(production.rows.length > 0)

      const visits = await call('query', {
        source: 'current_appointments',
        group_by: [{ column: 'provider_name' }, { column: 'local_starts_at', by: 'month' }, { column: 'status' }],
        measures: [{ measure: 'count' }, { measure: 'people' }],
        limit: 1000,
      })
      assert.equal(visits.isError, false, visits.text)
      for (const { people } of visits.rows)
        assert.ok(people === null || people === 0 || Number(people) >= 11, String(people))
      assert.ok(Number(visits.about.hidden_groups) > 0)
      assert.ok(visits.rows.length > 0)

      // What has no patients has no small groups.
      const plans = await call('query', {
        source: 'current_insurance_plans',
        group_by: [{ column: 'plan_name' }],
        limit: 5,
      })
      assert.equal(plans.rows.length, 5)
      assert.equal(plans.about.has_more, true)
    })

    await t.test(
      `${kind}: without --records no source has a column that tells who a patient is, and no answer a patient’s name`,
      async (t) => {
        const { call } = await startServer(t, ['--to', to], {})
        const names = await select(
          'select last_name, first_name, email, mobile_phone, date_of_birth, address_line_1, chart_number from patients',
        )
        const said = [
          ...new Set(
            names.flatMap((row) => Object.values(row)).filter((text) => typeof text === 'string' && text.length > 4),
          ),
        ] as string[]
        assert.ok(said.length > 100)
        const texts: string[] = []
        for (const { name } of groupedSources.filter(({ person }) => person !== null)) {
          const { rows } = await call('describe', { source: name })
          const sums = rows.filter(({ use }) => use === 'sum, average')
          const measures = ['sum', 'average'].flatMap((measure) => sums.map(({ column }) => ({ measure, column })))
          const keys = rows.filter(({ use }) => use === 'filter, group').map(({ column }) => ({ column }))
          for (let at = 0; at < keys.length; at += 1) {
            const asked = { source: name, group_by: keys.slice(at, at + 1), limit: 1000 }
            const answer = await call('query', { ...asked, ...(measures.length > 0 && { measures }) })
            assert.equal(answer.isError, false, `${name} by ${JSON.stringify(asked.group_by)}: ${answer.text}`)
            texts.push(answer.text)
          }
        }
        const all = texts.join('\n')
        const providers = (await select('select name from providers')).map(({ name }) => String(name)).join('\n')
        for (const text of said) assert.ok(providers.includes(text) || !all.includes(`"${text}"`), text)
        for (const [source, asked] of hostile) {
          const { isError, text } = await call('query', { source, ...asked })
          assert.ok(isError, `${source} ${JSON.stringify(asked)}: ${text}`)
        }
      },
    )

    await t.test(
      `${kind}: with --records it answers single rows of every table and view, and says no more than it was asked`,
      async (t) => {
        const { call } = await startServer(t, ['--to', to, '--records'], {})
        const [patient] = await select('select id, last_name from patients order by id limit 1')
        const one = await call('query', {
          source: 'patients',
          columns: ['id', 'last_name', 'is_hidden'],
          filters: [{ column: 'id', is: '=', value: patient?.id }],
        })
        assert.deepEqual(one.rows, [{ id: patient?.id, last_name: patient?.last_name, is_hidden: false }])
        const { rows: sources } = await call('describe')
        assert.ok(sources.length > 20)
        for (const { source } of sources) {
          const answer = await call('query', { source, limit: 1 })
          assert.equal(answer.isError, false, `${source}: ${answer.text}`)
        }
        const { rows: columns } = await call('describe', { source: 'patients' })
        const [first] = (await call('query', { source: 'patients', limit: 1 })).rows
        assert.deepEqual(
          Object.keys(first ?? {}),
          columns.map(({ column }) => column),
        )
        const oldest = await call('query', {
          source: 'patients',
          measures: [{ measure: 'min', column: 'date_of_birth' }],
        })
        const [row] = await select('select min(date_of_birth) as day from patients')
        assert.deepEqual(oldest.rows, [{ min_date_of_birth: row?.day }])
        for (const [source, asked] of hostileWithRecords) {
          const { isError, text } = await call('query', { source, ...asked })
          assert.ok(isError, `${source} ${JSON.stringify(asked)}: ${text}`)
        }
      },
    )
    if (bytes) {
      assert.ok(readFileSync(target).equals(bytes), 'not a byte of the mirror has changed')
      assert.deepEqual(
        readdirSync(dirname(target)).filter((name) => !/^copy\.sqlite(-wal|-shm)?$/.test(name)),
        [],
      )
    }
  }

  await t.test('a role that could write into the mirror is not used, whatever gives it the right', async (t) => {
    const mirror = mirrors.find(({ kind }) => kind === 'postgres') ?? assert.fail()
    const { call } = await startServer(t, ['--to', mirror.target], {})
    assert.match(
      (await call('locations')).text,
      /could (write into the mirror|reach more than this database).*create role "analyst"/,
    )
    const { admin, role } = mirror.reader ?? assert.fail()
    const asking = await startServer(t, ['--to', mirror.to], {})
    for (const right of [
      'update (last_name) on bridgework.patients',
      'create on schema bridgework',
      'truncate on bridgework.grants',
    ]) {
      await admin.query(`grant ${right} to ${role}`)
      assert.match((await asking.call('locations')).text, /could write into the mirror/, right)
      await admin.query(`revoke ${right} from ${role}`)
      assert.equal((await asking.call('locations')).isError, false, right)
    }
    const own = new pg.Client({ connectionString: mirror.to })
    await own.connect()
    t.after(() => own.end())
    await assert.rejects(own.query('delete from bridgework.patients'), /permission denied/)
  })

  await t.test('a key pair alone tells what may be read and how current it is', async (t) => {
    const { call, client } = await startServer(t, [], env)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['locations', 'freshness'],
    )
    const { rows, about } = await call('locations')
    assert.deepEqual([rows.length, about.from], [3, 'service'])
    const { rows: states } = await call('freshness')
    assert.ok(states.some((row) => row.is === 'dataset' && row.freshness !== null && 'removal_held' in row))
  })
})

/** What is refused without --records. */
const hostile: [string, Record<string, unknown>][] = [
  ['patients', {}],
  ['raw_record', {}],
  ['current_patients', { group_by: [{ column: 'last_name' }] }],
  ['current_patients', { group_by: [{ column: 'date_of_birth' }] }],
  ['current_patients', { filters: [{ column: 'email', is: '=', value: 'a@b.c' }] }],
  ['current_patients', { measures: [{ measure: 'max', column: 'balance_total' }] }],
  ['current_patients', { measures: [{ measure: 'sum', column: 'id' }] }],
  ['current_patients', { group_by: [{ column: 'status' }], measures: [] }],
  ['current_patients', { columns: ['last_name'] }],
  ['current_patients', { group_by: [{ column: 'person' }] }],
  ['current_treatments', { group_by: [{ column: 'patient_id' }] }],
  ['accounts_receivable', { group_by: [{ column: 'guarantor_id' }] }],
  ['current_patients where 1=1; drop table patients; --', {}],
  ['current_patients', { group_by: [{ column: 'status" , last_name as "x' }] }],
  ['current_patients', { filters: [{ column: 'status', is: '= 1 or 1 =', value: 'x' }] }],
  ['current_patients', { filters: [{ column: 'location_id', is: '=', value: '1) or (1=1' }] }],
  ['current_patients', { filters: [{ column: 'first_visit_on', is: '=', value: '2026-02-30' }] }],
  ['current_patients', { order_by: [{ column: '1; delete from patients' }] }],
  ['current_patients', { limit: 1_000_000 }],
  ['current_patients', { sql: 'select * from patients' }],
]

const hostileWithRecords: [string, Record<string, unknown>][] = [
  ['raw_record', {}],
  ['sqlite_schema', {}],
  ['pg_catalog.pg_authid', {}],
  ['patients', { columns: ['last_name", (select 1) as "x'] }],
  ['patients', { order_by: [{ column: 'last_name; drop table patients' }] }],
  ['patients', { filters: [{ column: 'last_name', is: '=', value: 7 }] }],
  ['patients', { columns: ['last_name'], measures: [{ measure: 'count' }] }],
]
