import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inSlices } from './in-slices.ts'

test('a step goes over all ids, some at each run, and begins again', async () => {
  const seen: string[][] = []
  const step = inSlices(listOf(7), async (ids) => seen.push([...ids]), 3)
  for (let run = 0; run < 7; run += 1) await step(new AbortController().signal)
  assert.deepEqual(
    seen.map((ids) => ids.length),
    [3, 3, 3, 3, 3, 3, 3],
  )
  const counts = Map.groupBy(seen.flat(), (id) => id)
  assert.deepEqual([...counts.values()].map((each) => each.length).toSorted(), [3, 3, 3, 3, 3, 3, 3])
})

test('where there are few ids, each run goes over each once; where there are none, over none', async () => {
  const seen: string[] = []
  const step = inSlices(listOf(2), async (ids) => seen.push(...ids), 3)
  for (let run = 0; run < 2; run += 1) await step(new AbortController().signal)
  assert.deepEqual(seen.toSorted(), ['1', '1', '2', '2'])
  await inSlices(listOf(0), () => assert.fail())(new AbortController().signal)
})

test('what failed is tried again at the next run', async () => {
  const seen: string[][] = []
  const step = inSlices(
    listOf(4),
    async (ids) => {
      seen.push([...ids])
      if (seen.length === 1) throw new Error('away')
    },
    2,
  )
  await assert.rejects(async () => step(new AbortController().signal), /away/)
  await step(new AbortController().signal)
  assert.deepEqual(seen[0], seen[1])
})

function listOf(count: number) {
  return async (after: string, limit: number) =>
    Array.from({ length: count }, (_, index) => String(index + 1))
      .filter((id) => Number(id) > Number(after))
      .slice(0, limit)
}
