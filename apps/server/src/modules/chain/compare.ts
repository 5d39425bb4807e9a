import type { HashedEntry } from './run.ts'
import { markBytes } from './seal.ts'

/**
 * Says what differs between the entries of a run as they are and the marks that were kept of them when they were sealed: which were changed,
 * removed, added or moved. Empty when the marks show no difference.
 */
export function compareMarks(name: string, entries: readonly HashedEntry[], marks: Buffer): string[] {
  const expected = Array.from({ length: Math.floor(marks.length / markBytes) }, (_, index) =>
    marks.toString('hex', index * markBytes, (index + 1) * markBytes),
  )
  const actual = entries.map(({ hash }) => hash.toString('hex', 0, markBytes))
  const [known, present] = [new Set(expected), new Set(actual)]
  const found: string[] = []
  let [left, right] = [0, 0]
  while (left < expected.length || right < actual.length) {
    const [was, is] = [expected[left], actual[right]]
    const id = entries[right]?.id
    const isGone = was !== undefined && !present.has(was)
    const isNew = is !== undefined && !known.has(is)
    if (was === is) [left, right] = [left + 1, right + 1]
    else if (isGone && isNew) {
      found.push(`The ${name} ${id} was changed.`)
      ;[left, right] = [left + 1, right + 1]
    } else if (isGone || is === undefined) {
      found.push(`One ${name} ${placeOf(entries, right)} was removed.`)
      left += 1
    } else if (isNew || was === undefined) {
      found.push(`The ${name} ${id} was added.`)
      right += 1
    } else {
      found.push(`The ${name} ${id} stands in another place than when it was sealed.`)
      ;[left, right] = [left + 1, right + 1]
    }
  }
  return found
}

function placeOf(entries: readonly HashedEntry[], index: number): string {
  const [before, after] = [entries[index - 1]?.id, entries[index]?.id]
  if (before !== undefined && after !== undefined) return `between ${before} and ${after}`
  if (before !== undefined) return `after ${before}`
  return after === undefined ? 'of this seal' : `before ${after}`
}
