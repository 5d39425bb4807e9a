import { Problem } from './problem.ts'

/** A text without the spaces around it. Throws a Problem when nothing is left, or it has control characters or more than 200 characters. */
export function requireText(text: string, what: string): string {
  const trimmed = text.trim()
  if (trimmed === '') throw new Problem('field_invalid', { errors: `${capitalized(what)} must not be empty.` })
  if (trimmed.length > 200)
    throw new Problem('field_invalid', { errors: `${capitalized(what)} must have at most 200 characters.` })
  if (/\p{Cc}/u.test(trimmed))
    throw new Problem('field_invalid', { errors: `${capitalized(what)} must not contain control characters.` })
  return trimmed
}

/** True for the database's refusal of a row by that constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === constraint
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
