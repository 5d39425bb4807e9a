import type { ProblemCode } from '@bridgework/contract'
import { isAPIError } from 'better-auth/api'
import { tooManyAttempts } from '../../../modules/sign-in/attempt-limit.ts'
import { Problem } from '../../../platform/errors/problem.ts'

/** Runs a call of better-auth; what it refuses becomes one of our errors, `code` where the route has one answer to everything. Its own texts are dropped. */
export async function inOurWords<T>(code: ProblemCode, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!isAPIError(error)) throw error
    const known = refusals[String(error.body?.code)]
    if (known?.code === 'sign_in_throttled') throw tooManyAttempts(lockSeconds)
    throw new Problem(known?.code ?? code, {
      because: String(error.body?.code ?? error.status).slice(0, 60),
      cause: error,
      ...(known?.errors && { errors: known.errors }),
    })
  }
}

/** How long better-auth refuses second factors after ten wrong ones in a row; a caller who gives one has given the right password before. */
export const lockSeconds = 15 * 60

/** Where a refusal of better-auth's means the same on every route. */
const refusals: Record<string, { code: ProblemCode; errors?: string }> = {
  INVALID_PASSWORD: { code: 'sign_in_refused', errors: 'The password is wrong.' },
  SESSION_NOT_FRESH: { code: 'fresh_sign_in_required' },
  INVALID_TWO_FACTOR_COOKIE: {
    code: 'second_factor_refused',
    errors: 'That took too long. Sign in with your password again.',
  },
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: {
    code: 'second_factor_refused',
    errors: 'Too many wrong codes. Sign in with your password again.',
  },
  ACCOUNT_TEMPORARILY_LOCKED: { code: 'sign_in_throttled' },
  TOTP_ALREADY_ENABLED: { code: 'two_factor_on' },
  TOTP_NOT_ENABLED: { code: 'two_factor_off' },
  TWO_FACTOR_NOT_ENABLED: { code: 'two_factor_off' },
  BACKUP_CODES_NOT_ENABLED: { code: 'two_factor_off' },
}
