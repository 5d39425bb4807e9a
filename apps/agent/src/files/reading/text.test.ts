import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../testing/test-agent.ts'
import { noContent, readText } from './text.ts'

async function textOf(t: TestContext, bytes: string | Buffer, encoding: string | null = null) {
  const path = join(temporaryFolder(t), 'a.csv')
  writeFileSync(path, bytes)
  const content = noContent()
  const parts = await Array.fromAsync(readText(path, 'a.csv', encoding, content))
  return { text: parts.join(''), endsLine: content.endsLine, hash: content.hash.digest('hex') }
}

test('an encoding is found by its mark or its content, or is what the mapping says', async (t) => {
  const read = async (bytes: string | Buffer, encoding?: string) => (await textOf(t, bytes, encoding ?? null)).text
  const text = 'Id,Näme\n1,Łukasz €\n'
  const little = Buffer.from(text, 'utf16le')
  assert.equal(await read(text), text)
  assert.equal(await read(`\ufeff${text}`), text)
  assert.equal(await read(little), text)
  assert.equal(await read(Buffer.from(little).swap16()), text)
  assert.equal(await read(Buffer.from(`\ufeff${text}`, 'utf16le'), 'windows-1252'), text, 'a mark counts more')
  assert.equal(await read(little, 'utf-16le'), text)
  assert.equal(await read(Buffer.from([0x80, 0x2c, 0xe9, 0x9f]), 'windows-1252'), '€,éŸ')
  assert.equal(await read(Buffer.from([0xa3, 0xea]), 'windows-1250'), 'Łę')
  assert.equal(await read(Buffer.from([0xc4, 0xe0]), 'windows-1251'), 'Да')
  assert.equal(await read(Buffer.from([0x84, 0xa0]), 'ibm866'), 'Да')
  // Zeros of an old program in UTF-8 are no UTF-16.
  assert.equal(await read('1,Ada\u0000\u0000,x\n'), '1,Ada\u0000\u0000,x\n')
  await assert.rejects(
    read(Buffer.from([0x31, 0x0a, 0x32, 0x0a, 0xe9, 0x2c])),
    /a\.csv, line 3: is not valid utf-8; set its encoding/,
  )
  await assert.rejects(
    read(Buffer.from([0x41, 0x00, 0x0a, 0x00, 0x00, 0xd8, 0x41, 0x00]), 'utf-16le'),
    /line 2: is not valid utf-16le\./,
  )
})

test('code pages of DOS are read as the C library reads them, byte for byte', async (t) => {
  // Without the ends of lines and of the file, which are not the encoding's.
  const bytes = Buffer.from(
    Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => ![10, 13, 26].includes(byte)),
  )
  for (const page of ['437', '850']) {
    const input = Buffer.concat([bytes, Buffer.from('\n')])
    const expected = execFileSync('iconv', ['-f', `CP${page}`, '-t', 'UTF-8'], { input }).toString()
    for (const label of [`cp${page}`, `IBM${page}`]) assert.equal((await textOf(t, input, label)).text, expected, label)
  }
  assert.equal((await textOf(t, Buffer.from([0x4d, 0x81, 0x9b]), 'cp437')).text, 'Mü¢')
  assert.equal((await textOf(t, Buffer.from([0x4d, 0x81, 0x9b]), 'cp850')).text, 'Müø')
})

test('every line end is a line feed, and a single carriage return only where lines end with it', async (t) => {
  const read = async (bytes: string) => (await textOf(t, bytes)).text
  assert.equal(await read('a\r\nb\r\n'), 'a\nb\n')
  assert.equal(await read('a\rb\r'), 'a\nb\n')
  assert.equal(await read('a\n"b\rc"\n'), 'a\n"b\rc"\n')
  assert.equal(await read('a\r\n"b\rc"\r\nd'), 'a\n"b\rc"\nd')
  // A pair that two parts of the file share.
  const long = `${'x'.repeat(256 * 1024 - 1)}\r\ny\r\n`
  assert.equal(await read(long), long.replaceAll('\r\n', '\n'))
})

test('whether a line end follows the last line', async (t) => {
  const ends = async (bytes: string | Buffer) => (await textOf(t, bytes)).endsLine
  assert.deepEqual(await Promise.all(['a\n', 'a\r\n', 'a\r', '', 'a\n\u001a', 'a', 'a\nb'].map(ends)), [
    true,
    true,
    true,
    true,
    true,
    false,
    false,
  ])
  assert.deepEqual(
    [await ends(Buffer.from('aaaa\nb\n', 'utf16le')), await ends(Buffer.from('aaaa\nb', 'utf16le'))],
    [true, false],
  )
})
