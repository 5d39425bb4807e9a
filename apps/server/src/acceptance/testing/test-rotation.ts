import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { portalApiPath } from '@bridgework/contract/portal'
import type { Pool } from 'pg'
import { createEnrolmentCode, enrollAgent } from '../../modules/agents/agent-key.ts'
import { recordAudit } from '../../modules/audit/store.ts'
import { ensureFirstAgreement } from '../../modules/credentials/agreement.ts'
import { requireInstallation } from '../../modules/credentials/installation.ts'
import { loadSecretKey } from '../../modules/credentials/secret-key-file.ts'
import { createOrganization } from '../../modules/directory/organization.ts'
import { createAuth } from '../../modules/sign-in/auth.ts'
import { createPerson, hashPassword } from '../../modules/sign-in/create-person.ts'
import { someCompany } from '../../testing/test-world.ts'
import type { someProduction } from './test-production.ts'

const origin = 'https://api.example.com'
/** The password of everyone here. */
export const password = 'correct horse battery staple'

type Production = Awaited<ReturnType<typeof someProduction>>

/** What an installation has when its secret key is rotated: vendors, agents, people. */
export async function fillProduction({ secretKeyFile, dataDir }: Production, pool: Pool) {
  const secretKey = loadSecretKey({ secretKeyFile, dataDir })
  await requireInstallation(pool, secretKey)
  await ensureFirstAgreement(pool)
  const { id: organizationId } = await createOrganization(pool, { name: 'Practice' })
  const vendors = []
  for (let number = 0; number < 4; number += 1) vendors.push((await someCompany(pool, secretKey)).pair)
  const agents = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { code } = await createEnrolmentCode(pool, secretKey, { organizationId })
      return (await enrollAgent(pool, secretKey, { code })).agentKey
    }),
  )
  const passwordHash = await hashPassword(createAuth({ pool, secretKey, publicUrl: origin }), password)
  const people = ['anna@example.com', 'otto@example.com']
  for (const email of people) await createPerson(pool, { email, name: 'Person', passwordHash })
  const act = { side: 'operator', tenantId: null, userId: null, actor: 'Test', action: 'database.restore' } as const
  await recordAudit(pool, { ...act, facts: { epoch: '1' }, ip: null, requestId: null })
  const makeCode = async () => (await createEnrolmentCode(pool, secretKey, { organizationId })).code
  return { vendors, agents, people, organizationId, makeCode }
}

/** Calls on processes by turns, as a proxy spreads them; a request that is not answered as it should is a failure. */
export function createCalls(ports: readonly number[]) {
  const failures: string[] = []
  const counts = new Map<string, number>()
  let turn = 0
  const call = async (name: string, path: string, init: RequestInit & { headers?: Record<string, string> } = {}) => {
    turn += 1
    const address = `203.0.${randomInt(250)}.${randomInt(250)}`
    const response = await fetch(`http://127.0.0.1:${ports[turn % ports.length]}${path}`, {
      ...init,
      headers: { 'x-forwarded-for': address, 'x-forwarded-proto': 'https', ...init.headers },
    })
    const text = await response.text()
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (!response.ok) failures.push(`${name}: ${response.status} ${text.slice(0, 200)}`)
    return { headers: response.headers, body: response.ok ? JSON.parse(text) : {}, status: response.status }
  }
  const post = (name: string, path: string, body: object, headers: Record<string, string> = {}) =>
    call(name, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  return { call, post, failures, counts }
}

type Calls = ReturnType<typeof createCalls>

/** A browser: it keeps the cookies that it is given, and sends the CSRF token that its page was loaded with. */
export function createBrowser({ call, post }: Calls) {
  const cookies = new Map<string, string>()
  let csrfToken = ''
  const keep = (headers: Headers) => {
    for (const cookie of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
  }
  const headers = () => ({
    origin,
    cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    ...(csrfToken !== '' && { 'x-csrf-token': csrfToken }),
  })
  const send = async (name: string, path: string, body: object) => {
    const answer = await post(name, `${portalApiPath}${path}`, body, headers())
    keep(answer.headers)
    return answer
  }
  const getSession = async () => {
    const answer = await call('session', `${portalApiPath}/session`, { headers: headers() })
    keep(answer.headers)
    return answer
  }
  return {
    cookies,
    send,
    getSession,
    signIn: async (email: string) => {
      csrfToken = ''
      return await send('sign-in', '/auth/sign-in/email', { email, password })
    },
    loadPage: async () => {
      csrfToken = (await getSession()).body.csrf_token
    },
    enableSecondFactor: async (codeOf: (secret: string) => string) => {
      const { body } = await send('two-factor', '/auth/two-factor/enable', { password })
      const secret = new URL(body.totp_uri).searchParams.get('secret') ?? ''
      await send('two-factor', '/auth/two-factor/verify-totp', { code: codeOf(secret) })
      return { secret, recoveryCodes: body.recovery_codes as string[] }
    },
  }
}

/** Repeats each call, with pauses of about `pauseMs` milliseconds, until `stop`, which waits for the last ones. */
export function keepCalling(...loops: [pauseMs: number, call: () => Promise<unknown>][]) {
  let isOver = false
  const running = loops.map(async ([pauseMs, call]) => {
    while (!isOver) {
      await call()
      await sleep(pauseMs + randomInt(10))
    }
  })
  return {
    stop: async () => {
      isOver = true
      await Promise.all(running)
    },
  }
}
