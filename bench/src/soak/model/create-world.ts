import { randomUUID } from 'node:crypto'
import { ingestUrl } from '@bridgework/contract/ingest'
import type { Random } from '@bridgework/practice-simulator'
import { createEnrolmentCode, enrollAgent } from '@bridgework/server/src/modules/agents/agent-key.ts'
import { acceptAgreement, ensureFirstAgreement } from '@bridgework/server/src/modules/credentials/agreement.ts'
import { generateKeyPair } from '@bridgework/server/src/modules/credentials/key-pair.ts'
import { loadSecretKey } from '@bridgework/server/src/modules/credentials/secret-key-file.ts'
import { createOrganization } from '@bridgework/server/src/modules/directory/organization.ts'
import { createCompany } from '@bridgework/server/src/modules/membership/create-tenant.ts'
import { createPool } from '@bridgework/server/src/platform/database/pool.ts'
import { createModelAccess } from './access.ts'
import { createBooks } from './books.ts'
import { tell } from './clients.ts'
import { Difference } from './difference.ts'
import { createModelLocation, type ModelLocation } from './model.ts'
import type { Service } from './service.ts'
import type { Agent, Organization, Planted, World } from './world.ts'

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
    wire: given.randomOf('wire'),
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
      if (own.length > 200) own.shift()
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
    const addAgent = async (): Promise<Agent> => {
      const { code } = await createEnrolmentCode(pool, secretKey, { organizationId: id })
      const { agentId, agentKey } = await enrollAgent(pool, secretKey, { code })
      return { agentId, agentKey, number: 1, sinceNumber: 1 }
    }
    const [agent, other] = [await addAgent(), await addAgent()]
    const organization = { id, agent, other, locations: [], random: given.randomOf(`practice ${index}`) }
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
