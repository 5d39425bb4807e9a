// Row codes such as A12: where documents cite them and tests carry them.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The heading of docs/security.md below which a code means: no test carries it yet. */
export const notYet = '## Not yet tested'

/** Row codes in code quotes: `A12`. */
export function citedCodes(text: string): string[] {
  return [...text.matchAll(/`([A-Z]\d{2})`/g)].map(([, code = '']) => code)
}

/** The test files whose tests carry each code, at the beginning of their names ("A12: …", "T06, T07: …"). */
export function testsByCode(): ReadonlyMap<string, readonly string[]> {
  const files = globSync('{apps,packages,bench,scripts}/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] })
  const carried = files.toSorted().flatMap((file) => {
    const names = readFileSync(join(root, file), 'utf8').matchAll(
      /\b(?:test|it|describe)\(\s*['"`]((?:[A-Z]\d{2}(?:, )?)+): /g,
    )
    const codes = new Set([...names].flatMap(([, each = '']) => each.split(', ')))
    return [...codes].map((code) => ({ code, file }))
  })
  const byCode = Map.groupBy(carried, ({ code }) => code)
  return new Map([...byCode].map(([code, each]) => [code, each.map(({ file }) => file)]))
}

/** The codes of tests and of the rows of `npm run soak`. */
export function carriedCodes(): ReadonlySet<string> {
  const soaks = readFileSync(join(root, 'bench/src/soak/rows.ts'), 'utf8').matchAll(/\bid: '([A-Z]\d{2})'/g)
  return new Set([...testsByCode().keys(), ...[...soaks].map(([, code = '']) => code)])
}
