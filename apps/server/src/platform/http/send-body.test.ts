import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { gzipMember, packText } from '../gzip/gzip-member.ts'
import { acceptedCoding, type BodyOptions, sendBody, unpack } from './send-body.ts'
import {
  assertRefusal,
  exchange,
  openConnection,
  parseAnswers,
  readAnswers,
  readToEnd,
  startTestServer,
} from './testing/test-connection.ts'

const request = 'GET /page HTTP/1.1\r\nHost: test\r\n\r\n'
const lastRequest = 'GET /page HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n'
/** More than the kernel takes for a reader that does not read. */
const large = Buffer.alloc(32 * 1024 * 1024, 'x')

/** A route that sends what the test says, and what became of each answer. */
async function servePage(
  t: TestContext,
  options: BodyOptions | ((nth: number) => BodyOptions),
  prepare?: (reply: FastifyReply) => void,
) {
  const world = {
    releases: 0,
    cuts: [] as string[],
    finished: Promise.withResolvers<void>(),
    released: Promise.withResolvers<void>(),
    releasedThrice: Promise.withResolvers<void>(),
  }
  let served = 0
  const { port, app } = await startTestServer(t, (routes) =>
    routes.get('/page', async (_request, reply) => {
      prepare?.(reply)
      served += 1
      const given = typeof options === 'function' ? options(served) : options
      try {
        await sendBody(reply, {
          ...given,
          onCut: (because) => world.cuts.push(because),
          beforeLastBytes: async () => {
            world.releases += 1
            if (world.releases === 3) world.releasedThrice.resolve()
            await given.beforeLastBytes?.()
            world.released.resolve()
          },
        })
      } finally {
        world.finished.resolve()
      }
    }),
  )
  return Object.assign(world, { port, app })
}

test('a body arrives whole, with its length and what the route set', async (t) => {
  const text = JSON.stringify({ data: 'ä'.repeat(300_000) })
  const page = await servePage(t, { body: [text.slice(0, 7), Buffer.from(text.slice(7))], coding: null }, (reply) => {
    reply.header('Link', '<?after=1>; rel="next"').code(203)
  })
  const answer = await exchange(t, page.port, lastRequest)
  assert.equal(answer.status, 203)
  assert.equal(answer.body.toString(), text)
  assert.equal(answer.headers.get('content-length'), String(Buffer.byteLength(text)))
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(answer.headers.get('content-encoding'), undefined)
  assert.equal(answer.headers.get('vary'), 'Accept-Encoding')
  assert.equal(answer.headers.get('link'), '<?after=1>; rel="next"')
  assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(page.releases, 1)
})

for (const [coding, unpack] of [
  ['gzip', gunzipSync],
  ['zstd', zstdDecompressSync],
] as const) {
  test(`a body of more than 1 KiB is packed with ${coding} for those who ask, a smaller one is not`, async (t) => {
    const body = Buffer.alloc(500_000, 'abc')
    const page = await servePage(t, (nth) => ({ body: nth === 1 ? body : 'small', coding }))
    const packed = await exchange(t, page.port, lastRequest)
    assert.equal(packed.headers.get('content-encoding'), coding)
    assert.equal(packed.headers.get('vary'), 'Accept-Encoding')
    assert.ok(packed.body.length < 10_000)
    assert.deepEqual(unpack(packed.body), body)
    const small = await exchange(t, page.port, lastRequest)
    assert.equal(small.headers.get('content-encoding'), undefined)
    assert.equal(small.body.toString(), 'small')
  })
}

test('a body that is a gzip member is sent as it is to those who take gzip, else unpacked, also when it is small', async (t) => {
  for (const plain of [Buffer.alloc(3_000_000, 'abcdefg'), Buffer.from('small')]) {
    const gzipped = gzipSync(plain)
    const codings = ['gzip', 'zstd', null] as const
    const page = await servePage(t, (nth) => ({ body: { gzipped }, coding: codings[nth % 3] ?? null }))
    for (let nth = 1; nth <= 6; nth += 1) {
      const { body, headers } = await exchange(t, page.port, lastRequest)
      const coding = headers.get('content-encoding')
      if (nth % 3 === 0) assert.deepEqual([coding, body.equals(gzipped)], ['gzip', true])
      else assert.ok((coding === 'zstd' ? zstdDecompressSync(body) : body).equals(plain), String(coding))
    }
    assert.deepEqual(gunzipSync(gzipped), plain)
  }
})

test('the bytes of a packed page are given back once the system has taken all of them', async (t) => {
  // More than the kernel takes at once, also packed.
  const plain = randomBytes(8 * 1024 * 1024).toString('base64')
  const packed = await packText(plain, 1)
  for (const coding of ['gzip', null] as const) {
    const gzipped = gzipMember([packed])
    const page = await servePage(t, { body: { gzipped }, coding })
    const { body } = await exchange(t, page.port, lastRequest)
    assert.equal((coding === 'gzip' ? gunzipSync(body) : body).toString(), plain)
    await page.finished.promise
    assert.equal(gzipped.length, 0)
  }
})

test('many large bodies leave threads free that unpack a small one', async () => {
  const [large, small] = [gzipSync(Buffer.alloc(32 * 1024 * 1024), { level: 1 }), gzipSync('small')]
  const done: string[] = []
  const named = async (name: string, packed: Buffer) => {
    await unpack(packed)
    done.push(name)
  }
  await Promise.all([...Array.from({ length: 8 }, () => named('large', large)), named('small', small)])
  assert.ok(done.indexOf('small') < 2, String(done))
})

test('a body is packed as Accept-Encoding says: with zstd where it is named, else with gzip, never with what has the quality 0', () => {
  const cases: [header: string | undefined, expected: 'gzip' | 'zstd' | null][] = [
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['deflate, gzip;q=1.0, *;q=0.5', 'gzip'],
    ['gzip;q=0', null],
    ['gzip;q=0.000', null],
    ['gzip; q=0.001', 'gzip'],
    ['*', 'gzip'],
    ['*;q=0', null],
    ['gzip;q=0, *', null],
    ['br, identity', null],
    ['gzippy', null],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd', 'zstd'],
    ['ZSTD', 'zstd'],
    ['zstd;q=0, gzip', 'gzip'],
    ['zstd;q=0.5, gzip', 'gzip'],
    ['zstd, gzip;q=0.5', 'zstd'],
    ['zstd;q=0', null],
  ]
  for (const [header, expected] of cases) assert.equal(acceptedCoding(header), expected, String(header))
  assert.equal(acceptedCoding('gzip, deflate, br, zstd', 'gzip'), 'gzip')
  assert.equal(acceptedCoding('zstd, gzip;q=0.5', 'gzip'), 'zstd')
})

test('the slot is given back before the last bytes leave', async (t) => {
  for (const size of [100, 1_000_000]) {
    const called = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const body = Buffer.alloc(size, 'x')
    const page = await servePage(t, {
      body,
      coding: null,
      beforeLastBytes: () => {
        called.resolve()
        return gate.promise
      },
    })
    const socket = await openConnection(t, page.port)
    let received = Buffer.alloc(0)
    const whole = Promise.withResolvers<void>()
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, Buffer.from(chunk)])
      if (parseAnswers(received).length > 0) whole.resolve()
    })
    socket.write(request)
    await called.promise
    assert.equal(parseAnswers(received).length, 0)
    gate.resolve()
    await whole.promise
    assert.equal(parseAnswers(received)[0]?.body.length, size)
    assert.equal(page.releases, 1)
  }
})

test('a caller that leaves at the start, in the middle or near the end frees the slot, once', async (t) => {
  for (const share of [0, 0.01, 0.5, 0.99]) {
    const page = await servePage(t, { body: large, coding: null })
    const socket = await openConnection(t, page.port)
    let received = 0
    const enough = new Promise<void>((resolve) => {
      socket.on('data', (chunk) => {
        received += chunk.length
        if (received > large.length * share) resolve()
      })
    })
    socket.write(request)
    if (share > 0) await enough
    socket.resetAndDestroy()
    await page.released.promise
    await page.finished.promise
    assert.equal(page.releases, 1, `left at ${share}`)
    assert.deepEqual(page.cuts, [])
  }
})

test('a reader that takes nothing is cut and its slot freed, while others are served', async (t) => {
  const page = await servePage(t, (nth) => ({ body: nth === 1 ? large : 'ok', coding: null, stallMs: 200 }))
  const stalled = await openConnection(t, page.port)
  stalled.pause()
  stalled.write(request)
  await new Promise((resolve) => setImmediate(resolve))
  await page.finished.promise
  assert.deepEqual(page.cuts, ['stalled'])
  assert.equal(page.releases, 1)
  assert.equal((await exchange(t, page.port, lastRequest)).body.toString(), 'ok')
})

test('a reader that trickles is cut at the deadline', async (t) => {
  const page = await servePage(t, { body: large, coding: null, stallMs: 10_000, deadlineMs: 300 })
  const socket = await openConnection(t, page.port)
  socket.pause()
  socket.write(request)
  const trickle = setInterval(() => socket.read(1024), 20)
  t.after(() => clearInterval(trickle))
  await page.finished.promise
  assert.deepEqual(page.cuts, ['too slow'])
  assert.equal(page.releases, 1)
})

test('a slow reader that goes on reading is not taken for a stalled one', async (t) => {
  const body = Buffer.alloc(12 * 1024 * 1024, 'x')
  const page = await servePage(t, { body, coding: null, stallMs: 400, deadlineMs: 20_000 })
  const socket = await openConnection(t, page.port)
  const answer = readToEnd(socket)
  // Takes 1 MiB, then rests for less than the stall time; all in all for longer than it.
  let sinceRest = 0
  socket.on('data', (chunk) => {
    sinceRest += chunk.length
    if (sinceRest < 1024 * 1024) return
    sinceRest = 0
    socket.pause()
    setTimeout(() => socket.resume(), 60)
  })
  socket.write(lastRequest)
  assert.equal((await answer).body.length, body.length)
  assert.deepEqual(page.cuts, [])
})

test('a lost slot cuts its answer', async (t) => {
  const lost = new AbortController()
  const page = await servePage(t, { body: large, coding: null, signal: lost.signal })
  const socket = await openConnection(t, page.port)
  socket.pause()
  socket.write(request)
  await new Promise<void>((resolve) => page.app.server.once('request', () => resolve()))
  lost.abort()
  await page.finished.promise
  assert.equal(page.releases, 1)
})

test('a small answer whose slot was lost meanwhile is not sent', async (t) => {
  const lost = new AbortController()
  const body = Buffer.alloc(5_000, 'x')
  const page = await servePage(t, {
    body,
    coding: null,
    signal: lost.signal,
    beforeLastBytes: async () => lost.abort(),
  })
  const socket = await openConnection(t, page.port)
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  // It is reset.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(request)
  await page.finished.promise
  await closed
  assert.equal(bytes, 0)
  assert.equal(page.releases, 1)
  assert.deepEqual(page.cuts, ['too slow'])
})

test('requests one after the other and several at once on one connection are answered in order', async (t) => {
  const page = await servePage(t, (nth) => ({
    body: Buffer.alloc(200_000 * (nth % 3) + 10, String(nth)),
    coding: null,
  }))
  const socket = await openConnection(t, page.port)
  const one = readAnswers(socket, 1)
  socket.write(request)
  assert.equal((await one)[0]?.body[0], '1'.charCodeAt(0))
  const others = readAnswers(socket, 5)
  socket.write(request.repeat(5))
  assert.deepEqual(
    (await others).map((answer) => [String.fromCharCode(answer.body[0] ?? 0), answer.body.length]),
    [2, 3, 4, 5, 6].map((nth) => [String(nth), 200_000 * (nth % 3) + 10]),
  )
  assert.equal(page.releases, 6)
})

test('answers that wait behind a stalled one are freed with it', async (t) => {
  const page = await servePage(t, { body: large, coding: null, stallMs: 200 })
  const socket = await openConnection(t, page.port)
  socket.pause()
  socket.write(request.repeat(3))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await page.finished.promise
  socket.resume()
  await closed
  await page.releasedThrice.promise
})

test('a failure before the first byte is an error answer, after it a broken connection', async (t) => {
  const fail = async () => {
    throw new Error('Jane Canary')
  }
  const small = await servePage(t, { body: 'small', coding: null, beforeLastBytes: fail })
  assertRefusal(await exchange(t, small.port, lastRequest), 500, 'internal')

  const big = await servePage(t, { body: Buffer.alloc(1_000_000), coding: null, beforeLastBytes: fail })
  const socket = await openConnection(t, big.port)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let received = 0
  socket.on('data', (chunk) => {
    received += chunk.length
  })
  socket.write(request)
  await closed
  assert.ok(received < 1_000_000)
  assert.equal(big.releases, 1)
})
