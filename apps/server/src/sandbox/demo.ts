import type { Pool } from 'pg'
import {
  authenticateAgent,
  createEnrolmentCode,
  enrollAgent,
  listAgents,
  revokeAgent,
} from '../modules/agents/agent-key.ts'
import { datasetsByLocation } from '../modules/consent/access.ts'
import { grantAccess, listAccess } from '../modules/consent/grant.ts'
import { acceptAgreement, ensureFirstAgreement, findCurrentAgreement } from '../modules/credentials/agreement.ts'
import { listKeyPairs, regenerateKeyPair } from '../modules/credentials/key-pair.ts'
import type { SecretKey } from '../modules/credentials/secret.ts'
import { verifyKeyPair } from '../modules/credentials/verify-key-pair.ts'
import { demoVendorName, listCompanies } from '../modules/directory/company.ts'
import { listLocations } from '../modules/directory/location.ts'
import { createOrganization, listOrganizations } from '../modules/directory/organization.ts'
import { saveProfile } from '../modules/directory/profile.ts'
import { createCompany } from '../modules/membership/create-tenant.ts'
import { getOwner } from '../modules/membership/member.ts'
import { listGrants } from '../modules/overview/grant.ts'
import { withTransaction } from '../platform/database/pool.ts'
import { DatabaseStartError } from '../platform/database/start-error.ts'
import type { AgentId, CompanyId, LocationId, MemberId, OrganizationId } from '../platform/identity/identity.ts'
import type { SandboxFile } from './sandbox-file.ts'

/** What marks the demo practice. Production refuses a database with an organization whose reference begins so. */
export const demoReference = 'bridgework-demo'

/** What marks the volumes of `sandbox populate`. */
export const volumeReference = `${demoReference}-volume`

export type Demo = {
  organizationId: OrganizationId
  companyId: CompanyId
  clientId: string
  /** Null: a person regenerated the key pair, and has its secret. */
  clientSecret: string | null
  agentId: AgentId
  agentKey: string
}

/**
 * Makes what is missing of the demo: a practice's organization, a vendor company with an accepted agreement and a key pair, and an agent.
 * What `known` (an earlier start's sandbox.json) still opens is kept, so a second start has the same credentials.
 */
export async function ensureDemo(pool: Pool, secretKey: SecretKey, known: Partial<SandboxFile>): Promise<Demo> {
  const organizationId = await ensureOrganization(pool)
  const { companyId, ownerId } = await ensureDemoVendor(pool)
  const pair = await ensureKeyPair(pool, secretKey, { companyId, memberId: ownerId }, known)
  const agent = await ensureAgent(pool, secretKey, organizationId, known)
  return { organizationId, companyId, ...pair, ...agent }
}

/**
 * Refuses a database whose demo belongs to another data directory: its sandbox.json has a live key pair that a start here would replace. Throws
 * a DatabaseStartError for the person who starts.
 */
export async function refuseOtherDemo(
  pool: Pool,
  secretKey: SecretKey,
  known: Partial<SandboxFile>,
  dataDir: string,
): Promise<void> {
  const company = (await listCompanies(pool)).find(({ name }) => name === demoVendorName)
  if (!company) return
  const live = await findLivePair(pool, company.id, known)
  if (live === null || live.isOfThisDemo || (await findKnownPair(pool, secretKey, company.id, known)) !== null) return
  throw new DatabaseStartError(
    `The demo in the database of DATABASE_URL belongs to another data directory, and ${dataDir} does not have its credentials. Use that data directory (BRIDGEWORK_DATA_DIR), another database, or give the demo up with "npm run operator -- credential revoke --company ${company.id}".`,
  )
}

/** The vendor company of the sandbox, with an accepted agreement. */
export async function ensureDemoVendor(pool: Pool): Promise<{ companyId: CompanyId; ownerId: MemberId }> {
  const vendor = await ensureCompany(pool)
  await ensureAgreement(pool, { companyId: vendor.companyId, memberId: vendor.ownerId })
  return vendor
}

/**
 * Grants the vendor the practice's first two locations, the first with its notes, once: what a newcomer revokes or grants later is left alone.
 */
export async function ensureGrants(
  pool: Pool,
  demo: Demo,
): Promise<{ granted: LocationId[]; ungranted: LocationId[] }> {
  const locations = (await listLocations(pool, demo.organizationId)).toSorted((one, other) =>
    compare(one.sourceId, other.sourceId),
  )
  const { companyId, organizationId } = demo
  const before = await listGrants(pool, { companyId, organizationId, withEnded: true })
  const first = before.length === 0 ? locations.slice(0, 2) : []
  for (const [index, { id }] of first.entries()) {
    const scope = { locationIds: [id], datasets: 'all', notes: index === 0, by: 'sandbox' } as const
    await grantAccess(pool, { companyId, organizationId, ...scope })
  }
  const ids = locations.map((location) => location.id)
  const datasets = datasetsByLocation(await listAccess(pool, { companyId, organizationId }), ids)
  const isOpen = (id: LocationId) => datasets.get(id)?.length !== 0
  return { granted: ids.filter(isOpen), ungranted: ids.filter((id) => !isOpen(id)) }
}

async function ensureOrganization(pool: Pool): Promise<OrganizationId> {
  const found = (await listOrganizations(pool)).find((organization) => organization.externalReference === demoReference)
  if (found) return found.id
  const made = await createOrganization(pool, {
    name: 'Demo Dental Group',
    externalReference: demoReference,
    timeZone: 'America/Denver',
    country: 'US',
  })
  return made.id
}

async function ensureCompany(pool: Pool): Promise<{ companyId: CompanyId; ownerId: MemberId }> {
  const found = (await listCompanies(pool)).find(({ name, state }) => name === demoVendorName && state !== 'closed')
  if (!found) {
    const owner = { email: 'owner@vendor.example', name: 'Demo Owner' }
    const made = await withTransaction(pool, async (client) => {
      const created = await createCompany(client, { name: demoVendorName, owner })
      await saveProfile(client, created.company.id, profile)
      return created
    })
    return { companyId: made.company.id, ownerId: made.owner.id }
  }
  return { companyId: found.id, ownerId: (await getOwner(pool, found.id)).id }
}

/** What an accounting of disclosures says of the demo vendor. */
const profile = {
  legalName: 'Demo Vendor, Inc.',
  postalAddress: '1 Example Street, Springfield, CO 81073',
  website: '',
  contact: 'help@vendor.example',
  purpose: 'Reminds patients of their appointments.',
}

async function ensureAgreement(pool: Pool, owner: { companyId: CompanyId; memberId: MemberId }): Promise<void> {
  await ensureFirstAgreement(pool)
  const current = await findCurrentAgreement(pool)
  if (!current) throw new Error('there is no agreement to accept')
  await acceptAgreement(pool, { ...owner, version: current.version })
}

/**
 * The pair of an earlier start while it is good, or the one that a person made of it in the portal since. A secret that nobody kept cannot be had
 * again, so otherwise there is a new pair.
 */
async function ensureKeyPair(
  pool: Pool,
  secretKey: SecretKey,
  owner: { companyId: CompanyId; memberId: MemberId },
  known: Partial<SandboxFile>,
): Promise<Pick<Demo, 'clientId' | 'clientSecret'>> {
  const knownPair = await findKnownPair(pool, secretKey, owner.companyId, known)
  if (knownPair) return knownPair
  const live = await findLivePair(pool, owner.companyId, known)
  if (live?.isOfThisDemo) return { clientId: live.clientId, clientSecret: null }
  const { clientId, clientSecret } = await regenerateKeyPair(pool, secretKey, owner)
  return { clientId, clientSecret }
}

/** The company's live pair. `isOfThisDemo`: the data directory knows a pair of the company, so a person of this demo regenerated it. */
async function findLivePair(
  pool: Pool,
  companyId: CompanyId,
  { client_id: known }: Partial<SandboxFile>,
): Promise<{ clientId: string; isOfThisDemo: boolean } | null> {
  const pairs = await listKeyPairs(pool, companyId)
  const live = pairs.find(({ state }) => state.state === 'live')
  return live ? { clientId: live.clientId, isOfThisDemo: pairs.some(({ clientId }) => clientId === known) } : null
}

async function findKnownPair(
  pool: Pool,
  secretKey: SecretKey,
  companyId: CompanyId,
  { client_id: clientId, client_secret: clientSecret }: Partial<SandboxFile>,
): Promise<{ clientId: string; clientSecret: string } | null> {
  if (!clientId || !clientSecret) return null
  const verdict = await verifyKeyPair(pool, secretKey, clientId, clientSecret)
  return 'companyId' in verdict && verdict.companyId === companyId ? { clientId, clientSecret } : null
}

/** The agent whose key is known while it is good, else a new one in the place of all others. */
export async function ensureAgent(
  pool: Pool,
  secretKey: SecretKey,
  organizationId: OrganizationId,
  known: Pick<Partial<SandboxFile>, 'agent_key'>,
): Promise<{ agentId: AgentId; agentKey: string }> {
  if (known.agent_key !== undefined) {
    const agent = await authenticateAgent(pool, secretKey, `Bearer ${known.agent_key}`).catch(() => null)
    if (agent?.organizationId === organizationId) return { agentId: agent.agentId, agentKey: known.agent_key }
  }
  // Its key was lost with the file: the new agent takes its place.
  for (const { id, revokedAt } of await listAgents(pool, organizationId)) {
    if (revokedAt === null) await revokeAgent(pool, id)
  }
  const { code } = await createEnrolmentCode(pool, secretKey, { organizationId })
  return enrollAgent(pool, secretKey, { code, name: 'Demo practice' })
}

function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}
