import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames } from '@bridgework/contract'
import { volumeLocations } from '@bridgework/practice-simulator'
import type { Pool } from 'pg'
import { createEnrolmentCode, enrollAgent, listAgents } from '../modules/agents/agent-key.ts'
import { grantAccess } from '../modules/consent/grant.ts'
import type { SecretKey } from '../modules/credentials/secret.ts'
import { type Company, listCompanies } from '../modules/directory/company.ts'
import { listLocations } from '../modules/directory/location.ts'
import { createOrganization, listOrganizations, type Organization } from '../modules/directory/organization.ts'
import { eraseTenant } from '../modules/leaving/erase.ts'
import { upsertLocations } from '../modules/onboarding/upsert-locations.ts'
import { listGrants } from '../modules/overview/grant.ts'
import { databaseErrorCode } from '../platform/database/unavailable.ts'
import type { AgentId } from '../platform/identity/identity.ts'
import type { Log } from '../platform/log/log-event.ts'
import { demoReference } from './demo.ts'
import { fill, toSource } from './populate.ts'
import { targetInProcess } from './volume-target.ts'

/** Of each vendor: one location with about 1,000 records, which are stored in a second. */
const shape = { seed: 'vendor', locations: 1, patients: 50 }

/** At most this many vendors of one sandbox get a practice. */
const practicesMax = 200

/** Less than the 15 minutes after which a location is stale. */
const everyMs = 10 * 60_000

const referencePrefix = `${demoReference}-vendor-`

type Deps = { pool: Pool; secretKey: SecretKey; signal: AbortSignal }

/**
 * Gives each vendor of the sandbox a practice of its own: at the start, when `wake` says that one has signed up, and every ten minutes, when
 * the practices are also marked as read and those of closed vendors erased. Returns also what stops it.
 */
export function startVendorPractices(deps: { pool: Pool; secretKey: SecretKey; log: Log }): {
  wake: () => void
  stop: () => Promise<void>
} {
  const stopping = new AbortController()
  const { signal } = stopping
  let waking = new AbortController()
  const run = async () => {
    while (!signal.aborted) {
      waking = new AbortController()
      await keepVendorPractices({ ...deps, signal }).catch((error) => {
        if (!signal.aborted) deps.log({ event: 'task.failed', task: 'demo practices', error: databaseErrorCode(error) })
      })
      await sleep(everyMs, undefined, { signal: AbortSignal.any([signal, waking.signal]) }).catch(() => {})
    }
  }
  const running = run()
  return {
    wake: () => waking.abort(),
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

/**
 * Makes what is missing of the vendors' demo practices, and erases those whose vendor is closed. Looks what is there before each step, so what
 * was interrupted is taken up by the next call. A vendor that any practice has ever granted access needs none.
 */
export async function keepVendorPractices(deps: Deps): Promise<void> {
  const companies = new Map((await listCompanies(deps.pool)).map((company) => [referenceOf(company), company]))
  const practices = new Map(
    (await listOrganizations(deps.pool)).flatMap((each) =>
      each.externalReference?.startsWith(referencePrefix) ? [[each.externalReference, each] as const] : [],
    ),
  )
  let count = practices.size
  for (const [reference, company] of companies) {
    if (deps.signal.aborted) return
    const practice = practices.get(reference)
    if (company.state !== 'active' || (!practice && count >= practicesMax)) continue
    if (!practice && (await hadGrant(deps.pool, company))) continue
    if (!practice) count += 1
    await keepPractice(deps, company, practice ?? (await createPractice(deps.pool, company)))
  }
  for (const [reference, { id }] of practices) {
    const company = companies.get(reference)
    if (company && company.state !== 'closed') continue
    await eraseTenant({ ...deps, onDeleted: () => {} }, { side: 'organization', id }, 'sandbox')
  }
}

function referenceOf({ id }: Company): string {
  return referencePrefix + id
}

async function hadGrant(pool: Pool, { id }: Company): Promise<boolean> {
  return (await listGrants(pool, { companyId: id, withEnded: true })).length > 0
}

async function createPractice(pool: Pool, company: Company): Promise<Organization> {
  const name = `Demo practice of ${company.name}`.slice(0, 100)
  return await createOrganization(pool, { name, externalReference: referenceOf(company), country: 'US' })
}

/** The grant comes last: until there is one, the data may be only a part. What the vendor's access became later is left alone. */
async function keepPractice(
  { pool, secretKey, signal }: Deps,
  company: Company,
  practice: Organization,
): Promise<void> {
  const organizationId = practice.id
  const agentId = await ensureAgent(pool, secretKey, practice)
  const target = targetInProcess(pool, { agentId, agentKey: '' })
  if (await hadGrant(pool, company)) {
    for (const { id } of await listLocations(pool, organizationId)) {
      for (const dataset of datasetNames) await target.finish(id, dataset)
    }
    return
  }
  const sources = volumeLocations(shape).map((each) => ({ ...toSource(each), name: 'Demo location' }))
  for (const { id, sourceId } of await upsertLocations(pool, organizationId, sources)) {
    await fill(target, shape, { id, sourceId }, signal, () => {})
  }
  if (signal.aborted) return
  const whole = { locationIds: 'all', datasets: 'all' } as const
  await grantAccess(pool, { companyId: company.id, organizationId, ...whole, by: 'sandbox' })
}

async function ensureAgent(pool: Pool, secretKey: SecretKey, { id }: Organization): Promise<AgentId> {
  const living = (await listAgents(pool, id)).find(({ revokedAt }) => revokedAt === null)
  if (living) return living.id
  const { code } = await createEnrolmentCode(pool, secretKey, { organizationId: id })
  return (await enrollAgent(pool, secretKey, { code, name: 'Demo practice' })).agentId
}
