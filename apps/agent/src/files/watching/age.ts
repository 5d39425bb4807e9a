import type { SourceAge } from '../../connector.ts'
import type { Mapping } from '../mapping/mapping.ts'
import { filesOf, look } from './export-files.ts'

/** When each file was last written, by its name below the folder, in ms since 1970. */
type Reached = { readonly format: 1; readonly writtenAtMs: Readonly<Record<string, number>> }

/** A file's time falls by less when the clock was set back between two exports. An export of another day is older than that. */
const toleranceMs = 60 * 60 * 1000

/**
 * Compares the exports with those that were read before: an older one was put back when its file was written earlier. A file that is missing is
 * remembered, and a time that lies ahead is not, because the clock was wrong.
 */
export function compareAge(folder: string, mapping: Mapping, nowMs: number, remembered: string | null): SourceAge {
  const before = parse(remembered)
  const writtenAtMs: Record<string, number> = { ...before }
  const reasons: string[] = []
  for (const { name, path, pattern, of } of mapping.datasets.flatMap((dataset) => filesOf(folder, mapping, dataset))) {
    const modifiedAtMs = look(path)?.modifiedAtMs ?? null
    if (modifiedAtMs === null || modifiedAtMs > nowMs) continue
    // The newest file of a pattern has another name each time.
    const known = of.which === 'newest' ? pattern : name
    const earlier = before[known] ?? 0
    if (earlier - modifiedAtMs > toleranceMs) {
      reasons.push(`${name} was written at ${textOf(modifiedAtMs)}, and the one read before at ${textOf(earlier)}`)
    }
    writtenAtMs[known] = modifiedAtMs
  }
  const reached = JSON.stringify({ format: 1, writtenAtMs } satisfies Reached)
  if (reasons.length === 0) return { reached, wentBack: null }
  const what = `The exports are older than what this agent has read before: ${reasons.join('; ')}. Nothing is sent.`
  return { reached, wentBack: what }
}

function textOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

function parse(text: string | null): Reached['writtenAtMs'] {
  if (text === null) return {}
  try {
    const reached: unknown = JSON.parse(text)
    return typeof reached === 'object' && reached !== null && 'writtenAtMs' in reached
      ? (reached as Reached).writtenAtMs
      : {}
  } catch {
    return {}
  }
}
