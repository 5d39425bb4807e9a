import { parseObject } from './api-error.ts'

/** A list's answer with each record as JSON text, also when it is written in another way than the service's own. */
export function recordTexts(text: string): Record<string, unknown> | null {
  const split = splitRecords(text)
  if (split) return split
  const body = parseObject(text)
  return body && Array.isArray(body.data) ? { ...body, data: body.data.map((record) => JSON.stringify(record)) } : body
}

/**
 * A list's answer with its records as the JSON texts that they are, and the rest of the envelope parsed. Several times faster than parsing what is only passed
 * on. Null when the text is not such an answer, whole.
 */
export function splitRecords(text: string): Record<string, unknown> | null {
  const head = '{"data":['
  // Unescaped quotes stand in no JSON string, so this is the end of the list, or the text is none of ours.
  const end = text.lastIndexOf('],"pagy":{')
  if (!text.startsWith(head) || end < head.length) return null
  const rest = parseObject(`{${text.slice(end + 2)}`)
  const data = rest && textsOf(text, head.length, end)
  return data && { ...rest, data }
}

const [quote, backslash, comma, open, close, openList, closeList] = Array.from('"\\,{}[]', (sign) => sign.charCodeAt(0))

/** The texts of the objects from `begin` to `end`, or null when they do not end there. */
function textsOf(text: string, begin: number, end: number): string[] | null {
  const texts: string[] = []
  let depth = 0
  let start = begin
  for (let index = begin; index < end; index += 1) {
    const sign = text.charCodeAt(index)
    if (sign === quote) {
      index = endOfString(text, index, end)
      if (index < 0) return null
    } else if (sign === open || sign === openList) depth += 1
    else if (sign === close || sign === closeList) {
      depth -= 1
      if (depth === 0) texts.push(text.slice(start, index + 1))
    } else if (sign === comma && depth === 0) start = index + 1
  }
  return depth === 0 ? texts : null
}

/** Where the string that begins here has its closing quote; -1 when it has none. */
function endOfString(text: string, begin: number, end: number): number {
  let index = begin
  do {
    index = text.indexOf('"', index + 1)
    if (index < 0 || index >= end) return -1
  } while (isEscaped(text, index))
  return index
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(index - 1 - backslashes) === backslash) backslashes += 1
  return backslashes % 2 === 1
}
