import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Group, peopleMin, smallCells } from './small-groups.ts'

test('a number of 1 to 10 people is hidden, and with it the smallest other one of its line; 0 and 11 are told', () => {
  const line = (...people: number[]) =>
    people.map(
      (count, place): Group => ({ keys: [`k${place}`], people: count, cells: [{ value: count, people: count }] }),
    )
  const hidden = (...people: number[]) => smallCells(line(...people), [[0]]).flat()
  assert.deepEqual(hidden(0, 11, 40), [false, false, false])
  assert.deepEqual(hidden(10, 40, 11, 30), [true, false, true, false])
  assert.deepEqual(hidden(1, 0, 0), [true, false, false])
  assert.deepEqual(smallCells([{ keys: [], people: 3, cells: [{ value: 3, people: 3 }] }], []), [[true]])
})

test('a group of few people says nothing, also where none of them changes the number, and hides nothing of others then', () => {
  const group = (key: string, people: number, counted: number): Group => ({
    keys: [key],
    people,
    cells: [{ value: 0, people: counted }],
  })
  const hidden = (...groups: Group[]) => smallCells(groups, [[0]]).flat()
  assert.deepEqual(hidden(group('a', 3, 0), group('b', 40, 12)), [true, false])
  assert.deepEqual(hidden(group('a', 40, 0), group('b', 40, 3), group('c', 40, 30)), [false, true, true])
})

test('months of another year do not stand for a hidden month, nor days of another month for a day', () => {
  const group = (key: string, people: number): Group => ({ keys: [key], people, cells: [{ value: 1, people }] })
  const months = [group('2025-01-01', 5), group('2025-02-01', 50), group('2026-01-01', 11), group('2026-02-01', 60)]
  assert.deepEqual(smallCells(months, [[4, 0]]).flat(), [true, true, false, false])
  const days = [group('2026-01-01', 5), group('2026-01-02', 50), group('2026-02-01', 11)]
  assert.deepEqual(smallCells(days, [[7, 4, 0]]).flat(), [true, true, false])
})

test('whatever total over keys is known as well, subtracting what is told leaves nothing, or people of whom eleven are together', () => {
  const people = fc.oneof(fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 100 }))
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(people, { minLength: 16, maxLength: 16 }),
      (width, height, counts) => {
        const groups: Group[] = []
        for (let x = 0; x < width; x += 1)
          for (let y = 0; y < height; y += 1) groups.push(groupOf([x, y], counts[x * 4 + y] ?? 0))
        const hidden = smallCells(groups, [[0], [0]]).flat()
        const totals = [
          () => true,
          ...[0, 1, 2, 3].flatMap((at) => [0, 1].map((place) => (group: Group) => group.keys[place] === at)),
        ]
        for (const isIn of totals) {
          const [all, left] = [groups.filter(isIn), groups.filter((group, place) => isIn(group) && hidden[place])]
          const largest = Math.max(0, ...left.map(({ cells }) => cells[0]?.people ?? 0))
          // A line with nobody else has a total that is hidden itself.
          const isAlone = all.filter(({ cells }) => cells[0]?.people).length === left.length
          assert.ok(left.length === 0 || largest >= peopleMin || isAlone)
        }
        groups.forEach(({ cells }, place) => {
          const [count = 0] = cells.map((cell) => cell.people)
          if (count > 0 && count < peopleMin) assert.ok(hidden[place])
          if (count === 0) assert.ok(!hidden[place])
        })
      },
    ),
    { numRuns: 500 },
  )
})

function groupOf(keys: Group['keys'], people: number): Group {
  return { keys, people, cells: [{ value: 0, people }] }
}
