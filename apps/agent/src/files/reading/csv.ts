/** A row of text, and the line on which it begins; or the rule that it breaks. `text`: the whole line, where columns have places in it. */
export type CsvRow = { readonly line: number; readonly fields: readonly string[]; readonly text?: string }
export type CsvFault = { readonly line: number; readonly rule: string }

/** `standard`: RFC 4180, a quotation mark within a quoted field is doubled. `backslash`: it follows a `\`. `text`: it is a character like others. */
export type Quotes = 'standard' | 'backslash' | 'text'

/** Longer lines, and texts that run over more lines than this, come from a quotation mark that is never closed. */
export const charactersMax = 4 * 1024 * 1024

type Line = { readonly number: number; readonly text: string }

/**
 * The rows of delimited text with line feeds, in flat memory. A row that breaks a rule comes as a fault, and reading goes on with the next
 * line: also after a quotation mark that is never closed, which would take the rest of the file for one field. `delimiter` is asked for the first
 * line: a line `sep=;` of a spreadsheet names another one and is no row.
 */
export async function* readCsv(
  text: AsyncIterable<string>,
  format: { readonly delimiter: string; readonly quotes: Quotes },
): AsyncGenerator<CsvRow | CsvFault> {
  let { delimiter } = format
  let waiting: Line[] = []
  let open: OpenRow | null = null
  let isFirst = true

  /** Reads lines until one is missing. A row that cannot be closed is given up, and its other lines are read again. */
  function* read(lines: Line[], isLast: boolean): Generator<CsvRow | CsvFault> {
    waiting = lines
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      if (isFirst) {
        isFirst = false
        const named = /^"?sep=(.)"?$/.exec(line.text)?.[1]
        if (named !== undefined) {
          delimiter = named
          continue
        }
      }
      if (line.text.length > charactersMax) {
        yield { line: line.number, rule: tooLong }
        continue
      }
      open ??= new OpenRow(delimiter, format.quotes)
      const outcome = open.add(line)
      if (outcome === 'open') {
        if (open.characters > charactersMax) yield giveUp(open, neverClosed)
        continue
      }
      if (typeof outcome === 'string') yield giveUp(open, outcome)
      else {
        yield { line: open.firstLine, fields: outcome }
        open = null
      }
    }
    if (!isLast || open === null) return
    yield giveUp(open, neverClosed)
    yield* read(waiting, isLast)
  }
  const giveUp = (row: OpenRow, rule: string): CsvFault => {
    waiting = [...row.lines.slice(1), ...waiting]
    open = null
    return { line: row.firstLine, rule }
  }

  for await (const lines of linesOf(text)) yield* read(lines, false)
  yield* read([], true)
}

export const tooLong = 'is longer than 4 MB; check for a quotation mark that is never closed'
const neverClosed = 'has a quotation mark that is never closed'
const afterClosing = 'has something between a closing quotation mark and the next delimiter; check the delimiter'
const withinField =
  'has a quotation mark within a field that does not begin with one; if they are text, set quotes = "text"'

/** A row that is being read. Its text may run over several lines within quotation marks. */
class OpenRow {
  readonly lines: Line[] = []
  characters = 0
  readonly #delimiter: string
  readonly #quotes: Quotes
  readonly #fields: string[] = []
  #quoted: string | null = null

  constructor(delimiter: string, quotes: Quotes) {
    this.#delimiter = delimiter
    this.#quotes = quotes
  }

  get firstLine(): number {
    return this.lines[0]?.number ?? 1
  }

  /** The fields when the row ends with this line, `open` when it does not, or the rule that it breaks. */
  add(line: Line): readonly string[] | 'open' | (string & {}) {
    this.lines.push(line)
    this.characters += line.text.length + 1
    const { text } = line
    if (this.#quoted === null && (this.#quotes === 'text' || !text.includes('"'))) return text.split(this.#delimiter)
    let at = 0
    if (this.#quoted !== null) {
      const end = this.#readQuoted(text, 0)
      if (end === null) return 'open'
      const next = this.#afterQuoted(text, end)
      if (next === null) return afterClosing
      at = next
    }
    while (at <= text.length) {
      // A spreadsheet's ="007" is the text 007.
      const opening = /^[ \t]*=?"/.exec(text.slice(at, at + 20))
      if (opening !== null) {
        this.#quoted = ''
        const end = this.#readQuoted(text, at + opening[0].length)
        if (end === null) return 'open'
        const next = this.#afterQuoted(text, end)
        if (next === null) return afterClosing
        at = next
        continue
      }
      const found = text.indexOf(this.#delimiter, at)
      const field = text.slice(at, found < 0 ? text.length : found)
      if (field.includes('"')) return withinField
      this.#fields.push(field)
      at = found < 0 ? text.length + 1 : found + this.#delimiter.length
    }
    return this.#fields
  }

  /** Reads on within quotation marks. Where the text goes on after the closing one; null: it is not closed on this line. */
  #readQuoted(text: string, from: number): number | null {
    const escaping = this.#quotes === 'backslash' ? '\\' : '"'
    let part = ''
    for (let at = from; at < text.length; at++) {
      const character = text[at] ?? ''
      if (character === escaping && (escaping === '\\' || text[at + 1] === '"') && at + 1 < text.length) {
        part += text[at + 1]
        at += 1
      } else if (character === '"') {
        this.#quoted += part
        return at + 1
      } else part += character
    }
    this.#quoted += `${part}\n`
    return null
  }

  /** Ends the field; where the next one begins, past the end after the last one. Null: something else follows. */
  #afterQuoted(text: string, from: number): number | null {
    const blank = /^[ \t]*/.exec(text.slice(from))?.[0].length ?? 0
    const at = text.startsWith(this.#delimiter, from) ? from : from + blank
    const isEnd = at >= text.length
    if (!isEnd && !text.startsWith(this.#delimiter, at)) return null
    this.#fields.push((this.#quoted ?? '').replace(/^="(.*)"$/s, '$1'))
    this.#quoted = null
    return isEnd ? text.length + 1 : at + this.#delimiter.length
  }
}

/** The lines of a text, part by part; a line longer than the limit is cut to one that is over it. */
export async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<Line[]> {
  let rest = ''
  let number = 0
  const numbered = (each: string): Line => {
    number += 1
    return { number, text: each }
  }
  for await (const part of text) {
    const lines = (rest + part).split('\n')
    rest = (lines.pop() ?? '').slice(0, charactersMax + 1)
    yield lines.map(numbered)
  }
  // Control-Z ends a file of DOS.
  const last = rest.endsWith('\u001a') ? rest.slice(0, -1) : rest
  if (last !== '') yield [numbered(last)]
}
