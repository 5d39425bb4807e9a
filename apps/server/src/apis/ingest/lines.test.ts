import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../platform/errors/problem.ts'
import { type LineBounds, takeLines, textOf } from './lines.ts'

const bounds: LineBounds = { linesMax: 3, lineBytesMax: 20, depthMax: 2, membersMax: 3 }

async function linesOf(text: string, pieceBytes = 3): Promise<string[]> {
  const bytes = Buffer.from(text)
  const taken: string[] = []
  async function* pieces() {
    for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes)
  }
  await takeLines(pieces(), bounds, {
    take(line, number) {
      taken.push(textOf(line, number, bounds))
      assert.equal(number, taken.length)
    },
  })
  return taken
}

const refusal = (text: string) =>
  linesOf(text).then(
    () => assert.fail('was taken'),
    (error) => (error instanceof Problem ? [error.code, error.members.line] : assert.fail(String(error))),
  )

test('lines are whole whatever the pieces, and a line feed at the end begins none', async () => {
  for (const size of [1, 2, 3, 100]) {
    assert.deepEqual(await linesOf('{"é":1}\n[1,2]\n"a\\"{"', size), ['{"é":1}', '[1,2]', '"a\\"{"'])
    assert.deepEqual(await linesOf('1\n2\n', size), ['1', '2'])
    assert.deepEqual(await linesOf('', size), [])
  }
})

test('a known run is taken as a whole, whatever the pieces; what only looks like one is split', async () => {
  const known = '"b"\n"c"'
  for (const [text, expected] of [
    ['"a"\n"b"\n"c"\n"d"', ['1 "a"', '2 run', '4 "d"']],
    ['"b"\n"c"', ['1 run']],
    ['"b"\n"c"\n', ['1 run']],
    ['"b"\n"c"\n"b"\n"c"\n"e"', ['1 run', '3 run', '5 "e"']],
    ['"b"\n"c"x\n"d"', ['1 "b"', '2 "c"x', '3 "d"']],
    ['"b"\n"d"\n"e"', ['1 "b"', '2 "d"', '3 "e"']],
    ['"b"\n', ['1 "b"']],
    ['"a"\n"b"', ['1 "a"', '2 "b"']],
  ] as const) {
    for (const size of [1, 2, 3, 5, 100]) {
      const taken: string[] = []
      const bytesAt = (bytes: Buffer, from: number) => {
        const length = bytes.toString('latin1', from, from + 2) === '"b' ? known.length : 0
        return size % 2 === 0 ? Promise.resolve(length) : length
      }
      const take = (bytes: Buffer, from: number, number: number) => {
        const to = from + known.length
        const isKnown = bytes.toString('latin1', from, to) === known && (to === bytes.length || bytes[to] === 0x0a)
        if (isKnown) taken.push(`${number} run`)
        return isKnown ? 2 : 0
      }
      async function* pieces() {
        const bytes = Buffer.from(text)
        for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
      }
      await takeLines(
        pieces(),
        { linesMax: 10, lineBytesMax: 20 },
        { take: (line, number) => void taken.push(`${number} ${line}`), runs: { bytesAt, take } },
      )
      // Where its first line ends in another piece, a run is not seen.
      const linesOf = (all: readonly string[]) =>
        all.flatMap((each) => (each.endsWith('run') ? [`${each[0]} "b"`, `${Number(each[0]) + 1} "c"`] : each))
      assert.deepEqual(linesOf(taken), linesOf(expected), `${text} in ${size}`)
      if (size === 100) assert.deepEqual(taken, expected)
    }
  }
})

test('lines stay whole where each might begin a run, as long as any, that turns out to be another', async () => {
  const lines = Array.from({ length: 12 }, (_, index) => `"${'x'.repeat((index * 7) % 5)}${index}"`)
  const bytes = Buffer.from(lines.join('\n'))
  for (let size = 1; size <= bytes.length; size += 1) {
    for (let runBytes = 1; runBytes <= bytes.length; runBytes += 1) {
      const taken: string[] = []
      async function* pieces() {
        for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
      }
      const runs = { bytesAt: () => runBytes, take: () => 0 }
      await takeLines(
        pieces(),
        { linesMax: 12, lineBytesMax: 20 },
        { take: (line) => void taken.push(String(line)), runs },
      )
      assert.deepEqual(taken, lines, `${size} bytes a piece, runs of ${runBytes}`)
    }
  }
})

test('a piece that has passed is read no more, what has begun in it neither', async () => {
  const taken: Buffer[] = []
  const texts: string[] = []
  async function* pieces() {
    for (const text of ['"on', 'e"\n"two', '"\n"', '3"']) yield Buffer.from(text)
  }
  const passed = (piece: Buffer) => {
    texts.push(...taken.splice(0).map(String))
    piece.fill('x')
  }
  await takeLines(pieces(), bounds, { take: (line) => void taken.push(line), passed })
  assert.deepEqual([...texts, ...taken.map(String)], ['"one"', '"two"', '"3"'])
})

test('length, number, levels and members of lines are bounded, and the line is named', async () => {
  assert.deepEqual(await refusal('1\n2\n3\n4'), ['body_too_large', undefined])
  assert.deepEqual(await refusal(`1\n${'2'.repeat(30)}`), ['body_too_large', undefined])
  assert.deepEqual(await refusal('1\n[[[]]]'), ['record_invalid', 2])
  assert.deepEqual(await refusal('{"a":{"b":[1]}}'), ['record_invalid', 1])
  assert.deepEqual(await refusal('[1,2,3,4,5]'), ['record_invalid', 1])
  assert.deepEqual(await linesOf('"[[[[,,,,,"'), ['"[[[[,,,,,"'])
})
