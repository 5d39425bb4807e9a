import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Answer } from '../../../testing/test-world.ts'
import { read } from './test-company.ts'
import { clientId, clientSecret, startIdentityProvider, type Visitor, visit } from './test-identity-provider.ts'
import { cookiesOf, type PortalWorld, type SignedIn, somePortal } from './test-portal.ts'

/** A practice whose owner has set a provider up; `visitor` is who signs in there. */
export async function somePractice(t: TestContext) {
  const world = await somePortal(t)
  const organizationId = await world.addOrganization()
  const owner = await world.signInAs({ organizationId }, 'owner')
  const path = `/tenants/${organizationId}`
  const visitor: Visitor = { subject: 'unknown', email: 'unknown@example.com' }
  const { redirect_uri: redirectUri } = read<{ redirect_uri: string }>(await owner.get(`${path}/identity_provider`))
  const { issuer, asked } = await startIdentityProvider(t, redirectUri, visitor)
  const settings = {
    sign_in_name: 'smile-dental',
    name: 'Practice login',
    issuer,
    client_id: clientId,
    client_secret: clientSecret,
    counts_as_second_factor: false,
    required: false,
  }
  const save = (changes: object, as: SignedIn = owner) =>
    as.put(`${path}/identity_provider`, { ...settings, ...changes })
  assertDone(await save({}))

  const follow = (url: string, jar?: Map<string, string>) => visit(url, redirectUri, jar)
  const finish = (cookie: string, query: string, on?: string) =>
    world.postPage('/auth/identity-provider/finish', { tenant_id: String(organizationId), query }, { cookie }, on)

  /** Begins and goes to the provider; what the page then has to post. */
  const goThrough = async () => {
    const begun = await world.postPage('/auth/identity-provider/start', { sign_in_name: 'smile-dental' })
    assertDone(begun)
    return { cookie: cookiesOf(begun), query: await follow(String(begun.body.url)) }
  }
  const signIn = async (more: object = {}) => {
    const begun = await world.postPage('/auth/identity-provider/start', { sign_in_name: 'Smile-Dental', ...more })
    if (begun.status !== 200) return begun
    return await finish(cookiesOf(begun), await follow(String(begun.body.url)))
  }
  const beginLink = (signed: SignedIn) =>
    signed.post('/auth/identity-provider/start', { sign_in_name: 'smile-dental', link: true })
  const link = async (signed: SignedIn, go: (url: string) => Promise<string> = follow) => {
    const begun = await beginLink(signed)
    if (begun.status !== 200) return begun
    return await finish(`${signed.cookie}; ${cookiesOf(begun)}`, await go(String(begun.body.url)))
  }
  const testSettings = async (as: SignedIn = owner) => {
    const begun = await as.post(`${path}/identity_provider/test`)
    assertDone(begun)
    return await finish(`${as.cookie}; ${cookiesOf(begun)}`, await follow(String(begun.body.url)))
  }
  return {
    world,
    organizationId,
    path,
    owner,
    visitor,
    issuer,
    /** How often the provider asked to sign in. */
    asked,
    settings,
    save,
    follow,
    finish,
    goThrough,
    signIn,
    beginLink,
    link,
    test: testSettings,
  }
}

export function assertDone(answer: Awaited<ReturnType<PortalWorld['postPage']>>): void {
  assert.equal(answer.status, 200, answer.text)
}

export function assertRefused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.code], [status, code], answer.text)
}
