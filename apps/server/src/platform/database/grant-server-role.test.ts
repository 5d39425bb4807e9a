import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { grantServerRole } from './grant-server-role.ts'
import { createTestDatabase } from './testing/test-database.ts'

/** Roles belong to a cluster, so this one has the name of the test's database. */
async function someRole(t: TestContext) {
  const { url, ownerPool } = await createTestDatabase(t)
  const role = new URL(url).pathname.slice(1)
  const admin = new pg.Client({ connectionString: superuserUrlOf(url) })
  await admin.connect()
  await admin.query(`create role ${role}`)
  t.after(async () => {
    await admin.query(`drop owned by ${role}`)
    await admin.query(`drop role ${role}`)
    await admin.end()
  })
  return { role, ownerPool }
}

function superuserUrlOf(url: string): string {
  const { username } = new URL(process.env.BRIDGEWORK_TEST_DATABASE_URL ?? '')
  return Object.assign(new URL(url), { username }).href
}

const appendOnly = ['audit_event', 'disclosure', 'practice_seal', 'seal', 'seal_key_change']
const readOnly = ['disclosure_drop', 'migration']

test('K05, K06: the server’s role may add to and read what is on record, only read what was migrated and dropped, and change every other row', async (t) => {
  const { role, ownerPool } = await someRole(t)

  await grantServerRole(ownerPool, role)

  const { rows } = await ownerPool.query<{ name: string; rights: string[] }>(
    `select c.relname as name,
            array(select right_name from unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) right_name
                   where has_table_privilege($1, c.oid, right_name)) as rights
       from pg_class c
      where c.relnamespace::regnamespace::text = any(current_schemas(false)) and c.relkind in ('r', 'p') and not c.relispartition
      order by 1`,
    [role],
  )
  const named = (names: readonly string[]) => rows.filter(({ name }) => names.includes(name))
  assert.deepEqual(
    named(appendOnly),
    appendOnly.map((name) => ({ name, rights: ['select', 'insert'] })),
  )
  assert.deepEqual(
    named(readOnly),
    readOnly.map((name) => ({ name, rights: ['select'] })),
  )
  const others = rows.filter(({ name }) => ![...appendOnly, ...readOnly].includes(name))
  assert.ok(others.length > 40)
  assert.deepEqual(
    others.filter(({ rights }) => String(rights) !== 'select,insert,update,delete'),
    [],
  )
})

test('an owner keeps all rights, and a role that does not exist is named', async (t) => {
  const { ownerPool } = await someRole(t)

  await grantServerRole(ownerPool, 'bridgework_owner')

  const { rows } = await ownerPool.query(`select has_table_privilege('disclosure', 'delete') as may`)
  assert.deepEqual(rows, [{ may: true }])
  await assert.rejects(grantServerRole(ownerPool, 'nobody_here'), /The role "nobody_here" .* does not exist/)
})
