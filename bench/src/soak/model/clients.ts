import { vendorApiPath } from '@bridgework/contract'
import { ingestVersion, ingestVersionHeader } from '@bridgework/contract/ingest'
import type { Random } from '@bridgework/practice-simulator'
import type { Attempt } from './books.ts'
import { Difference } from './difference.ts'
import { type Answer, type Sent, send } from './sent/send.ts'
import type { ServerProcess } from './service.ts'
import type { Agent, Company, Organization, World } from './world.ts'

/** Sends what an agent says, to any of the servers, until there is an answer that is none to come back. */
export async function tell(world: World, organization: Organization, sent: Sent): Promise<Answer> {
  return untilAnswered(world, (server) => tellOnce(organization.agent, server, sent))
}

/** Sends it once. */
export function tellOnce(agent: Agent, server: ServerProcess, sent: Sent): Promise<Answer> {
  return send(server, {
    ...sent,
    headers: {
      authorization: `Bearer ${agent.agentKey}`,
      'content-type': 'application/json',
      [ingestVersionHeader.toLowerCase()]: String(ingestVersion),
      ...sent.headers,
    },
  })
}

export type Asked = {
  path: string
  method?: 'GET' | 'HEAD'
  gzip?: boolean
  cutAfter?: number
  isKnown?: boolean | null
}

/** Asks what a company asks, to any of the servers, until there is an answer that is none to come back. Every sending goes into the books. */
export async function ask(world: World, company: Company, asked: Asked): Promise<Answer> {
  let renewals = 0
  return untilAnswered(world, async (server) => {
    const token = company.tokens.get(server.name) ?? (await fetchToken(world, company, server))
    if (typeof token !== 'string') return token
    const answer = await askOnce(world, company, server, { ...asked, token })
    // The clock of the server has passed the token's end, or stands before its beginning: its own token is good.
    if (answer.status === 401 && renewals < 3) {
      renewals += 1
      company.tokens.delete(server.name)
      return { ...answer, outcome: 'unsent' }
    }
    return answer
  })
}

/** Asks once, with any token. */
export async function askOnce(
  world: World,
  company: Company,
  server: ServerProcess,
  { path, method = 'GET', gzip = false, cutAfter, isKnown = false, token }: Asked & { token: string },
): Promise<Answer> {
  const ip = addressOf(world.wire)
  const headers = {
    authorization: `Bearer ${token}`,
    'x-forwarded-for': ip,
    ...(gzip && { 'accept-encoding': 'gzip' }),
  }
  const answer = await send(server, {
    method,
    path: `${vendorApiPath}${path}`,
    headers,
    ...(cutAfter !== undefined && { cutAfter }),
  })
  const attempt: Attempt = { companyId: company.id, keyPairId: company.keyPairId, ip, method, path, isKnown, answer }
  world.books.take(attempt)
  world.counts.reads += 1
  return answer
}

/** A token of this server; any other answer when it gives none. */
export async function fetchToken(world: World, company: Company, server: ServerProcess): Promise<string | Answer> {
  const answer = await send(server, {
    method: 'POST',
    path: `${vendorApiPath}/auth/token`,
    headers: { 'content-type': 'application/json', 'x-forwarded-for': addressOf(world.wire) },
    body: JSON.stringify({ client_id: company.clientId, client_secret: company.clientSecret }),
  })
  if (answer.outcome !== 'whole' || answer.status !== 200) return answer
  const { token } = JSON.parse(answer.text) as { token: string }
  company.tokens.set(server.name, token)
  return token
}

/** Another one each time: the limit of tokens is for each address. */
function addressOf(random: Random): string {
  return `10.${random.whole(0, 255)}.${random.whole(0, 255)}.${random.whole(1, 254)}`
}

/** Until an answer is whole, or was cut on purpose (status 200), and does not ask to come back. */
async function untilAnswered(world: World, sendTo: (server: ServerProcess) => Promise<Answer>): Promise<Answer> {
  const until = performance.now() + 120_000
  let server = world.wire.pick(world.service.servers)
  for (let isAgain = false; ; isAgain = true) {
    const answer = { ...(await sendTo(server)), isAgain }
    const isRefused = isLater(answer)
    if (answer.outcome !== 'unsent' && !isRefused && !(answer.outcome === 'cut' && answer.status === null))
      return answer
    if (world.failure !== null) throw world.failure
    if (performance.now() > until)
      throw new Difference(null, `no answer for two minutes, then ${answer.status}: ${answer.text}`)
    world.counts[isRefused ? 'refusals' : 'retries'] += 1
    await new Promise((resolve) => setTimeout(resolve, 50))
    server = world.service.servers.find((each) => each !== server) ?? server
  }
}

/** Whether an answer says to come back, as it must be said; throws when it says so in another way. */
export function isLater({ outcome, status, headers, text }: Answer): boolean {
  if (outcome !== 'whole' || (status !== 503 && status !== 429)) return false
  const hasTime = /^\d+$/.test(headers['retry-after'] ?? '')
  const isOurs = text === '' || typeof JSON.parse(text).errors === 'string'
  if (hasTime && isOurs) return true
  throw new Difference(null, `a refusal ${status} without Retry-After, or of another shape: ${text}`)
}
