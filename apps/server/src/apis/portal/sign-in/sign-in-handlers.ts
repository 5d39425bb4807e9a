import type { ProblemCode } from '@bridgework/contract'
import type { Passkey, SignInRouteName } from '@bridgework/contract/portal'
import { APIError } from 'better-auth/api'
import { undoEmailChange } from '../../../modules/recovery/email-undo.ts'
import { endAfterPasswordChange, endAfterPasswordReset } from '../../../modules/recovery/password-change.ts'
import { admitAttempt } from '../../../modules/sign-in/attempt-limit.ts'
import { confirmEmailChange, requestEmailChange } from '../../../modules/sign-in/email-change.ts'
import { withMinimumDuration } from '../../../modules/sign-in/password/minimum-duration.ts'
import { requireGoodPassword } from '../../../modules/sign-in/password/password-rule.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import { markSecondFactor } from '../../../modules/sign-in/second-factor.ts'
import { completeSignUp } from '../../../modules/sign-in/sign-up.ts'
import { requireText } from '../../../platform/errors/field.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { PortalContext } from '../shared/context.ts'
import { factsOf } from '../shared/person-facts.ts'
import { inOurWords } from './auth-refusal.ts'
import { identitySignInHandlers } from './identity-sign-in.ts'
import { requireAnotherFactor, requireProofToAdd } from './second-factor-gate.ts'
import type { SignInHandler } from './sign-in-call.ts'

const done = { done: true } as const

/** What each route does. The members that better-auth takes are named one by one: nothing else of a body reaches it. */
export const signInHandlers: { [Name in SignInRouteName]: SignInHandler<Name> } = {
  ...identitySignInHandlers,

  signIn: async (context, { headers, body, ip }) => {
    const { response, headers: set } = await counted(
      context,
      'password',
      { ip, account: body.email },
      'sign_in_refused',
      () =>
        context.auth.api.signInEmail({
          body: { email: body.email, password: body.password },
          headers,
          returnHeaders: true,
        }),
    )
    // With a second factor its answer has another shape, which its types do not know.
    const isPending = 'twoFactorRedirect' in response
    return {
      answer: { second_factor_required: isPending },
      headers: set,
      ...(!isPending && { event: { action: 'account.sign_in', user: response.user } }),
    }
  },

  signOut: async ({ auth }, { headers, person }) => {
    const { headers: set } = await auth.api.signOut({ headers, returnHeaders: true })
    return {
      answer: done,
      headers: set,
      ...(person && { event: { action: 'account.sign_out', user: userOf(person) } }),
    }
  },

  verifyEmail: async ({ pool, secretKey, onSignUp }, { body, ip, requestId }) => {
    const attempt = await admitAttempt(pool, secretKey, 'link', { ip })
    await completeSignUp(pool, secretKey, body.token, { ip, requestId })
    await attempt.succeeded()
    onSignUp()
    return { answer: done }
  },

  requestPasswordReset: async ({ pool, secretKey, auth }, { headers, body, ip }) => {
    await admitAttempt(pool, secretKey, 'mail', { ip, account: body.email })
    await withMinimumDuration(() =>
      inOurWords('field_invalid', () =>
        auth.api.requestPasswordReset({ body: { email: body.email.trim().toLowerCase() }, headers }),
      ),
    )
    return { answer: done }
  },

  resetPassword: async (context, { headers, body, ip }) => {
    const { internalAdapter } = await context.auth.$context
    const user = await counted(context, 'link', { ip }, 'invitation_unknown', async () => {
      const kept = await internalAdapter.findVerificationValue(`reset-password:${body.token}`)
      const found = kept && kept.expiresAt > new Date() ? await internalAdapter.findUserById(kept.value) : null
      if (!found) throw new Problem('invitation_unknown')
      await requireGoodPassword(body.new_password, await factsOf(context.pool, found))
      await context.auth.api.resetPassword({ body: { newPassword: body.new_password, token: body.token }, headers })
      await endAfterPasswordReset(context.pool, context.secretKey, found.id)
      return found
    })
    return { answer: done, event: { action: 'account.password_reset', user } }
  },

  changePassword: async (context, { headers, body, person, ip }) => {
    await requireGoodPassword(body.new_password, await factsOf(context.pool, userOf(person)))
    const { headers: set } = await counted(context, 'password', { ip, account: person.email }, 'sign_in_refused', () =>
      context.auth.api.changePassword({
        body: {
          currentPassword: body.current_password,
          newPassword: body.new_password,
          revokeOtherSessions: true,
        },
        headers,
        returnHeaders: true,
      }),
    )
    await endAfterPasswordChange(context.pool, context.secretKey, person.userId)
    return { answer: done, headers: set, event: { action: 'account.password_change', user: userOf(person) } }
  },

  requestEmailChange: async ({ pool, secretKey, publicUrl }, { body, person, ip }) => {
    await admitAttempt(pool, secretKey, 'email_change', { ip, account: person.userId })
    await admitAttempt(pool, secretKey, 'mail', { ip, account: body.email })
    await withMinimumDuration(() => requestEmailChange(pool, publicUrl, person.userId, body.email))
    return { answer: done }
  },

  confirmEmailChange: async (context, { body, person, ip, requestId }) => {
    const { pool, publicUrl } = context
    // A session that an identity provider began is not the person's own, and ends like every other one.
    const keepSessionId = person?.identityProviderId === null ? person.sessionId : null
    await counted(context, 'link', { ip }, 'invitation_unknown', () =>
      confirmEmailChange(pool, publicUrl, { token: body.token, keepSessionId, ip, requestId }),
    )
    return { answer: done }
  },

  undoEmailChange: async (context, { body, ip, requestId }) => {
    await counted(context, 'link', { ip }, 'invitation_unknown', () =>
      undoEmailChange(context.pool, context, { token: body.token, ip, requestId }),
    )
    return { answer: done }
  },

  enableTwoFactor: async (context, { headers, body, person, ip }) => {
    await requireProofToAdd(context.pool, person)
    const made = await counted(context, 'password', { ip, account: person.email }, 'sign_in_refused', () =>
      context.auth.api.enableTwoFactor({ body: { password: body.password, method: 'totp' }, headers }),
    )
    if (made.method !== 'totp') throw new Error('better-auth switched another second factor on')
    return { answer: { totp_uri: made.totpURI, recovery_codes: made.backupCodes } }
  },

  disableTwoFactor: async (context, { headers, body, person, ip }) => {
    if (person.isTwoFactorEnabled) await requireAnotherFactor(context.pool, person, 'app')
    const { headers: set } = await counted(context, 'password', { ip, account: person.email }, 'sign_in_refused', () =>
      context.auth.api.disableTwoFactor({ body: { password: body.password }, headers, returnHeaders: true }),
    )
    return { answer: done, headers: set, event: { action: 'account.two_factor_disable', user: userOf(person) } }
  },

  verifyTotp: async (context, { headers, body, person, ip }) => {
    if (person) await requireProofToAdd(context.pool, person)
    const { response, headers: set } = await counted(context, 'second_factor', { ip }, 'second_factor_refused', () =>
      context.auth.api.verifyTOTP({ body: { code: withoutSpaces(body.code) }, headers, returnHeaders: true }),
    )
    const action = person ? 'account.two_factor_enable' : 'account.sign_in'
    const isNews = !person?.isTwoFactorEnabled
    return { answer: done, headers: set, ...(isNews && { event: { action, user: response.user } }) }
  },

  verifyRecoveryCode: async (context, { headers, body, ip }) => {
    const use = () =>
      context.auth.api.verifyBackupCode({ body: { code: withoutSpaces(body.code) }, headers, returnHeaders: true })
    // The codes changed since they were read: by a rotation of the secret key, or by a second request with the same code.
    const again = (error: unknown) => {
      if (error instanceof APIError && error.status === 'CONFLICT') return use()
      throw error
    }
    const { response, headers: set } = await counted(context, 'second_factor', { ip }, 'second_factor_refused', () =>
      use().catch(again),
    )
    return { answer: done, headers: set, event: { action: 'account.recovery_code_use', user: response.user } }
  },

  renewRecoveryCodes: async (context, { headers, body, person, ip }) => {
    const made = await counted(context, 'password', { ip, account: person.email }, 'sign_in_refused', () =>
      context.auth.api.generateBackupCodes({ body: { password: body.password }, headers }),
    )
    return {
      answer: { recovery_codes: made.backupCodes },
      event: { action: 'account.recovery_codes_renew', user: userOf(person) },
    }
  },

  getPasskeyRegistration: async ({ auth }, { headers }) => {
    const { response, headers: set } = await inOurWords('passkey_refused', () =>
      auth.api.generatePasskeyRegistrationOptions({ headers, query: {}, returnHeaders: true }),
    )
    return { answer: response, headers: set }
  },

  registerPasskey: async ({ pool, auth }, { headers, body, person }) => {
    await requireProofToAdd(pool, person)
    const name = requireText(body.name, 'the name of a passkey')
    const { response, headers: set } = await inOurWords('passkey_refused', () =>
      auth.api.verifyPasskeyRegistration({ body: { response: body.response, name }, headers, returnHeaders: true }),
    )
    await markSecondFactor(pool, person.sessionId)
    return {
      answer: passkeyOf(response),
      headers: set,
      event: { action: 'account.passkey_add', user: userOf(person), facts: { name } },
    }
  },

  getPasskeySignIn: async (context, { headers, ip }) => {
    // It leaves a row behind, so it counts until it leads to a sign-in.
    await admitAttempt(context.pool, context.secretKey, 'passkey', { ip })
    const { response, headers: set } = await context.auth.api.generatePasskeyAuthenticationOptions({
      headers,
      returnHeaders: true,
    })
    return { answer: { ...response, userVerification: 'required' }, headers: set }
  },

  signInWithPasskey: async (context, { headers, body, ip }) => {
    const { response, headers: set } = await counted(context, 'passkey', { ip }, 'passkey_refused', () =>
      context.auth.api.verifyPasskeyAuthentication({ body: { response: body.response }, headers, returnHeaders: true }),
    )
    return { answer: done, headers: set, event: { action: 'account.sign_in', user: response.user } }
  },

  listPasskeys: async ({ auth }, { headers }) => {
    const passkeys = await auth.api.listPasskeys({ headers })
    return { answer: { data: passkeys.map(passkeyOf) } }
  },

  deletePasskey: async ({ pool, auth }, { headers, body, person }) => {
    const passkeys = await auth.api.listPasskeys({ headers })
    const found = passkeys.find((each) => each.id === body.id)
    if (!found) throw new Problem('not_found')
    await requireAnotherFactor(pool, person, 'passkey')
    await inOurWords('not_found', () => auth.api.deletePasskey({ body: { id: body.id }, headers }))
    return {
      answer: done,
      event: { action: 'account.passkey_delete', user: userOf(person), facts: { name: passkeyOf(found).name } },
    }
  },
}

/** A try that counts while it fails. */
async function counted<T>(
  { pool, secretKey }: PortalContext,
  kind: Parameters<typeof admitAttempt>[2],
  who: Parameters<typeof admitAttempt>[3],
  code: ProblemCode,
  call: () => Promise<T>,
): Promise<T> {
  const attempt = await admitAttempt(pool, secretKey, kind, who)
  const answer = await inOurWords(code, call)
  await attempt.succeeded()
  return answer
}

function userOf(person: Person) {
  return { id: person.userId, name: person.name, email: person.email }
}

function passkeyOf(passkey: { id: string; name?: string | undefined | null; createdAt: Date }): Passkey {
  return { id: passkey.id, name: passkey.name ?? 'Passkey', created_at: new Date(passkey.createdAt).toISOString() }
}

function withoutSpaces(code: string): string {
  return code.replaceAll(/\s/g, '')
}
