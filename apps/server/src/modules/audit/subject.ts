/**
 * What an act was done to, as it is stored: our words, and between them, each between two marks, what somebody else wrote (a name, a purpose, a
 * note). What is between marks never meets a pattern that reads our words. Only `about` and `ours` make one.
 */
export class Subject {
  readonly stored: string
  constructor(stored: string) {
    this.stored = stored
  }
}

/** Text of a template is ours, also numbers and other subjects in it; every other text in it is marked as somebody else's. */
export function about(words: TemplateStringsArray, ...parts: readonly (string | number | Subject)[]): Subject {
  return new Subject(words.map((text, index) => (index === 0 ? text : written(parts[index - 1]) + text)).join(''))
}

/** A text that nobody else can have written: an id, the name of a dataset, a state. */
export function ours(text: string): Subject {
  return new Subject(text)
}

/** Several subjects as one, with our words between them. */
export function joined(subjects: readonly Subject[], separator: string): Subject {
  return new Subject(subjects.map(({ stored }) => stored).join(separator))
}

/** A stored subject, to be read: `words` has a place for each text that somebody else wrote, and `fill` puts them into what was made of the words. */
export function readSubject(stored: string): { words: string; fill: (text: string) => string } {
  const others: string[] = []
  const words = stored.replaceAll(marked, (_, text: string) => `${open}${others.push(text) - 1}${close}`)
  const fill = (text: string) => text.replaceAll(marked, (_, place: string) => quoted(others[Number(place)] ?? ''))
  return { words, fill }
}

/** A stored subject without its marks, for people and other programs. */
export function withoutMarks(stored: string | null): string | null {
  return stored?.replaceAll(marked, (_, text: string) => text) ?? null
}

/** In quotation marks where it could be taken for a part of the sentence that it is in. */
export function quoted(text: string): string {
  return /[.:;!?]\s|[“”\n]/.test(text) ? inQuotes(text) : text
}

export function inQuotes(text: string): string {
  return `“${text.replaceAll(/[“”]/g, '"').replaceAll(/\s+/g, ' ')}”`
}

function written(part: string | number | Subject | undefined): string {
  if (part instanceof Subject) return part.stored
  return typeof part === 'string' ? `${open}${part.replaceAll(eitherMark, '')}${close}` : String(part)
}

/** Unicode's isolates (UAX 9): what is between them does not change the direction of the words around it either. No name or text may hold one. */
const [open, close] = ['\u2068', '\u2069']
const eitherMark = /[\u2068\u2069]/g
const marked = /\u2068([^\u2068\u2069]*)\u2069/g
