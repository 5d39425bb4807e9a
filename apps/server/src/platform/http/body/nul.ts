/** Whether a text or a member's name in this valid JSON holds U+0000, which JSON can only spell as an escape. PostgreSQL stores no such text. */
export function hasNul(json: string): boolean {
  return json.includes('\\u0000') && escapedNul.test(json)
}

/** An even number of backslashes before it: `\\u0000` is a backslash and five characters. */
const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/
