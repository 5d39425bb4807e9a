import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientId, clientSecret, startLyingProvider, visit } from '../../apis/portal/testing/test-identity-provider.ts'
import { createOutgoing } from '../../platform/outgoing/outgoing.ts'
import { beginSignIn, finishSignIn } from './open-id-connect.ts'

test('X06: all that one step of a sign-in asks of a provider has 10 seconds together', async (t) => {
  const { issuer } = await startLyingProvider(t, {})
  const { fetch } = createOutgoing({ allowPrivate: true })
  const calls: { path: string; signal: AbortSignal | undefined }[] = []
  const access = {
    allowHttp: true,
    fetch: (url: string, init: Parameters<typeof fetch>[1]) => {
      calls.push({ path: new URL(url).pathname, signal: init.signal })
      return fetch(url, init)
    },
  }
  const provider = { issuer, clientId, clientSecret }
  const redirectUri = 'http://localhost/sign-in/callback/1'
  const { url, checks } = await beginSignIn(provider, access, redirectUri)
  const returned = new URL(`${redirectUri}?${await visit(url, redirectUri)}`)
  calls.length = 0

  await finishSignIn(provider, access, returned, checks, new Date())

  assert.deepEqual(
    calls.map(({ path }) => path),
    ['/.well-known/openid-configuration', '/token', '/jwks'],
  )
  assert.ok(calls[0]?.signal)
  assert.equal(new Set(calls.map(({ signal }) => signal)).size, 1)
})
