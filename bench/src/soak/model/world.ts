import { randomUUID } from 'node:crypto'
import { type DatasetName, vendorApiPath } from '@bridgework/contract'
import { ingestUrl, ingestVersion, ingestVersionHeader } from '@bridgework/contract/ingest'
import type { Random } from '@bridgework/practice-simulator'
import { createEnrolmentCode, enrollAgent } from '@bridgework/server/src/modules/agents/agent-key.ts'
import { acceptAgreement, ensureFirstAgreement } from '@bridgework/server/src/modules/credentials/agreement.ts'
import { generateKeyPair } from '@bridgework/server/src/modules/credentials/key-pair.ts'
import type { SecretKey } from '@bridgework/server/src/modules/credentials/secret.ts'
import { loadSecretKey } from '@bridgework/server/src/modules/credentials/secret-key-file.ts'
import { createOrganization } from '@bridgework/server/src/modules/directory/organization.ts'
import { createCompany } from '@bridgework/server/src/modules/membership/create-tenant.ts'
import { createPool } from '@bridgework/server/src/platform/database/pool.ts'
import type {
  CompanyId,
  KeyPairId,
  LocationId,
  MemberId,
  OrganizationId,
} from '@bridgework/server/src/platform/identity/identity.ts'
import type { Pool } from 'pg'
import { createModelAccess, type ModelAccess } from './access.ts'
import { type Attempt, type Books, createBooks } from './books.ts'
import { Difference } from './difference.ts'
import { createModelLocation, type ModelLocation } from './model.ts'
import { type Answer, type Sent, send } from './send.ts'
import type { ServerProcess, Service } from './service.ts'

export type Company = {
  id: CompanyId
  ownerId: MemberId
  keyPairId: KeyPairId
  clientId: string
  clientSecret: string
  /** By server, because their clocks may differ by more than a token bears. */
  tokens: Map<string, string>
}

export type Organization = {
  id: OrganizationId
  agentId: string
  agentKey: string
  /** The number of the agent's next upload. */
  number: number
  locations: ModelLocation[]
  random: Random
}

/** A fault that the model must find: an acknowledged upload that it does not know of, or a disclosure that its audit does not see. */
export type Planted = 'upload' | 'disclosure' | null

export type World = {
  service: Service
  secretKey: SecretKey
  /** As the server's role, for what people do. */
  pool: Pool
  /** As the owner of the schema, for what the model asks of the database. */
  ownerPool: Pool
  organizations: Organization[]
  companies: Company[]
  access: ModelAccess
  books: Books
  counts: Record<CountName, number>
  planted: Planted
  /** What ended the run: whoever waits gives up. */
  failure: unknown
  /** The last steps at each location. */
  note: (locationId: string, step: string) => void
  stepsOf: (locationId: string) => readonly string[]
}

type CountName =
  | 'uploads'
  | 'lists'
  | 'reads'
  | 'deltas'
  | 'walks'
  | 'exports'
  | 'cuts'
  | 'acts'
  | 'refusals'
  | 'retries'

/** Fills the directory as the operator's commands do. */
export async function createWorld(
  service: Service,
  given: {
    organizations: number
    locations: number
    companies: number
    planted: Planted
    randomOf: (name: string) => Random
  },
): Promise<World> {
  const secretKey = loadSecretKey(service)
  const { serverUrl, ownerUrl } = service.urls
  const connect = (url: string) => createPool(url, { max: 6, log: () => {}, applicationName: 'model' })
  const [pool, ownerPool] = [connect(serverUrl), connect(ownerUrl)]
  const label = randomUUID().slice(0, 8)
  const steps = new Map<string, string[]>()
  const world: World = {
    service,
    secretKey,
    pool,
    ownerPool,
    organizations: [],
    companies: [],
    access: createModelAccess(),
    books: createBooks(),
    counts: {
      uploads: 0,
      lists: 0,
      reads: 0,
      deltas: 0,
      walks: 0,
      exports: 0,
      cuts: 0,
      acts: 0,
      refusals: 0,
      retries: 0,
    },
    planted: given.planted,
    failure: null,
    note(locationId, step) {
      const own = steps.get(locationId) ?? []
      steps.set(locationId, own)
      own.push(`${new Date().toISOString()} ${step}`)
      if (own.length > 600) own.shift()
    },
    stepsOf: (locationId) => steps.get(locationId) ?? [],
  }
  await ensureFirstAgreement(pool)
  for (let index = 1; index <= given.companies; index += 1) {
    const owner = { email: `owner@vendor-${label}-${index}.example`, name: 'Owner' }
    const created = await createCompany(pool, { name: `Vendor ${label} ${index}`, owner })
    const by = { companyId: created.company.id, memberId: created.owner.id }
    await acceptAgreement(pool, { ...by, version: 1 })
    const pair = await generateKeyPair(pool, secretKey, by)
    world.companies.push({ id: by.companyId, ownerId: by.memberId, ...pair, tokens: new Map() })
  }
  for (let index = 1; index <= given.organizations; index += 1) {
    const { id } = await createOrganization(pool, { name: `Practice ${label} ${index}` })
    const { code } = await createEnrolmentCode(pool, secretKey, { organizationId: id })
    const agent = await enrollAgent(pool, secretKey, { code })
    const random = given.randomOf(`practice ${index}`)
    const organization = { id, agentId: agent.agentId, agentKey: agent.agentKey, number: 1, locations: [], random }
    world.organizations.push(organization)
    for (let count = 0; count < given.locations; count += 1) await addLocation(world, organization)
  }
  return world
}

/** The agent reports one location more, which opens to every company that was granted all of the organization. */
export async function addLocation(world: World, organization: Organization): Promise<ModelLocation> {
  const sourceId = String(organization.locations.length + 1)
  const empty = [
    'address_line_1',
    'address_line_2',
    'city',
    'state',
    'postal_code',
    'country',
    'phone',
    'email',
    'website_url',
  ]
  const reported = {
    ...Object.fromEntries(empty.map((name) => [name, null])),
    source_id: sourceId,
    name: `Location ${sourceId}`,
    time_zone: 'America/New_York',
    currency: 'USD',
    is_active: true,
    practice_management_system: { name: null, version: null },
  }
  const answer = await tell(world, organization, {
    method: 'POST',
    path: ingestUrl('sendLocations', { organization_id: organization.id }),
    body: JSON.stringify({ locations: [reported] }),
  })
  if (answer.status !== 200) throw new Difference(null, `a new location was answered ${answer.status}: ${answer.text}`)
  const stored: { source_id: string; location_id: string }[] = JSON.parse(answer.text).locations
  const id = stored.find((each) => each.source_id === sourceId)?.location_id
  if (id === undefined) throw new Difference(null, 'a new location is not in the answer')
  const location = createModelLocation({ id, organizationId: organization.id, sourceId })
  organization.locations.push(location)
  for (const company of world.companies) world.access.follow(company.id, organization.id, [id])
  return location
}

/** Sends what an agent says, to any of the servers, until there is an answer that is none to come back. */
export async function tell(world: World, organization: Organization, sent: Sent): Promise<Answer> {
  return untilAnswered(world, organization.random, (server) => tellOnce(organization, server, sent))
}

/** Sends it once. */
export function tellOnce(organization: Organization, server: ServerProcess, sent: Sent): Promise<Answer> {
  return send(server, {
    ...sent,
    headers: {
      authorization: `Bearer ${organization.agentKey}`,
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
export async function ask(world: World, random: Random, company: Company, asked: Asked): Promise<Answer> {
  let renewals = 0
  return untilAnswered(world, random, async (server) => {
    const token = company.tokens.get(server.name) ?? (await fetchToken(random, company, server))
    if (typeof token !== 'string') return token
    const answer = await askOnce(world, random, company, server, { ...asked, token })
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
  random: Random,
  company: Company,
  server: ServerProcess,
  { path, method = 'GET', gzip = false, cutAfter, isKnown = false, token }: Asked & { token: string },
): Promise<Answer> {
  const ip = addressOf(random)
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
export async function fetchToken(random: Random, company: Company, server: ServerProcess): Promise<string | Answer> {
  const answer = await send(server, {
    method: 'POST',
    path: `${vendorApiPath}/auth/token`,
    headers: { 'content-type': 'application/json', 'x-forwarded-for': addressOf(random) },
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
async function untilAnswered(
  world: World,
  random: Random,
  sendTo: (server: ServerProcess) => Promise<Answer>,
): Promise<Answer> {
  const until = performance.now() + 120_000
  let server = random.pick(world.service.servers)
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

/** The location's organization. */
export function organizationOf(world: World, location: ModelLocation): Organization {
  const found = world.organizations.find(({ id }) => id === location.organizationId)
  if (!found) throw new Error('a location without an organization')
  return found
}

export function allLocations(world: World): ModelLocation[] {
  return world.organizations.flatMap(({ locations }) => locations)
}

/** Whether any company may read notes of the dataset now. */
export function hasNotes(world: World, location: ModelLocation, dataset: DatasetName): boolean {
  const ids = world.companies.map(({ id }) => id)
  return world.access.hasNotes(ids, location.id, dataset)
}

/**
 * Returns when nothing is under way at a location: a transaction of a killed process may still end, and background work may be due. What is true
 * then stays true until the next step.
 */
export async function settle(world: World, location: ModelLocation): Promise<void> {
  const until = performance.now() + 120_000
  for (;;) {
    try {
      await world.ownerPool.query('select from dataset_state where location_id = $1 order by dataset for update', [
        location.id,
      ])
      const { rowCount } = await world.ownerPool.query(
        `select from rerender_work where location_id = $1
          union all select from note_removal where location_id = $1
          union all select from removal where location_id = $1 and state in ('running', 'requested')`,
        [location.id as LocationId],
      )
      if (rowCount === 0) return
    } catch (error) {
      if (!isBroken(error)) throw error
    }
    if (world.failure !== null) throw world.failure
    if (performance.now() > until) throw new Difference(location.id, 'background work is not done after two minutes')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Does something with the database, again until it is not broken off. */
export async function persist<T>(world: World, work: (isAgain: boolean) => Promise<T>): Promise<T> {
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await work(isAgain)
    } catch (error) {
      if (!isBroken(error)) throw error
      if (world.failure !== null) throw world.failure
      world.counts.retries += 1
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Of a database that was killed, or of one that recovers. */
function isBroken(error: unknown): boolean {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  return /^(57P|08|ECONN|EPIPE|ENOENT|busy$|unavailable$)/.test(code) || /terminated|timeout|closed/i.test(message)
}
