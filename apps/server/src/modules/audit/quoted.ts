/**
 * A text that somebody else wrote (a name, a purpose, a note) as our sentences show it: in quotation marks, in one line. Inside, a double
 * quotation mark of any script is \", a line break \n, and what is not seen or turns the text \u{…}, so no text looks like the end of its quotation.
 */
export function quoted(text: string): string {
  return `“${text.toWellFormed().replaceAll(unclear, shown)}”`
}

/** Unicode's Quotation_Mark without single ones, which names have; what looks like a double one; and two single ones. */
const unclear =
  /\\|(?<break>\r\n|[\n\v\f\r\x85\u2028\u2029])|(?<mark>[\p{Quotation_Mark}--['‘’‚‛‹›]]|[ˮ˝″‴‶‷⁗]|['‘’‚‛`´′‵]{2,})|[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gv

function shown(found: string, ...parts: unknown[]): string {
  const { break: lineBreak, mark } = parts.at(-1) as Record<'break' | 'mark', string | undefined>
  if (found === '\\') return '\\\\'
  if (lineBreak !== undefined) return '\\n'
  if (mark !== undefined) return '\\"'
  return `\\u{${found.codePointAt(0)?.toString(16)}}`
}
