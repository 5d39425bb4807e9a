import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { copyIn, copyOut } from './copy.ts'
import { createTestDatabase } from './test-database.ts'
import { withTimeLimit } from './timed-client.ts'

test('a COPY that is over leaves no timer, which would keep what it copied and the process for as long', async (t) => {
  const { url } = await createTestDatabase(t)
  const limitMs = 30_123
  const timers = timersOf(t, limitMs)
  const TimedClient = withTimeLimit(limitMs)
  const client = new TimedClient({ connectionString: url })
  await client.connect()
  t.after(() => client.end())
  await client.query('create temporary table copied (id bigint)')

  assert.equal(await copyIn(client, 'copy copied from stdin', [Buffer.from('1\n2\n')]), 2)
  assert.equal(timers.size, 0)

  const chunks = await Array.fromAsync(copyOut(client, 'copy copied to stdout'))
  assert.equal(Buffer.concat(chunks).toString(), '1\n2\n')
  assert.equal(timers.size, 0)

  await assert.rejects(copyIn(client, 'copy copied from stdin', [Buffer.from('x\n')]), /invalid input syntax/)
  await assert.rejects(Array.fromAsync(copyOut(client, 'copy missing to stdout')), /does not exist/)
  assert.equal(timers.size, 0)
  assert.equal((await client.query('select from copied')).rowCount, 2)
})

test('the chunks of a COPY stay as they are while the next ones come', async (t) => {
  const { ownerPool } = await createTestDatabase(t)
  const client = await ownerPool.connect()
  t.after(() => client.release())
  const count = 200_000
  const chunks = await Array.fromAsync(
    copyOut(client, `copy (select lpad(n::text, 40, 'x') from generate_series(1, ${count}) n) to stdout`),
  )
  const lines = Buffer.concat(chunks).toString().split('\n')
  const expected = Array.from({ length: count }, (_, index) => String(index + 1).padStart(40, 'x'))
  assert.ok(lines.join('\n') === `${expected.join('\n')}\n`)
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

for (const end of ['ends', 'fails']) {
  test(`a source that ${end} after PostgreSQL refused its COPY neither ends nor spoils the next COPY`, async (t) => {
    const { ownerPool } = await createTestDatabase(t)
    const client = await ownerPool.connect()
    t.after(() => client.release())
    await client.query('create temporary table copied (id bigint)')
    const late = Promise.withResolvers<void>()
    const refused = copyIn(client, 'copy copied from stdin', refusedFirst(late.promise))
    await assert.rejects(refused, /invalid input syntax/)

    async function* next() {
      yield Buffer.from('1\n')
      if (end === 'ends') late.resolve()
      else late.reject(new Error('the source failed late'))
      await sleep(20)
      yield Buffer.from('2\n')
    }
    assert.equal(await copyIn(client, 'copy copied from stdin', next()), 2)
  })
}

/** Bytes that PostgreSQL refuses, and then none for a while. */
async function* refusedFirst(end: Promise<void>): AsyncGenerator<Buffer> {
  yield Buffer.from('x\n')
  await end
}

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
