import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { readLogo } from './logo.ts'
import { aPng } from './testing/test-png.ts'

test('a logo is stored as its pixels alone: comments, places and times of a photograph are gone', () => {
  const pixels = Buffer.alloc(128 * (1 + 128 * 4), 7)
  for (let row = 0; row < 128; row++) pixels[row * 513] = row % 5
  const stored = readLogo(aPng({ pixels, text: 'GPS 42.1 -71.2 <script>alert(1)</script>' }))
  assert.doesNotMatch(stored.toString('latin1'), /GPS|script|tEXt/)
  const length = stored.readUInt32BE(33)
  assert.deepEqual(inflateSync(stored.subarray(41, 41 + length)), pixels)
  assert.deepEqual(readLogo(stored), stored, 'what is stored is a logo again')
  assert.ok(readLogo(aPng({ colours: 2 })).length > 0, 'also without transparency')
})

test('what is no logo is refused with what it is: another type, a bomb, something behind the image, a damaged file', () => {
  const good = aPng()
  const flipped = Buffer.from(good)
  flipped[50] = (flipped[50] ?? 0) ^ 0xff
  const filtered = Buffer.alloc(128 * (1 + 128 * 4), 9)
  const cases: [string, Buffer, RegExp][] = [
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'), /SVG/],
    ['an SVG with a mark of its encoding', Buffer.from('\ufeff <?xml version="1.0"?><svg/>'), /SVG/],
    ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), /JPEG/],
    ['a GIF', Buffer.from('GIF89a'), /GIF/],
    ['a WebP', Buffer.from('RIFF0000WEBP'), /WebP/],
    ['nothing', Buffer.alloc(0), /no PNG/],
    ['a bomb in a small file', aPng({ pixels: Buffer.alloc(20 * 1024 * 1024) }), /pixels of its size/],
    ['too few pixels', aPng({ pixels: Buffer.alloc(10) }), /pixels of its size/],
    [
      'a size that no memory holds',
      aPng({ side: 0x7fffffff, pixels: Buffer.alloc(1) }),
      /2147483647 × 2147483647 pixels/,
    ],
    ['another size', aPng({ side: 129 }), /129 × 129/],
    ['a palette', aPng({ colours: 3, pixels: Buffer.alloc(1) }), /8-bit RGB/],
    ['16 bits', aPng({ depth: 16, pixels: Buffer.alloc(1) }), /8-bit RGB/],
    ['an interlaced one', aPng({ interlaced: true }), /interlacing/],
    ['an unknown filter', aPng({ pixels: filtered }), /damaged/],
    [
      'a web page behind the image',
      aPng({ trailing: Buffer.from('<html><script>alert(1)</script>') }),
      /follows the image/,
    ],
    ['an archive behind the image', aPng({ trailing: Buffer.from('PK\u0003\u0004') }), /follows the image/],
    ['a flipped bit', flipped, /checksum/],
    ['half of it', good.subarray(0, good.length - 20), /too early/],
    ['a file of 1 MB', Buffer.concat([good, Buffer.alloc(1024 * 1024)]), /more than 80 KiB/],
  ]
  for (const [name, bytes, because] of cases) {
    assert.throws(() => readLogo(bytes), { code: 'logo_invalid', message: because }, name)
  }
})
