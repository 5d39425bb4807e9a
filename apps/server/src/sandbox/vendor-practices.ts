import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { grantAccess } from '../modules/consent/grant.ts'
import type { SecretKey } from '../modules/credentials/secret.ts'
import { type Company, demoVendorName, listCompanies } from '../modules/directory/company.ts'
import { createOrganization, listOrganizations, type Organization } from '../modules/directory/organization.ts'
import { eraseTenant } from '../modules/leaving/erase.ts'
import { listGrants } from '../modules/overview/grant.ts'
import { databaseErrorCode } from '../platform/database/unavailable.ts'
import type { CompanyId, OrganizationId } from '../platform/identity/identity.ts'
import type { Log } from '../platform/log/log-event.ts'
import { demoReference, ensureAgent } from './demo.ts'
import type { Feeder } from './feeder-process.ts'

/** At most this many vendors of one sandbox get a practice. */
const practicesMax = 200

const everyMs = 10 * 60_000

/** A practice arrives within seconds. A busy machine is a reason to wait, and not to fail. */
const arrivalMaxMs = 5 * 60_000

const referencePrefix = `${demoReference}-vendor-`

type Deps = {
  pool: Pool
  secretKey: SecretKey
  signal: AbortSignal
  feeder: Pick<Feeder, 'add' | 'isFed' | 'remove'>
  /** Where the keys of the practices' agents are kept. */
  stateDir: string
}

export type VendorPractices = {
  wake: () => void
  /** Erases the vendor's practice and makes a new one, with a new grant. */
  reset: (companyId: CompanyId) => Promise<void>
  stop: () => Promise<void>
}

/**
 * Gives each vendor of the sandbox a practice of its own: at the start, when `wake` says that one has signed up, and every ten minutes, when
 * the practices of closed vendors are also erased.
 */
export function startVendorPractices(deps: Omit<Deps, 'signal'> & { log: Log }): VendorPractices {
  const stopping = new AbortController()
  const { signal } = stopping
  let waking = new AbortController()
  // One after the other: a reset must not meet the making of the same practice.
  let last: Promise<void> = Promise.resolve()
  const inTurn = (work: () => Promise<void>) => {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }
  const run = async () => {
    while (!signal.aborted) {
      waking = new AbortController()
      await inTurn(() => keepVendorPractices({ ...deps, signal })).catch((error) => {
        if (!signal.aborted) deps.log({ event: 'task.failed', task: 'demo practices', error: databaseErrorCode(error) })
      })
      await sleep(everyMs, undefined, { signal: AbortSignal.any([signal, waking.signal]) }).catch(() => {})
    }
  }
  const running = run()
  return {
    wake: () => waking.abort(),
    reset: (companyId) => inTurn(() => resetPractice({ ...deps, signal }, companyId)),
    stop: async () => {
      stopping.abort()
      await Promise.all([running, last])
    },
  }
}

/**
 * Makes what is missing of the vendors' demo practices, and erases those whose vendor is closed. Looks what is there before each step, so what
 * was interrupted is taken up by the next call. A vendor that any practice has ever granted access needs none.
 */
export async function keepVendorPractices(deps: Deps): Promise<void> {
  const companies = new Map((await listCompanies(deps.pool)).map((company) => [referenceOf(company), company]))
  const practices = await listPractices(deps.pool)
  let count = practices.size
  const arriving: Promise<void>[] = []
  for (const [reference, company] of companies) {
    if (deps.signal.aborted) break
    const practice = practices.get(reference)
    if (company.state !== 'active' || (!practice && count >= practicesMax)) continue
    if (!practice && (company.name === demoVendorName || (await hasOtherGrant(deps.pool, company)))) continue
    if (!practice) count += 1
    const { arrival } = await keepPractice(deps, company, practice ?? (await createPractice(deps.pool, company)))
    // Settled together below.
    arrival.catch(() => {})
    arriving.push(arrival)
  }
  for (const [reference, { id }] of practices) {
    const company = companies.get(reference)
    if (deps.signal.aborted || (company && company.state !== 'closed')) continue
    await erasePractice(deps, id)
  }
  for (const outcome of await Promise.allSettled(arriving))
    if (outcome.status === 'rejected' && !deps.signal.aborted) throw outcome.reason
}

/** The practice that is a vendor's own; null: it has none. */
export async function findVendorPractice(pool: Pool, companyId: CompanyId): Promise<OrganizationId | null> {
  return (await listPractices(pool)).get(referenceOf({ id: companyId }))?.id ?? null
}

async function resetPractice(deps: Deps, companyId: CompanyId): Promise<void> {
  const company = (await listCompanies(deps.pool)).find(({ id }) => id === companyId)
  const practiceId = await findVendorPractice(deps.pool, companyId)
  if (!company || practiceId === null) return
  await erasePractice(deps, practiceId)
  const { arrival } = await keepPractice(deps, company, await createPractice(deps.pool, company))
  await arrival
}

async function erasePractice(deps: Deps, id: OrganizationId): Promise<void> {
  deps.feeder.remove(id)
  await eraseTenant({ ...deps, onDeleted: () => {} }, { side: 'organization', id }, 'sandbox')
}

async function listPractices(pool: Pool): Promise<Map<string, Organization>> {
  return new Map(
    (await listOrganizations(pool)).flatMap((each) =>
      each.externalReference?.startsWith(referencePrefix) ? [[each.externalReference, each] as const] : [],
    ),
  )
}

function referenceOf({ id }: Pick<Company, 'id'>): string {
  return referencePrefix + id
}

/** A grant of the sandbox may be what is left of a reset. */
async function hasOtherGrant(pool: Pool, { id }: Company): Promise<boolean> {
  return (await listGrants(pool, { companyId: id, withEnded: true })).some(({ grantedBy }) => grantedBy !== 'sandbox')
}

async function createPractice(pool: Pool, company: Company): Promise<Organization> {
  const name = `Demo practice of ${company.name}`.slice(0, 100)
  const timeZone = 'America/Denver'
  return await createOrganization(pool, { name, externalReference: referenceOf(company), timeZone, country: 'US' })
}

/**
 * Lets the practice live. The promise in the answer is settled when its data has arrived and the vendor may read it: the grant comes last, because until
 * then the data may be only a part. What the vendor's access became later is left alone.
 */
async function keepPractice(
  { pool, secretKey, signal, feeder, stateDir }: Deps,
  company: Company,
  { id: organizationId }: Organization,
): Promise<{ arrival: Promise<void> }> {
  const folder = join(stateDir, 'vendors', organizationId)
  const agent = await ensureAgent(pool, secretKey, organizationId, readKey(folder))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, 'agent-key'), agent.agentKey, { mode: 0o600 })
  const isGranted = (await listGrants(pool, { companyId: company.id, organizationId, withEnded: true })).length > 0
  if (isGranted && feeder.isFed(organizationId)) return { arrival: Promise.resolve() }
  const arrived = feeder.add(
    { ...agent, organizationId, seed: `vendor ${company.id}` },
    AbortSignal.any([signal, AbortSignal.timeout(arrivalMaxMs)]),
  )
  const whole = { locationIds: 'all', datasets: 'all' } as const
  const grant = async () => {
    if (!isGranted) await grantAccess(pool, { companyId: company.id, organizationId, ...whole, by: 'sandbox' })
  }
  return { arrival: arrived.then(grant) }
}

/** In the practice's folder, which goes with the practice. */
function readKey(folder: string): { agent_key?: string } {
  try {
    return { agent_key: readFileSync(join(folder, 'agent-key'), 'utf8') }
  } catch {
    // A practice that is new, or whose key was lost: its agent is enrolled again.
    return {}
  }
}
