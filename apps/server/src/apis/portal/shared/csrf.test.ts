import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { createSecretKey } from '../../../modules/credentials/secret.ts'
import type { Person } from '../../../modules/sign-in/person.ts'
import type { Problem } from '../../../platform/errors/problem.ts'
import { csrfTokenOf, requireCsrfToken, requireOwnOrigin } from './csrf.ts'

const publicUrl = 'https://portal.example'

test('W06: a request of our own page and one of a program pass, and one that a browser sends for any other page does not', () => {
  const refusal = (headers: Record<string, string>) =>
    refusalOf(() => requireOwnOrigin(publicUrl, { headers } as unknown as FastifyRequest))
  // spec: Fetch Metadata Request Headers, 2.4. The Sec-Fetch-Site HTTP Request Header. `none`: no page sent it, so it is no request of our page either.
  const sites = [undefined, 'same-origin', 'same-site', 'cross-site', 'none']
  const origins = [
    undefined,
    publicUrl,
    `${publicUrl}:444`,
    'https://evil.example',
    `${publicUrl}.evil.example`,
    'null',
  ]
  for (const origin of origins) {
    for (const site of sites) {
      const headers = { ...(origin !== undefined && { origin }), ...(site !== undefined && { 'sec-fetch-site': site }) }
      const isOwn = origin === undefined ? site === undefined || site === 'same-origin' : origin === publicUrl
      assert.equal(refusal(headers), isOwn ? null : 'origin_denied', JSON.stringify(headers))
    }
  }
})

test('W06: a session’s token is good under every key of the installation, for that session alone', () => {
  const keys = [randomBytes(32), randomBytes(32)]
  const secretKey = createSecretKey(...keys)
  const someone = () => ({ sessionId: randomUUID() }) as unknown as Person
  const [person, other] = [someone(), someone()]
  const refusal = (token: unknown) =>
    refusalOf(() => requireCsrfToken(secretKey, person, { headers: { 'x-csrf-token': token } }))
  for (const key of keys) assert.equal(refusal(csrfTokenOf(createSecretKey(key), person)), null)
  const own = csrfTokenOf(secretKey, person)
  const stranger = csrfTokenOf(createSecretKey(randomBytes(32)), person)
  for (const token of [csrfTokenOf(secretKey, other), stranger, own.slice(1), `${own}a`, '', undefined, [own, own]])
    assert.equal(refusal(token), 'csrf_token_invalid', String(token))
})

/** The code that a check refuses with; null when it passes. */
function refusalOf(check: () => void): string | null {
  try {
    check()
    return null
  } catch (error) {
    return (error as Problem).code
  }
}
