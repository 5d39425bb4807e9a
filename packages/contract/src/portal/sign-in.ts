import { type Static, type TProperties, Type } from 'typebox'
import type { Done, Instant } from './answer.ts'

/**
 * `anyone`: without a sign-in. `signed_in`: for a signed-in person. `fresh`: for one who signed in within the last 10 minutes.
 * `challenge`: as `fresh` for a signed-in person; else for one who has just given a right password and owes the second factor.
 */
type SignInGate = 'anyone' | 'signed_in' | 'fresh' | 'challenge'

type SignInRoute = { method: 'GET' | 'POST'; path: string; gate: SignInGate }

/** The routes of sign-in, beside `portalRoutes` and below the same path. Each ends in better-auth. */
export const signInRoutes = {
  signIn: { method: 'POST', path: '/auth/sign-in/email', gate: 'anyone' },
  /** Answers where to send the browser. `link`: the signed-in member chooses the provider; `invitation`: with a new account. */
  startIdentitySignIn: { method: 'POST', path: '/auth/identity-provider/start', gate: 'anyone' },
  /** With what the provider sent the browser back with, in the browser that began. */
  finishIdentitySignIn: { method: 'POST', path: '/auth/identity-provider/finish', gate: 'anyone' },
  signOut: { method: 'POST', path: '/auth/sign-out', gate: 'anyone' },
  /** Makes the account that somebody signed up for. A person's click on the page that the mail links to sends it. */
  verifyEmail: { method: 'POST', path: '/auth/verify-email', gate: 'anyone' },
  requestPasswordReset: { method: 'POST', path: '/auth/request-password-reset', gate: 'anyone' },
  resetPassword: { method: 'POST', path: '/auth/reset-password', gate: 'anyone' },
  changePassword: { method: 'POST', path: '/auth/change-password', gate: 'fresh' },
  /** Mails a link to the new address. */
  requestEmailChange: { method: 'POST', path: '/auth/email-change/request', gate: 'fresh' },
  confirmEmailChange: { method: 'POST', path: '/auth/email-change/confirm', gate: 'anyone' },
  undoEmailChange: { method: 'POST', path: '/auth/email-change/undo', gate: 'anyone' },
  /** Answers the secret and the recovery codes; they count once a first code was verified. */
  enableTwoFactor: { method: 'POST', path: '/auth/two-factor/enable', gate: 'fresh' },
  disableTwoFactor: { method: 'POST', path: '/auth/two-factor/disable', gate: 'fresh' },
  verifyTotp: { method: 'POST', path: '/auth/two-factor/verify-totp', gate: 'challenge' },
  verifyRecoveryCode: { method: 'POST', path: '/auth/two-factor/verify-backup-code', gate: 'challenge' },
  renewRecoveryCodes: { method: 'POST', path: '/auth/two-factor/generate-backup-codes', gate: 'fresh' },
  getPasskeyRegistration: { method: 'GET', path: '/auth/passkey/generate-register-options', gate: 'fresh' },
  registerPasskey: { method: 'POST', path: '/auth/passkey/verify-registration', gate: 'fresh' },
  getPasskeySignIn: { method: 'GET', path: '/auth/passkey/generate-authenticate-options', gate: 'anyone' },
  signInWithPasskey: { method: 'POST', path: '/auth/passkey/verify-authentication', gate: 'anyone' },
  listPasskeys: { method: 'GET', path: '/auth/passkey/list-user-passkeys', gate: 'signed_in' },
  deletePasskey: { method: 'POST', path: '/auth/passkey/delete-passkey', gate: 'fresh' },
} as const satisfies Record<string, SignInRoute>

export type SignInRouteName = keyof typeof signInRoutes

const email = Type.String({ minLength: 3, maxLength: 254, description: 'An e-mail address' })
const password = Type.String({ minLength: 1, maxLength: 256, description: 'A password' })
const token = Type.String({ minLength: 1, maxLength: 200, description: 'The secret part of a link that was mailed' })
const code = Type.String({ minLength: 1, maxLength: 20, description: 'A one-time password or a recovery code' })

/** What a browser's `navigator.credentials` gives, as JSON (W3C WebAuthn 3, 5.1). */
const bytes = Type.String({ minLength: 1, maxLength: 20_000 })
const credential = {
  id: bytes,
  rawId: bytes,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
}
const newCredential = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 10 })),
  }),
})
const usedCredential = Type.Object({
  ...credential,
  response: Type.Object({ clientDataJSON: bytes, authenticatorData: bytes, signature: bytes }),
})

/** The body of each route that takes one. Other members are dropped, and never reach better-auth. */
export const signInBodies = {
  signIn: body({ email, password }),
  startIdentitySignIn: body({
    sign_in_name: Type.String({
      minLength: 1,
      maxLength: 40,
      description: 'The sign-in name of a company or practice',
    }),
    next: Type.Optional(
      Type.String({ maxLength: 2000, pattern: '^/(?![/\\\\])', description: 'A path of the portal' }),
    ),
    link: Type.Optional(Type.Boolean()),
    invitation: Type.Optional(Type.Object({ token, name: Type.String({ minLength: 1, maxLength: 200 }) })),
  }),
  finishIdentitySignIn: body({
    tenant_id: Type.String({ minLength: 1, maxLength: 40 }),
    query: Type.String({ maxLength: 16_000, description: 'What follows the ? in the address' }),
  }),
  verifyEmail: body({ token }),
  requestPasswordReset: body({ email }),
  resetPassword: body({ token, new_password: password }),
  changePassword: body({ current_password: password, new_password: password }),
  requestEmailChange: body({ email }),
  confirmEmailChange: body({ token }),
  undoEmailChange: body({ token }),
  enableTwoFactor: body({ password }),
  disableTwoFactor: body({ password }),
  verifyTotp: body({ code }),
  verifyRecoveryCode: body({ code }),
  renewRecoveryCodes: body({ password }),
  registerPasskey: body({ name: Type.String({ minLength: 1, maxLength: 200 }), response: newCredential }),
  signInWithPasskey: body({ response: usedCredential }),
  deletePasskey: body({ id: Type.String({ minLength: 1, maxLength: 36 }) }),
} as const satisfies Partial<Record<SignInRouteName, ReturnType<typeof body>>>

export type SignInBodies = { [name in keyof typeof signInBodies]: Static<(typeof signInBodies)[name]> }

export type Passkey = { id: string; name: string; created_at: Instant }

/** What each route answers with 200. Options are for `navigator.credentials`, as it takes them from JSON. */
export type SignInAnswers = {
  /** With a second factor the sign-in is complete after `verifyTotp` or `verifyRecoveryCode`. */
  signIn: { second_factor_required: boolean }
  startIdentitySignIn: { url: string }
  /** `tested`: for the owner who tests the settings. `is_fresh`: the provider said that the person had just signed in there. */
  finishIdentitySignIn: { next: string; tested: { subject: string; email: string | null; is_fresh: boolean } | null }
  signOut: Done
  verifyEmail: Done
  /** The same whether the address has an account or not. */
  requestPasswordReset: Done
  resetPassword: Done
  /** Ends the person's other sessions, and begins this one anew: read the session again. */
  changePassword: Done
  /** The same whether the new address has an account or not. */
  requestEmailChange: Done
  /** Ends the person's sessions but the one that confirms. */
  confirmEmailChange: Done
  /** Ends all sessions, the password and what was added lately, and mails a link for a new password to the restored address. */
  undoEmailChange: Done
  enableTwoFactor: { totp_uri: string; recovery_codes: string[] }
  disableTwoFactor: Done
  verifyTotp: Done
  verifyRecoveryCode: Done
  renewRecoveryCodes: { recovery_codes: string[] }
  getPasskeyRegistration: object
  registerPasskey: Passkey
  getPasskeySignIn: object
  signInWithPasskey: Done
  listPasskeys: { data: Passkey[] }
  deletePasskey: Done
}

function body<T extends TProperties>(properties: T) {
  return Type.Object(properties)
}
