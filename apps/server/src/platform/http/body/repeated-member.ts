import { Problem } from '../../errors/problem.ts'

/**
 * Throws Problem field_invalid when an object of a JSON text, which must be valid, has a member twice: JSON.parse keeps the last one without a word,
 * and a program in front of us may have looked at the first (RFC 8259, 4). Names are compared as they are read, `\u0069d` as `id`.
 */
export function refuseRepeatedMembers(json: string): void {
  const name = repeatedMember(json)
  if (name === null) return
  const named = /^[a-z][a-z_]{0,49}$/.test(name) ? `The member ${name}` : 'A member'
  throw new Problem('field_invalid', { errors: `${named} of the body is there twice. Send it once.` })
}

function repeatedMember(json: string): string | null {
  /** Of each object that is open here the names so far; null: a list. */
  const open: (Set<string> | null)[] = []
  let isName = false
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at]
    if (sign === '"') {
      const end = endOfString(json, at)
      const names = open.at(-1)
      if (isName && names) {
        const name = nameOf(json.slice(at, end + 1))
        if (names.has(name)) return name
        names.add(name)
        isName = false
      }
      at = end
    } else if (sign === '{' || sign === '[') {
      open.push(sign === '{' ? new Set() : null)
      isName = sign === '{'
    } else if (sign === '}' || sign === ']') {
      open.pop()
    } else if (sign === ',') isName = open.at(-1) !== null
  }
  return null
}

/** The place of the quote that ends the string. */
function endOfString(json: string, begin: number): number {
  for (let at = begin + 1; at < json.length; at += 1) {
    if (json[at] === '\\') at += 1
    else if (json[at] === '"') return at
  }
  return json.length
}

function nameOf(text: string): string {
  return text.includes('\\') ? JSON.parse(text) : text.slice(1, -1)
}
