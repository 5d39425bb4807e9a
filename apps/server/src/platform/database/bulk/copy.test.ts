import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { withTimeLimit } from '../hot/timed-client.ts'
import { createTestDatabase } from '../testing/test-database.ts'
import { copyIn } from './copy.ts'

test('a COPY that is over leaves no timer, which would keep what it copied and the process for as long', async (t) => {
  const { url } = await createTestDatabase(t)
  const limitMs = 30_123
  const timers = timersOf(t, limitMs)
  const TimedClient = withTimeLimit(limitMs)
  const client = new TimedClient({ connectionString: url })
  await client.connect()
  t.after(() => client.end())
  await client.query('create temporary table copied (id bigint)')

  assert.equal(await copyIn(client, 'copy copied from stdin', Buffer.from('1\n2\n')), 2)
  assert.equal(timers.size, 0)

  await assert.rejects(copyIn(client, 'copy copied from stdin', Buffer.from('x\n')), /invalid input syntax/)
  assert.equal(timers.size, 0)
  assert.equal((await client.query('select from copied')).rowCount, 2)
})

test('the bytes of a COPY that PostgreSQL refuses are passed over, and the connection goes on', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  const client = await ownerPool.connect()
  t.after(() => client.release())
  const bytes = Buffer.alloc(4_000_000, '1\n')
  for (let times = 0; times < 3; times += 1) {
    const copied = copyIn(client, 'copy missing from stdin', bytes)
    const asked = client.query('select 1 as one')
    await assert.rejects(copied, /does not exist/)
    assert.deepEqual((await asked).rows, [{ one: 1 }])
  }
  await client.query('create temporary table copied (id bigint)')
  // What is left of a refused COPY must not become rows of the next one.
  const refused = copyIn(client, 'copy copied from stdin', Buffer.concat([Buffer.from('x\n'), bytes]))
  const copied = copyIn(client, 'copy copied from stdin', bytes)
  await assert.rejects(refused, /invalid input syntax/)
  assert.equal(await copied, 2_000_000)
  assert.equal((await client.query('select from copied')).rowCount, 2_000_000)
})

/** The timers of so many milliseconds that are set and not cleared. Others in this process, of other tests, come and go. */
function timersOf(t: TestContext, ms: number): ReadonlySet<unknown> {
  const timers = new Set<unknown>()
  const { setTimeout, clearTimeout } = globalThis
  t.mock.method(globalThis, 'setTimeout', (...given: Parameters<typeof setTimeout>) => {
    const timer = setTimeout(...given)
    if (given[1] === ms) timers.add(timer)
    return timer
  })
  t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
    timers.delete(timer)
    clearTimeout(timer)
  })
  return timers
}
