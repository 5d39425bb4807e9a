/**
 * Rows in parts of at most 1,000 rows or some 1 MB: what a statement carries is copied several times on its way, and the process serves others
 * between two. One row alone may be larger: a fee schedule has up to 4 MB. The first part is a quarter of that, because PostgreSQL has nothing to
 * do before it comes.
 */
export function* partsOf<Row>(rows: readonly Row[], bytesOf: (row: Row) => number): Generator<readonly Row[]> {
  let from = 0
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    bytes += bytesOf(row)
    const share = from === 0 ? firstShare : 1
    if (index + 1 - from < partRows * share && bytes < partBytes * share) continue
    yield rows.slice(from, index + 1)
    from = index + 1
    bytes = 0
  }
  if (from < rows.length) yield rows.slice(from)
}

const partRows = 1_000
const partBytes = 1_000_000
const firstShare = 0.25
