/** A change of a source text: what stands between `start` and `end` (UTF-16 units) becomes `is`. */
export type Change = {
  kind: 'comparison' | 'logic' | 'condition' | 'arithmetic' | 'statement' | 'value' | 'constant' | 'call' | 'sql'
  start: number
  end: number
  is: string
  /** The place that must be run for the change to matter, where that is not its start: of `a ?? b`, V8 counts the operator with `b`. */
  runAt?: number
}

/** One deliberate fault. `was` and `is` are in one line, and `where` is the line of the source that has it: together they name it when lines move. */
export type Mutant = Change & {
  /** From the root of the repository. */
  file: string
  line: number
  /** The function or constant at the top of the file that holds it. */
  inside: string
  where: string
  was: string
}

export function applied(text: string, { start, end, is }: Change): string {
  return text.slice(0, start) + is + text.slice(end)
}
