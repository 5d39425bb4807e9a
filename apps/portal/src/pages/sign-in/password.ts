import { t } from '../../language/t.ts'

/** NIST SP 800-63B 3.1.1.2: the server refuses a shorter one. */
export const passwordLengthMin = 15

/** What is missing from a password while it is typed; null when it is long enough. Only the server knows whether it is common or breached. */
export function passwordAdvice(password: string): string | null {
  // The server counts characters as people do, not as UTF-16 does.
  const missing = passwordLengthMin - [...password].length
  if (missing > 0) return t('{missing} more {missing, plural, one {character} other {characters}}', { missing })
  return null
}
