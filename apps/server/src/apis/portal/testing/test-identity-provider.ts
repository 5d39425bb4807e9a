import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** Who signs in next at a test's provider, and which address the provider claims for them. */
export type Visitor = { subject: string; email: string }

export const clientId = 'bridgework'
export const clientSecret = 'a secret of the provider, long enough'

/** A certified OpenID provider on loopback, whose visitor signs in as soon as it asks them to; `asked`: how often it did. */
export async function startIdentityProvider(t: TestContext, redirectUri: string, visitor: Visitor) {
  const { server, url: issuer } = await listen(t)
  const { privateKey } = await keys()
  // It warns of what only a test does: keeping everything in memory, on this Node.
  t.mock.method(console, 'warn', () => {})
  const { default: Provider } = await import('oidc-provider')
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'test' }] },
    cookies: { keys: ['a key for the cookies of a test'] },
    features: { devInteractions: { enabled: false } },
    claims: { email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: () => ({ sub: subject, email: visitor.email, email_verified: true }),
    }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
  })
  const handle = provider.callback()
  const asked = { count: 0 }
  server.on('request', async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response)
    asked.count += 1
    await provider.interactionFinished(request, response, { login: { accountId: visitor.subject } })
  })
  return { issuer, asked }
}

/**
 * A provider that signs an ID token with whatever claims a test wants, for answers that a certified one never gives. It asks nothing, and takes any
 * code any number of times.
 */
export async function startLyingProvider(
  t: TestContext,
  flaws: { claims?: (claims: JWTPayload) => JWTPayload; isForged?: boolean; metadata?: Record<string, unknown> },
) {
  const { server, url: issuer } = await listen(t)
  const [{ privateKey, publicKey }, stranger] = [await keys(), await generateKeyPair('RS256')]
  let askedNonce = ''
  server.on('request', async (request, response) => {
    const send = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    if (request.url === '/jwks') {
      return send({ keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig', kid: 'test' }] })
    }
    const { pathname, searchParams } = new URL(request.url ?? '', issuer)
    if (pathname === '/auth') {
      askedNonce = searchParams.get('nonce') ?? ''
      const back = `${searchParams.get('redirect_uri')}?code=c&state=${searchParams.get('state')}`
      return response.writeHead(302, { location: back }).end()
    }
    if (request.url !== '/token') {
      return send({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...flaws.metadata,
      })
    }
    const now = Math.floor(Date.now() / 1000)
    const right = { iss: issuer, aud: clientId, sub: 'ada', nonce: askedNonce, iat: now, exp: now + 600 }
    const token = await new SignJWT(flaws.claims?.(right) ?? right)
      .setProtectedHeader({ alg: 'RS256', kid: 'test' })
      .sign(flaws.isForged ? stranger.privateKey : privateKey)
    send({ access_token: 'a', token_type: 'Bearer', id_token: token })
  })
  return { issuer }
}

/**
 * Follows redirects from the authorization address as a browser does, with the cookies of `jar`. Answers what the provider sends back, behind
 * the ?.
 */
export async function visit(url: string, redirectUri: string, jar = new Map<string, string>()): Promise<string> {
  let at = url
  for (let step = 0; step < 10; step += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie } })
    for (const each of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (each.split(';')[0] ?? '').split(/=(.*)/s)
      jar.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`)
    at = new URL(location, at).href
    if (at.startsWith(redirectUri)) return new URL(at).search.slice(1)
  }
  throw new Error('the provider redirects in a circle')
}

/** Made once: an RSA key takes as long as a small test. */
const keys = () => {
  pair ??= generateKeyPair('RS256', { extractable: true })
  return pair
}
let pair: ReturnType<typeof generateKeyPair> | undefined

async function listen(t: TestContext) {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
