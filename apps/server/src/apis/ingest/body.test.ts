import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { giveBack } from '../../platform/memory/own-bytes.ts'
import { endsMemory, openBody } from './body.ts'
import type { LargeBodies } from './large-bodies.ts'

test('what is unpacked comes in chunks whose memory can be given back, each when all of it was read', async () => {
  const text = Buffer.from(Array.from({ length: 60_000 }, (_, index) => `line ${index}`).join('\n'))
  const message = { headers: { 'content-encoding': 'gzip' }, complete: true }
  const payload = Object.assign(Readable.from([gzipSync(text)]), message)
  // Of a request, a body reads these members only.
  const request = { body: payload, routeOptions: { bodyLimit: 1024 * 1024 } } as unknown as FastifyRequest
  const read: Buffer[] = []
  const lengths: number[] = []

  await openBody(request, {} as LargeBodies).read(async (pieces) => {
    for await (const piece of pieces) {
      read.push(Buffer.from(piece))
      if (!endsMemory(piece)) continue
      giveBack(piece)
      lengths.push(piece.length)
    }
  })

  assert.ok(Buffer.concat(read).equals(text))
  assert.deepEqual(lengths, [0, 0])
})
