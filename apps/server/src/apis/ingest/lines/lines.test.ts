import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../../platform/errors/problem.ts'
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

test('length, number, levels and members of lines are bounded, and the line is named', async () => {
  assert.deepEqual(await refusal('1\n2\n3\n4'), ['body_too_large', undefined])
  assert.deepEqual(await refusal(`1\n${'2'.repeat(30)}`), ['body_too_large', undefined])
  assert.deepEqual(await refusal('1\n[[[]]]'), ['record_invalid', 2])
  assert.deepEqual(await refusal('{"a":{"b":[1]}}'), ['record_invalid', 1])
  assert.deepEqual(await refusal('[1,2,3,4,5]'), ['record_invalid', 1])
  assert.deepEqual(await linesOf('"[[[[,,,,,"'), ['"[[[[,,,,,"'])
})
