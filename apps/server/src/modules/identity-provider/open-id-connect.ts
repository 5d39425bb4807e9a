import * as client from 'openid-client'
import { Problem } from '../../platform/errors/problem.ts'
import type { Outgoing } from '../../platform/outgoing/outgoing.ts'
import { freshMs } from '../sign-in/auth.ts'
import { causes, explain } from './provider-failure.ts'

/** How the service reaches identity providers. `allowHttp`: also without TLS, for the sandbox. */
export type ProviderAccess = Pick<Outgoing, 'fetch'> & { allowHttp: boolean }

/** A provider as it is called: with the secret in the clear. */
export type Client = { issuer: string; clientId: string; clientSecret: string }

/** What one sign-in at a provider must bring back. Secrets of the browser that began it. */
export type Checks = { state: string; nonce: string; verifier: string }

/**
 * Who signed in at the provider. `subject` names the person there for ever; the address is what the provider claims, and proves nothing.
 * `signedInAt`: when the person signed in there; null where it does not say, or says what cannot be or is too long ago for a sensitive act.
 */
export type Identity = { subject: string; email: string | null; signedInAt: Date | null }

/** How far clocks may differ. */
const clockToleranceSeconds = 60

/** How long a provider may take to answer all that one step of a sign-in asks. */
const timeoutMs = 10_000

/**
 * Reads what the provider publishes about itself. What is returned may be asked for the rest of the sign-in: all its requests together end within 10
 * seconds. Throws Problem identity_provider_failed with what is wrong.
 */
export async function discover(provider: Client, access: ProviderAccess): Promise<client.Configuration> {
  return await inWords(provider, async () => {
    const signal = AbortSignal.timeout(timeoutMs)
    const issuer = new URL(provider.issuer)
    const config = await client.discovery(
      issuer,
      provider.clientId,
      { [client.clockTolerance]: clockToleranceSeconds },
      authenticate(provider.clientSecret),
      {
        [client.customFetch]: (url, init) => access.fetch(url, { ...init, signal }),
        // The signature of the ID token is checked, though it comes over TLS from the provider itself.
        execute: [client.enableNonRepudiationChecks, ...(access.allowHttp ? [client.allowInsecureRequests] : [])],
      },
    )
    // The library allows an address of Microsoft's that stands for every directory of the world.
    const { issuer: found, authorization_endpoint: page = '', token_endpoint: token } = config.serverMetadata()
    if (new URL(found).href !== issuer.href) {
      throw new Problem('identity_provider_failed', { errors: explain('issuer', provider.issuer) })
    }
    // Members are sent there: an address of another kind would be a script in our page.
    const isPage =
      URL.canParse(page) && ['https:', ...(access.allowHttp ? ['http:'] : [])].includes(new URL(page).protocol)
    if (!isPage || token === undefined) {
      throw new Problem('identity_provider_failed', { errors: explain('metadata', provider.issuer) })
    }
    return config
  })
}

/**
 * Begins a sign-in: where to send the browser, and what must come back. The provider is asked to have the person sign in there and then
 * (`prompt`), and to say when that was (`max_age`, OpenID Connect Core 1.0, 3.1.2.1; Google wants `claims`, 5.5), because our own sessions count as
 * fresh from then on. All of it goes through the browser, which may leave it out, so only the answer counts.
 */
export async function beginSignIn(
  provider: Client,
  access: ProviderAccess,
  redirectUri: string,
): Promise<{ url: string; checks: Checks }> {
  const config = await discover(provider, access)
  const checks = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  }
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email',
    response_type: 'code',
    prompt: 'login',
    max_age: String(freshMs / 1000),
    claims: JSON.stringify({ id_token: { auth_time: { essential: true } } }),
    state: checks.state,
    nonce: checks.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, checks }
}

/**
 * Ends a sign-in with what the provider sent back: state, code and PKCE, then issuer, audience, nonce, times and signature of the ID token.
 * `returned`: the redirect URI with the provider's parameters. Throws Problem identity_provider_failed with what is wrong.
 */
export async function finishSignIn(
  provider: Client,
  access: ProviderAccess,
  returned: URL,
  { state, nonce, verifier }: Checks,
  now: Date,
): Promise<Identity> {
  const config = await discover(provider, access)
  return await inWords(provider, async () => {
    const tokens = await client.authorizationCodeGrant(config, returned, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (!claims || !isSubject(claims.sub)) throw new Error('no usable ID token')
    return {
      subject: claims.sub,
      email: typeof claims.email === 'string' ? claims.email : null,
      signedInAt: signedInAtOf(claims.auth_time, now),
    }
  })
}

/** OpenID Connect Core 1.0, 2: at most 255 ASCII characters. PostgreSQL stores no NUL. */
function isSubject(sub: string): boolean {
  return /^\p{ASCII}{1,255}$/u.test(sub) && !sub.includes('\0')
}

/** OpenID Connect Core 1.0, 2 and 3.1.3.7: `auth_time` in seconds, required because we send `max_age`. A clock that is a little ahead counts as ours. */
function signedInAtOf(authTime: unknown, now: Date): Date | null {
  if (typeof authTime !== 'number') return null
  const ageMs = now.getTime() - authTime * 1000
  if (ageMs < -clockToleranceSeconds * 1000 || ageMs >= freshMs) return null
  return new Date(now.getTime() - Math.max(0, ageMs))
}

/** In the header, as the specification wants it, unless the provider says that it takes the secret in the body alone. */
function authenticate(secret: string): client.ClientAuth {
  return (server, ...rest) => {
    const takesHeader = server.token_endpoint_auth_methods_supported?.includes('client_secret_basic') ?? true
    const method = takesHeader ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret)
    return method(server, ...rest)
  }
}

async function inWords<T>({ issuer }: Client, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    // Ours, or the one with which the server stops, which the library wraps.
    const problem = causes(error).find((each) => each instanceof Problem)
    if (problem) throw problem
    throw new Problem('identity_provider_failed', { errors: explain(error, issuer), cause: error })
  }
}
