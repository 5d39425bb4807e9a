import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestDatabase } from './testing/test-database.ts'

test('two tests never see each other: each has a database of its own, with the schema and empty', async (t) => {
  const [one, other] = await Promise.all([createTestDatabase(t), createTestDatabase(t)])

  await one.pool.query(`insert into organization (id, name) values (1, 'One')`)

  assert.equal((await other.pool.query('select id from organization')).rowCount, 0)
})

test('K05: the server may add and read disclosures and never change or remove one', async (t) => {
  const { pool } = await createTestDatabase(t)

  await pool.query('select id from disclosure')
  for (const statement of [
    'delete from disclosure',
    'update disclosure set records = 2',
    'truncate disclosure',
    'drop table disclosure',
  ]) {
    await assert.rejects(pool.query(statement), { code: '42501' }, statement)
  }
})

test('K06: the server may add to and read what people did in the portal and never change or remove it', async (t) => {
  const { pool } = await createTestDatabase(t)
  await pool.query(
    `insert into audit_event (side, actor, action) values ('account', 'Olga <olga@example.com>', 'account.sign_in')`,
  )
  assert.equal((await pool.query('select id from audit_event')).rowCount, 1)
  for (const statement of [
    'delete from audit_event',
    `update audit_event set actor = 'nobody'`,
    'truncate audit_event',
    'drop table audit_event',
  ]) {
    await assert.rejects(pool.query(statement), { code: '42501' }, statement)
  }
})

test('the server cannot rewrite which migrations were applied', async (t) => {
  const { pool } = await createTestDatabase(t)

  assert.notEqual((await pool.query('select number from migration')).rowCount, 0)
  await assert.rejects(pool.query('delete from migration'), { code: '42501' })
})
