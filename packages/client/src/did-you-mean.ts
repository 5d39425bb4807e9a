/** ` Did you mean "…"?` with the word that is almost this one, or '' when none is. */
export function didYouMean(word: string, words: readonly string[]): string {
  const distances = words.map((known) => ({ known, distance: distanceOf(plain(word), plain(known)) }))
  const [best] = distances.sort((left, right) => left.distance - right.distance)
  // One sign of three may be wrong, so that short words are not like any other.
  return best && best.distance * 3 <= plain(best.known).length ? ` Did you mean "${best.known}"?` : ''
}

/** Refuses options that a method does not know: a filter that is ignored would return everything. Throws TypeError. */
export function refuseUnknownOptions(method: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new TypeError(
    `Unknown option "${unknown}" of ${method}.${didYouMean(unknown, known)} Options: ${known.join(', ')}.`,
  )
}

/** `modified_since` is `modifiedSince`. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '')
}

/** How many signs must be put in, taken out or changed: Levenshtein's distance, a row of its table at a time. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const before = row
    row = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const [above = 0, left = 0, corner = 0] = [before[j], row[j - 1], before[j - 1]]
      row.push(Math.min(above + 1, left + 1, corner + (isSame ? 0 : 1)))
    }
  }
  return row.at(-1) ?? 0
}
