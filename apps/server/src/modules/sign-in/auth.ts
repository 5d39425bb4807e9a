import { randomUUID } from 'node:crypto'
import { passkey } from '@better-auth/passkey'
import { betterAuth } from 'better-auth'
import { APIError, createAuthEndpoint, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { twoFactor } from 'better-auth/plugins'
import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { SecretKey } from '../credentials/secret.ts'
import { queueMail } from '../mail/queue.ts'
import { authSecretsOf, signedWithCurrent } from './auth-secrets.ts'
import { type PasswordHash, passwordHash as scryptTwoAtOnce } from './password/password-hash.ts'
import { passwordLengthMax, passwordLengthMin } from './password/password-rule.ts'
import { endOlderResetLinks, endResetLink, resetLinkSeconds, resetLinkStorage } from './reset-link.ts'
import { noteNewApp, noteNewCodes } from './second-factor-time.ts'
import { resetMail } from './sign-in-mail.ts'
import { hasAddress } from './store.ts'
import { useTotp } from './used-totp.ts'

/** Where better-auth answers. */
export const authPath = '/portal/api/auth'

/** Nobody who walked away from a screen stays signed in longer. */
export const idleTimeoutMs = 15 * 60_000
/** Whatever happens, a sign-in ends then. */
export const sessionLifetimeMs = 12 * 60 * 60_000
/** How recent a sign-in must be for a sensitive act. */
export const freshMs = 10 * 60_000

/** The header in which we tell better-auth the caller's address, after we have worked it out; what a caller sends in it is dropped. */
export const clientIpHeader = 'x-bridgework-client-ip'

/** What of better-auth we use. */
export type Auth = Pick<ReturnType<typeof createAuthWith>, 'api' | 'options' | '$context'>

type AuthDeps = {
  pool: Pool
  secretKey: SecretKey
  publicUrl: string
  /** How passwords are hashed and checked, where better-auth's scrypt at its full cost is not meant. */
  passwordHash?: PasswordHash
}

/**
 * Signing in to the portal, with the secret keys of the moment: after each step of a rotation it is made anew. Each call signs the cookies of
 * its headers with the key of that moment, for the key may change between two calls of one request.
 */
export function createAuth(deps: AuthDeps): Auth {
  const { secretKey } = deps
  let made: { auth: Auth; keys: unknown; id: string } | null = null
  const current = () => {
    if (made?.keys !== secretKey.all() || made.id !== secretKey.id) {
      const auth = createAuthWith(deps)
      const api = withCurrentCookies(auth.api, secretKey)
      made = { auth: { ...auth, api }, keys: secretKey.all(), id: secretKey.id }
    }
    return made.auth
  }
  return {
    get api() {
      return current().api
    },
    get options() {
      return current().options
    },
    get $context() {
      return current().$context
    },
  }
}

/** better-auth's calls, each with cookies that the current key has signed. */
function withCurrentCookies(api: Auth['api'], secretKey: SecretKey): Auth['api'] {
  const calls = Object.entries(api).map(([name, call]) => [
    name,
    (input?: { headers?: Headers }) => {
      const cookies = input?.headers?.get('cookie')
      if (!cookies) return (call as (given?: object) => unknown)(input)
      const headers = new Headers(input?.headers)
      headers.set('cookie', signedWithCurrent(cookies, secretKey))
      return (call as (given?: object) => unknown)({ ...input, headers })
    },
  ])
  return Object.fromEntries(calls)
}

/**
 * Signing in to the portal, by better-auth: passwords (hashed with scrypt), one-time passwords with recovery codes, passkeys, sessions in the
 * database that end after 15 minutes without a request. What it does not do is ours: who may sign up, how often one may try, which passwords
 * are too weak, that a one-time password counts once, that an
 * account begins with a proven e-mail address, and that a session ends after 12 hours.
 */
function createAuthWith(deps: AuthDeps) {
  const { pool, secretKey, publicUrl, passwordHash = scryptTwoAtOnce } = deps
  const times = { createdAt: 'created_at', updatedAt: 'updated_at' }
  return betterAuth({
    appName: 'Bridgework',
    baseURL: publicUrl,
    basePath: authPath,
    ...authSecretsOf(secretKey),
    database: pool,
    trustedOrigins: [publicUrl],
    // Its messages name people; ours is the only log.
    logger: { disabled: true },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    user: { modelName: 'portal_user', fields: { emailVerified: 'email_verified', ...times } },
    session: {
      modelName: 'portal_session',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        ...times,
      },
      additionalFields: {
        secondFactor: { type: 'boolean', required: false, input: false, fieldName: 'second_factor' },
        identityProviderId: { type: 'string', required: false, input: false, fieldName: 'identity_provider_id' },
        authenticatedAt: { type: 'date', required: false, input: false, fieldName: 'authenticated_at' },
      },
      expiresIn: idleTimeoutMs / 1000,
      updateAge: 60,
      freshAge: freshMs / 1000,
    },
    account: {
      modelName: 'portal_account',
      fields: {
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        ...times,
      },
    },
    verification: {
      modelName: 'portal_verification',
      fields: { expiresAt: 'expires_at', ...times },
      storeIdentifier: { default: 'hashed', overrides: resetLinkStorage },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLengthMin,
      maxPasswordLength: passwordLengthMax,
      password: passwordHash,
      requireEmailVerification: true,
      resetPasswordTokenExpiresIn: resetLinkSeconds,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) =>
        withTransaction(pool, async (client) => {
          // The address may have been given back since the account was found by it: the link would go to a stranger.
          if (!(await hasAddress(client, user))) return await endResetLink(client, token)
          await endOlderResetLinks(client, user.id)
          await queueMail(client, resetMail(publicUrl, user, token))
        }),
    },
    advanced: {
      cookiePrefix: 'bridgework',
      useSecureCookies: publicUrl.startsWith('https:'),
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax' },
      database: { generateId: () => randomUUID() },
      ipAddress: { ipAddressHeaders: [clientIpHeader] },
    },
    databaseHooks: {
      session: { create: { before: async (_session, call) => ({ data: sessionFactsOf(call) }) } },
    },
    hooks: {
      before: createAuthMiddleware(async (call) => {
        // Before it does so, so that no failure leaves new codes with the time of the old ones.
        if (call.path === '/two-factor/generate-backup-codes') {
          const session = await getSessionFromCtx(call)
          if (session) await noteNewCodes(pool, session.user.id)
        }
        // Before the code is looked at, so that of two requests with one code only one goes on.
        if (call.path !== '/two-factor/verify-totp') return
        const userId = await whoseSecondFactor(call)
        if (userId && !(await useTotp(pool, secretKey, userId, String(call.body?.code)))) {
          throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE' })
        }
        if (userId) await noteNewApp(pool, userId)
      }),
    },
    plugins: [
      { id: 'identity-provider', endpoints: { signInThroughProvider } },
      twoFactor({
        issuer: 'Bridgework',
        schema: {
          user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
          twoFactor: {
            modelName: 'portal_two_factor',
            fields: {
              userId: 'user_id',
              backupCodes: 'backup_codes',
              failedVerificationCount: 'failed_verification_count',
              lockedUntil: 'locked_until',
            },
          },
        },
      }),
      passkey({
        rpID: new URL(publicUrl).hostname,
        rpName: 'Bridgework',
        origin: publicUrl,
        // A passkey stands for both factors, so the device must have asked for a finger, a face or a PIN.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        registration: {
          afterVerification: ({ verification }) => requireUserVerified(verification.registrationInfo?.userVerified),
        },
        authentication: {
          afterVerification: ({ verification }) => requireUserVerified(verification.authenticationInfo.userVerified),
        },
        schema: {
          passkey: {
            modelName: 'portal_passkey',
            fields: {
              userId: 'user_id',
              publicKey: 'public_key',
              credentialID: 'credential_id',
              deviceType: 'device_type',
              backedUp: 'backed_up',
              createdAt: 'created_at',
            },
          },
        },
      }),
    ],
  })
}

const secondFactorPaths = [
  '/two-factor/verify-totp',
  '/two-factor/verify-backup-code',
  '/passkey/verify-authentication',
]

/**
 * What is noted of the session that a call of better-auth's is making: whether it proved a second factor, which identity provider it is
 * limited to, and when the person signed in there. A new password, and turning the app off, replace a session by one of the same kind.
 */
function sessionFactsOf(call: SessionCall | null | undefined): SessionFacts {
  if (call?.path === providerPath) {
    const { countsAsSecondFactor, providerId, authenticatedAt } = call.body as ProviderSignIn
    return { secondFactor: countsAsSecondFactor, identityProviderId: providerId, authenticatedAt }
  }
  const before: Partial<SessionFacts> = call?.context.session?.session ?? {}
  return {
    secondFactor: secondFactorPaths.includes(call?.path ?? '') || before.secondFactor === true,
    identityProviderId: before.identityProviderId ?? null,
    authenticatedAt: before.authenticatedAt ?? null,
  }
}

type SessionFacts = { secondFactor: boolean; identityProviderId: string | null; authenticatedAt: Date | null }
type SessionCall = { path?: string; body?: unknown; context: { session: { session: object } | null } }

const providerPath = '/identity-provider/sign-in'

type ProviderSignIn = {
  userId: string
  providerId: string
  countsAsSecondFactor: boolean
  authenticatedAt: Date | null
}

/** Begins the session of a person whom an identity provider signed in. Called by our own code alone: its HTTP handler is not mounted. */
const signInThroughProvider = createAuthEndpoint(
  providerPath,
  { method: 'POST', metadata: { SERVER_ONLY: true, $Infer: { body: {} as ProviderSignIn } } },
  async (call) => {
    const { userId } = call.body as ProviderSignIn
    const user = await call.context.internalAdapter.findUserById(userId)
    const session = user && (await call.context.internalAdapter.createSession(userId, false))
    if (!session) throw new APIError('UNAUTHORIZED')
    await setSessionCookie(call, { session, user })
    return call.json({ done: true })
  },
)

/** Of the session, or of the password that was just right; null when there is neither, which better-auth refuses by itself. */
async function whoseSecondFactor(
  call: Parameters<Parameters<typeof createAuthMiddleware>[0]>[0],
): Promise<string | null> {
  const session = await getSessionFromCtx(call)
  if (session) return session.user.id
  const cookie = call.context.createAuthCookie('two_factor')
  const challenge = await call.getSignedCookie(cookie.name, call.context.secret)
  if (!challenge) return null
  return (await call.context.internalAdapter.findVerificationValue(challenge))?.value ?? null
}

function requireUserVerified(isVerified: boolean | undefined): void {
  if (!isVerified) throw new APIError('UNAUTHORIZED', { code: 'USER_NOT_VERIFIED' })
}
