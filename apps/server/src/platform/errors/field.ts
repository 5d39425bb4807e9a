import { Problem } from './problem.ts'

/**
 * A text without the spaces around it. Throws a Problem when nothing is left, or it has more characters than `lengthMax`, or some that control or turn
 * the text or are not seen: with those, one name could be shown as another.
 */
export function requireText(text: string, what: string, lengthMax = 200): string {
  const trimmed = text.trim()
  if (trimmed === '') throw new Problem('field_invalid', { errors: `${capitalized(what)} must not be empty.` })
  if (trimmed.length > lengthMax)
    throw new Problem('field_invalid', { errors: `${capitalized(what)} must have at most ${lengthMax} characters.` })
  if (/[\p{C}\p{Zl}\p{Zp}\u2800]|\p{Default_Ignorable_Code_Point}/u.test(trimmed))
    throw new Problem('field_invalid', {
      errors: `${capitalized(what)} must not contain control or invisible characters.`,
    })
  return trimmed
}

/** True for the database's refusal of a row by that constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
