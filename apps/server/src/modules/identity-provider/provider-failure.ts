import * as client from 'openid-client'
import { AddressRefused } from '../../platform/outgoing/outgoing.ts'

/** What our own checks find. */
type Finding = 'issuer' | 'metadata'

/**
 * What is wrong with a provider and what to do, in words for its IT. Never what the provider wrote, which may be anything: of its errors only
 * the codes that the specifications know.
 */
export function explain(failure: unknown, issuer: string): string {
  const host = URL.canParse(issuer) ? new URL(issuer).host : issuer
  const found = findings[failure as Finding]
  if (found !== undefined) return found
  if (failure instanceof client.AuthorizationResponseError) return ofAuthorization(failure.error)
  if (failure instanceof client.ResponseBodyError) return ofToken(failure.error)
  // Only the token endpoint asks for another client authentication.
  if (failure instanceof client.WWWAuthenticateChallengeError) return ofToken('invalid_client')
  const refused = causes(failure).find((each) => each instanceof AddressRefused)
  if (refused) return `The address of the identity provider cannot be used: ${(refused as Error).message}.`
  const code = causes(failure)
    .map((each) => (each as { code?: unknown } | null)?.code)
    .find((each) => typeof each === 'string' && Object.hasOwn(byCode, each))
  if (code !== undefined) return byCode[code as keyof typeof byCode](host)
  return `The identity provider at ${host} gave an answer that does not follow OpenID Connect. Check the issuer and the application there.`
}

const findings: Record<Finding, string> = {
  issuer:
    'The identity provider names another issuer than the one that was entered. Enter the issuer exactly as the provider shows it, of your own directory.',
  metadata: 'The identity provider publishes no usable addresses for signing in. Check that it speaks OpenID Connect.',
}

const unreachable = (host: string) =>
  `The identity provider at ${host} cannot be reached. Check the issuer, and that the address is on the internet.`
const certificate = (host: string) => `The certificate of the identity provider at ${host} is not valid.`

const byCode = {
  ENOTFOUND: (host: string) => `The name ${host} does not exist. Check the issuer.`,
  EAI_AGAIN: unreachable,
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  EHOSTUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  OAUTH_TIMEOUT: (host: string) =>
    `The identity provider at ${host} did not answer within 10 seconds. Try again later.`,
  ANSWER_TOO_LARGE: (host: string) => `The answer of the identity provider at ${host} is larger than 128 KiB.`,
  CERT_HAS_EXPIRED: certificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID: certificate,
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: () => findings.issuer,
  OAUTH_RESPONSE_IS_NOT_CONFORM: (host: string) =>
    `${host} answered with an HTTP status that no identity provider should. Check the issuer: /.well-known/openid-configuration must be below it.`,
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: () =>
    'The clocks of the identity provider and of Bridgework differ by more than a minute, or the answer is too old. Try again; if it happens again, check its clock.',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: () =>
    'The identity provider answered for another sign-in or another application. Try again; if it happens again, check the client ID.',
  OAUTH_KEY_SELECTION_FAILED: () =>
    'The signature of the identity provider cannot be checked: the key is not among those that it publishes.',
  OAUTH_HTTP_REQUEST_FORBIDDEN: () => 'The addresses of the identity provider must begin with https://.',
} as const satisfies Record<string, (host: string) => string>

function ofAuthorization(error: string): string {
  if (error === 'access_denied')
    return 'You cancelled at the identity provider, or it does not let you in. Ask your IT.'
  if (error === 'login_required') return 'The identity provider asks you to sign in there first. Try again.'
  return 'The identity provider refused to sign you in. Try again; if it happens again, ask your IT.'
}

function ofToken(error: string): string {
  if (error === 'invalid_client')
    return 'The identity provider refused the client ID or the client secret. Enter a current secret.'
  if (error === 'invalid_grant')
    return 'The identity provider refused the sign-in: it was used already, took too long, or the redirect URI is another one.'
  return 'The identity provider refused the sign-in. Check the application there.'
}

/** An error and what caused it, outermost first. */
export function causes(error: unknown): unknown[] {
  const all: unknown[] = []
  for (let each = error; each instanceof Error && all.length < 10; each = each.cause) all.push(each)
  return all
}
