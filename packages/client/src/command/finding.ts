import { printable } from './table.ts'

/** `ok`: nothing to do. `note`: worth knowing. `problem`: `advice` says what to do. */
export type Finding = { check: string; result: 'ok' | 'note' | 'problem'; text: string; advice?: string }

/** A finding as people read it in a terminal. */
export function lineOf({ check, result, text, advice }: Finding): string {
  const mark = { ok: 'ok     ', note: 'note   ', problem: 'PROBLEM' }[result]
  const line = `${mark}  ${check.padEnd(11)}  ${printable(text)}\n`
  return advice ? `${line}                      → ${printable(advice)}\n` : line
}

/** Findings as a table for a pull request or a ticket. */
export function markdownOf(title: string, findings: readonly Finding[]): string {
  const rows = findings.map(({ check, result, text, advice }) => [check, result, advice ? `${text} ${advice}` : text])
  const lines = [['check', 'result', 'what was seen'], ['---', '---', '---'], ...rows]
  return `# ${escaped(title)}\n\n${lines.map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n')}\n`
}

/** What a program has said has no meaning of its own in Markdown. */
function escaped(text: string): string {
  return printable(text).replace(/[\\`*_[\]<>|#]/g, (mark) => (mark === '_' ? mark : `\\${mark}`))
}
