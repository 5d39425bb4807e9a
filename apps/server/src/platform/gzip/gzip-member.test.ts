import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { crc32, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { combineCrc32 } from './crc32-combine.ts'
import { gzipMember, packText } from './gzip-member.ts'

const seed = randomInt(2 ** 31)
const part = fc.record({
  text: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    // Longer than a stored block may be.
    fc.string({ minLength: 1, maxLength: 20 }).map((text) => text.repeat(8_000)),
  ),
  level: fc.constantFrom(null, 1, 6),
})

test('the CRC-32 of two texts together comes from that of each', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', maxLength: 2_000 }), (first, second) => {
      const combined = combineCrc32(crc32(first), crc32(second), Buffer.byteLength(second))
      assert.equal(combined, crc32(first + second))
    }),
    { seed },
  )
  // As long as the length field of gzip allows.
  const zeros = Buffer.alloc(2 ** 20)
  let long = crc32('a')
  for (let count = 0; count < 4096; count += 1) long = combineCrc32(long, crc32(zeros), zeros.length)
  let doubled = crc32(zeros)
  for (let length = 2 ** 20; length < 2 ** 32; length *= 2) doubled = combineCrc32(doubled, doubled, length)
  assert.equal(combineCrc32(crc32('a'), doubled, 2 ** 32), long)
})

test('packed and stored texts make one gzip member, which zlib, gzip and Python read, and which has no flags', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const check = async (parts: { text: string; level: number | null }[], readers: ((body: Buffer) => Buffer)[]) => {
    const body = gzipMember(
      await Promise.all(parts.map(({ text, level }) => (level === null ? text : packText(text, level)))),
    )
    const whole = Buffer.from(parts.map(({ text }) => text).join(''))
    for (const read of readers) assert.ok(read(body).equals(whole))
    assertOneMember(body, whole)
  }
  const others = [
    ...(has('gzip') ? [(input: Buffer) => execFileSync('gzip', ['-dc'], { input, maxBuffer })] : []),
    ...(has('python3') ? [(input: Buffer) => execFileSync('python3', ['-c', python], { input, maxBuffer })] : []),
  ]
  assert.ok(others.length > 0, 'no other reader on this machine')
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), (parts) => check(parts, [gunzipSync])),
    { seed, numRuns: 60 },
  )
  for (const parts of fc.sample(fc.array(part, { maxLength: 6 }), { seed, numRuns: 3 })) {
    await check(parts, [gunzipSync, ...others])
  }
})

/** Reads header and trailer by RFC 1952 and the blocks between them by zlib, which must end where the trailer begins. */
function assertOneMember(body: Buffer, text: Buffer): void {
  assert.deepEqual([...body.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
  assert.equal(body.readUInt32LE(body.length - 8), crc32(text))
  assert.equal(body.readUInt32LE(body.length - 4), text.length)
  const { buffer, engine } = gunzipSync(body, { info: true }) as unknown as {
    buffer: Buffer
    engine: { bytesWritten: number }
  }
  assert.equal(engine.bytesWritten, body.length, 'a second member, or bytes after the first')
  assert.equal(buffer.length, text.length)
}

const maxBuffer = 2 ** 26
const python = 'import gzip, sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))'

function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
