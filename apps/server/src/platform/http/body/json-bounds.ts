export type JsonBounds = {
  /** Objects and lists within each other. */
  depthMax: number
  /** Members of all objects and lists together, but for the first of each. */
  membersMax: number
}

/** Whether a JSON text stays within bounds. Looks at its bytes alone, so that nothing is built of what does not. */
export function isWithin(json: Uint8Array, { depthMax, membersMax }: JsonBounds): boolean {
  let depth = 0
  let members = 0
  for (let index = 0; index < json.length; index++) {
    const byte = json[index]
    if (byte === quote) index = endOfString(json, index)
    else if (byte === comma) members += 1
    else if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) depth -= 1
    if (depth > depthMax || members > membersMax) return false
  }
  return true
}

/** The place of the quote that ends the string, or the end of the text. */
function endOfString(json: Uint8Array, begin: number): number {
  for (let index = begin + 1; index < json.length; index++) {
    if (json[index] === backslash) index += 1
    else if (json[index] === quote) return index
  }
  return json.length
}

const [quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('"\\,{}[]')
