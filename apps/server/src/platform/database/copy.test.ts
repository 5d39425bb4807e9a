import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyIn, copyOut } from './copy.ts'
import { createTestDatabase } from './test-database.ts'
import { withTimeLimit } from './timed-client.ts'

test('a COPY that is over leaves no timer, which would keep what it copied and the process for as long', async (t) => {
  const { url } = await createTestDatabase(t)
  const TimedClient = withTimeLimit(600_000)
  const client = new TimedClient({ connectionString: url })
  await client.connect()
  t.after(() => client.end())
  await client.query('create temporary table copied (id bigint)')
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()

  assert.equal(await copyIn(client, 'copy copied from stdin', [Buffer.from('1\n2\n')]), 2)
  assert.equal(timers(), before)

  const chunks = await Array.fromAsync(copyOut(client, 'copy copied to stdout'))
  assert.equal(Buffer.concat(chunks).toString(), '1\n2\n')
  assert.equal(timers(), before)

  await assert.rejects(copyIn(client, 'copy copied from stdin', [Buffer.from('x\n')]), /invalid input syntax/)
  await assert.rejects(Array.fromAsync(copyOut(client, 'copy missing to stdout')), /does not exist/)
  assert.equal(timers(), before)
  assert.equal((await client.query('select from copied')).rowCount, 2)
})

test('the bytes of a COPY that PostgreSQL refuses are passed over, and the connection goes on', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  const client = await ownerPool.connect()
  t.after(() => client.release())
  const chunks = Array<Buffer>(40).fill(Buffer.alloc(100_000, '1\n'))
  for (let times = 0; times < 3; times += 1) {
    const copied = copyIn(client, 'copy missing from stdin', chunks)
    const asked = client.query('select 1 as one')
    await assert.rejects(copied, /does not exist/)
    assert.deepEqual((await asked).rows, [{ one: 1 }])
  }
  await client.query('create temporary table copied (id bigint)')
  assert.equal(await copyIn(client, 'copy copied from stdin', chunks), 2_000_000)
})
