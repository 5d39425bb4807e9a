import { parseObject } from '../api-error.ts'

/** Takes in the bytes of one page. */
export type PageBuffer = {
  /** Takes in an answer's body, to its end. */
  fill: (response: Response) => Promise<void>
  /** The list's answer with each record as its JSON, in the bytes that were taken in; null when it is not whole, or no JSON. */
  parse: () => Record<string, unknown> | null
}

export function createPageBuffer(): PageBuffer {
  let page = Buffer.alloc(0)
  return {
    async fill(response) {
      page = Buffer.from(await response.arrayBuffer())
    },
    parse: () => recordBytes(page),
  }
}

/** A list's answer with each record as JSON, also when it is written in another way than the service's own. */
function recordBytes(page: Buffer): Record<string, unknown> | null {
  const split = splitRecords(page)
  if (split) return split
  const body = parseObject(page.toString())
  return body && Array.isArray(body.data)
    ? { ...body, data: body.data.map((record) => Buffer.from(JSON.stringify(record))) }
    : body
}

const head = '{"data":['

/**
 * A list's answer with its records as the bytes that they are, and the rest of the envelope parsed. Several times faster than parsing what is only passed
 * on. Null when the page is not such an answer, whole.
 */
export function splitRecords(page: Buffer): Record<string, unknown> | null {
  // Unescaped quotes stand in no JSON string, so this is the end of the list, or the page is not the service's.
  const end = page.lastIndexOf('],"pagy":{')
  if (end < head.length || page.toString('latin1', 0, head.length) !== head) return null
  const rest = parseObject(`{${page.toString('utf8', end + 2)}`)
  const data = rest && objectsIn(page, head.length, end)
  return data && { ...rest, data }
}

const [quote, backslash, comma, open, close, openList, closeList] = Buffer.from('"\\,{}[]')

/** The objects from `begin` to `end`, or null when they do not end there. None of these signs is a byte within another character of UTF-8. */
function objectsIn(page: Buffer, begin: number, end: number): Buffer[] | null {
  const objects: Buffer[] = []
  let depth = 0
  let start = begin
  let isText = false
  for (let index = begin; index < end; index += 1) {
    const sign = page[index]
    if (isText) {
      if (sign === backslash) index += 1
      else if (sign === quote) isText = false
    } else if (sign === quote) isText = true
    else if (sign === open || sign === openList) depth += 1
    else if (sign === close || sign === closeList) {
      depth -= 1
      if (depth === 0) objects.push(page.subarray(start, index + 1))
    } else if (sign === comma && depth === 0) start = index + 1
  }
  return depth === 0 && !isText ? objects : null
}
