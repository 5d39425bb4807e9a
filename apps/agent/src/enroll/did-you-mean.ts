/** " Did you mean …?" when one of the names is close to what was typed, else nothing. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .filter(({ name, distance }) => distance <= Math.max(2, name.length / 4))
    .sort((left, right) => left.distance - right.distance)
  return best === undefined ? '' : ` Did you mean "${best.name}"?`
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same))
    }
    row = next
  }
  return row[right.length] ?? 0
}
