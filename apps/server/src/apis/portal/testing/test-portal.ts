import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type MemberRole, portalApiPath, type rolesOf } from '@bridgework/contract/portal'
import { activateMember, addMember } from '../../../modules/membership/member.ts'
import { operator, type Tenant } from '../../../modules/membership/tenant.ts'
import { createAuth } from '../../../modules/sign-in/auth.ts'
import { createPerson, hashPassword } from '../../../modules/sign-in/create-person.ts'
import { quickPasswordHash } from '../../../modules/sign-in/testing/test-password-hash.ts'
import type { CompanyId, OrganizationId } from '../../../platform/identity/identity.ts'
import { type Answer, someWorld } from '../../../testing/test-world.ts'

/** The password of everybody in a test. */
export const password = 'correct horse battery staple'

type OperatorRole = (typeof rolesOf.operator)[number]
type NewPerson = { userId: string; email: string; name: string }

export type PortalWorld = Awaited<ReturnType<typeof somePortal>>
export type SignedIn = Awaited<ReturnType<PortalWorld['signIn']>>

/** A world whose people can sign in to the portal, over HTTP as a browser would. */
export async function somePortal(t: TestContext, options: Parameters<typeof someWorld>[1] = {}) {
  const { passwordHash = quickPasswordHash } = options
  const world = await someWorld(t, { ...options, passwordHash })
  const origin = options.publicUrl ?? 'http://localhost'
  const { pool, secretKey } = world
  const auth = createAuth({ pool, secretKey, publicUrl: origin, passwordHash })

  /** A person with an account, who belongs to nothing yet. */
  const addPerson = async (name = 'Person') => {
    const email = `${randomUUID()}@example.com`
    const { userId } = await createPerson(pool, { email, name, passwordHash: await hashPassword(auth, password) })
    return { userId, email, name, password }
  }

  const join = async (person: NewPerson, tenant: Tenant, role: MemberRole) => {
    const { id } = await addMember(pool, tenant, { ...person, role })
    await activateMember(pool, id, person.userId)
  }

  const joinCompany = async (person: NewPerson, companyId: CompanyId, role: MemberRole) => {
    if (role !== 'owner') return await join(person, { side: 'company', id: companyId }, role)
    // The test's company has an owner already: the person takes the owner's place.
    await pool.query(`update membership set user_id = $2, email = $3 where company_id = $1 and role = 'owner'`, [
      companyId,
      person.userId,
      person.email,
    ])
  }

  const joinOrganization = (person: NewPerson, id: OrganizationId, role: MemberRole) =>
    join(person, { side: 'organization', id }, role)

  const makeOperator = (person: NewPerson, role: OperatorRole = 'admin') => join(person, operator, role)

  /** A POST of a page that nobody is signed in to, or that has these cookies alone. */
  const post = (path: string, body: object, headers: Record<string, string> = {}, on = world.url) =>
    world.request(`${portalApiPath}${path}`, {
      on,
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  /** Signs in with a password, and gives what a page then has: the cookie and the CSRF token. */
  const signIn = async (person: { email: string; password: string }) => {
    const answer = await post('/auth/sign-in/email', { email: person.email, password: person.password })
    if (answer.status !== 200) throw new Error(`sign-in was refused: ${answer.text}`)
    return asPage(cookiesOf(answer))
  }

  /** What a page does that has these cookies. */
  const asPage = (cookie: string) => {
    const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
      world.request(`${portalApiPath}${path}`, {
        method,
        headers: {
          cookie,
          origin,
          ...(method !== 'GET' && { 'x-csrf-token': await csrfToken() }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    let token: Promise<string> | undefined
    const csrfToken = () => {
      token ??= world
        .request(`${portalApiPath}/session`, { headers: { cookie } })
        .then(({ body }) => (body as unknown as { csrf_token: string }).csrf_token)
      return token
    }
    return {
      cookie,
      csrfToken,
      send,
      get: (path: string) => send('GET', path),
      post: (path: string, body?: object) => send('POST', path, body),
      put: (path: string, body: object) => send('PUT', path, body),
      patch: (path: string, body: object) => send('PATCH', path, body),
      delete: (path: string) => send('DELETE', path),
    }
  }

  /** A new person in this role of this company or organization, signed in. */
  const signInAs = async (
    ...[place, role]:
      | ['operator', OperatorRole]
      | [{ companyId: CompanyId } | { organizationId: OrganizationId }, MemberRole]
  ) => {
    const person = await addPerson()
    if (place === 'operator') await makeOperator(person, role)
    else if ('companyId' in place) await joinCompany(person, place.companyId, role)
    else await joinOrganization(person, place.organizationId, role)
    return { ...(await signIn(person)), person }
  }

  /** The mails on their way to an address, the latest first. */
  const mailsTo = async (email: string) => {
    const { rows } = await pool.query<{ subject: string; text: string }>(
      'select subject, text_body as text from mail where recipient = $1 order by id desc',
      [email.toLowerCase()],
    )
    return rows
  }

  /** The secret of the link in the latest mail to an address. */
  const linkSecret = async (email: string) => /#(\S+)/.exec((await mailsTo(email))[0]?.text ?? '')?.[1] ?? ''

  /** Makes every sign-in of the person so old that sensitive acts ask for a new one. */
  const letSignInAge = (userId: string, minutes = 11) =>
    pool.query(
      `update portal_session
          set created_at = created_at - $2 * interval '1 minute',
              authenticated_at = authenticated_at - $2 * interval '1 minute'
        where user_id = $1`,
      [userId, minutes],
    )

  return {
    ...world,
    auth,
    addPerson,
    joinCompany,
    joinOrganization,
    makeOperator,
    signIn,
    asPage,
    signInAs,
    letSignInAge,
    postPage: post,
    mailsTo,
    linkSecret,
  }
}

/** The cookies that an answer sets, as the next request sends them. */
export function cookiesOf(answer: Answer): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}
