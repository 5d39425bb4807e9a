import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { datasetNames, vendorApiPath } from '@bridgework/contract'
import pg from 'pg'
import { listRoutes } from '../../../platform/http/testing/test-routes.ts'
import { aPlan, aRecord, someWorld } from '../../../testing/test-world.ts'

type Plan = { 'Relation Name'?: string; Plans?: Plan[]; [property: string]: unknown }

/** Properties of a plan's node that choose its rows. */
const conditions = ['Index Cond', 'Recheck Cond', 'Filter', 'Hash Cond', 'Merge Cond', 'Join Filter']

/** The texts of all statements that this process sends from now on. */
function watchStatements(): Set<string> {
  const texts = new Set<string>()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text?: string }]
    const text = typeof statement === 'string' ? statement : statement.text
    if (text !== undefined) texts.add(text)
    return Reflect.apply(query, this, args)
  } as typeof query
  after(() => {
    pg.Client.prototype.query = query
  })
  return texts
}

/** The tables of these that the plan reads without a condition on location, company or agent: the node's own, or that of the join above it. */
function unbounded(plan: Plan, tables: ReadonlySet<string>, above = ''): string[] {
  const own = conditions.map((name) => String(plan[name] ?? '')).join(' ')
  const table = plan['Relation Name']
  const isBounded = /\b(location_id|company_id|agent_id)\b/.test(`${own} ${above}`)
  const isRead = plan['Node Type'] !== 'ModifyTable' && table !== undefined && tables.has(table)
  const here = isRead && !isBounded ? [table] : []
  return [...here, ...(plan.Plans ?? []).flatMap((child) => unbounded(child, tables, own))]
}

test('A16: each statement of a vendor’s request and of an agent’s reads rows of its location, company or agent alone', async (t) => {
  const world = await someWorld(t)
  const { rows } = await world.pool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind in ('r', 'p') and a.attname = 'location_id' and c.relnamespace::regnamespace::text = any(current_schemas(false))`,
  )
  const tables = new Set(rows.map(({ name }) => name))
  assert.ok(tables.has('record') && tables.has('dataset_grant'))

  const location = await world.addLocation()
  const vendor = await world.addVendor([location])

  const texts = watchStatements()
  for (const dataset of datasetNames) {
    const both = { a: aRecord(dataset), b: aRecord(dataset) }
    assert.equal((await location.upload(dataset, both)).status, 200)
    assert.equal((await location.upload(dataset, { b: null })).status, 200)
  }
  // Sent again, the same lines are known by their body, and some fewer by themselves.
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, number) => [`p${number}`, aPlan({ plan_name: `${number}` })]))
  for (const [count, stored] of [
    [1_500, { inserted: 1_500 }],
    [1_500, { unchanged: 1_500 }],
    [1_400, { unchanged: 1_400 }],
  ] as const) {
    assert.partialDeepStrictEqual((await location.upload('insurance_plans', many(count))).body, stored)
  }
  const patient = (await vendor.get(`/locations/${location.id}/patients`)).body.data[0]?.id
  const routes = listRoutes(world.app).filter((route) => route.startsWith(`GET ${vendorApiPath}/`))
  for (const path of routes.map((route) => route.slice(`GET ${vendorApiPath}`.length))) {
    const filled = path.replace(':organization_id', location.organizationId).replace(':location_id', location.id)
    for (const query of [
      '',
      '?modified_since=2020-01-01T00:00:00Z',
      `?patient_id=${patient}`,
      '?starts_after=2020-01-01T00:00:00Z',
    ]) {
      await vendor.get(`${filled.replace(':id', String(patient))}${query}`)
    }
  }
  const onTables = [...texts].filter(
    (text) => /^\s*(select|with|insert|update|delete)\b/.test(text) && [...tables].some((name) => text.includes(name)),
  )
  const found: string[] = []
  for (const text of onTables) {
    const answer = await world.pool.query(`explain (generic_plan, format json, costs off) ${text}`)
    const [{ Plan: plan }] = answer.rows[0]['QUERY PLAN']
    found.push(...unbounded(plan, tables).map((table) => `${table}: ${text}`))
  }
  assert.equal(onTables.filter((text) => text.includes('packed_body')).length, 2)
  assert.ok(onTables.length > 30, `${onTables.length} statements`)
  assert.deepEqual(found, [])
})
