import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type Range = { startOffset: number; endOffset: number; count: number }
type Coverage = { result: { url: string; functions: { ranges: Range[] }[] }[] }

/** What a test file runs of the source files, from what V8 counted in its processes. */
export type Reach = (file: string, offset: number) => boolean

/**
 * Reads the folder that `NODE_V8_COVERAGE` named, for `files` alone. A place was reached when the smallest range around it was run in one of the
 * processes at least; type stripping keeps all positions.
 */
export function readReach(folder: string, root: string, files: ReadonlySet<string>): Reach {
  const byUrl = new Map([...files].map((file) => [pathToFileURL(join(root, file)).href, file]))
  const ranges = new Map<string, Range[][]>()
  for (const name of globSync('*.json', { cwd: folder })) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage
    for (const { url, functions } of result) {
      const file = byUrl.get(url)
      if (!file) continue
      ranges.set(file, [...(ranges.get(file) ?? []), functions.flatMap((each) => each.ranges)])
    }
  }
  return (file, offset) => (ranges.get(file) ?? []).some((ofProcess) => isRun(ofProcess, offset))
}

function isRun(ranges: readonly Range[], offset: number): boolean {
  const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
  const smallest = around.toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset))[0]
  return (smallest?.count ?? 0) > 0
}
