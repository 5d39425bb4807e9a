import { datasetNames } from '@bridgework/contract'
import type { SandboxAction, SandboxState } from '@bridgework/contract/portal'
import type { Pool } from 'pg'
import { Problem } from '../../platform/errors/problem.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import { grantAccess, listAccess, revokeAccess } from '../consent/grant.ts'
import type { VendorFaults } from './vendor-faults.ts'

/** What happens in a practice itself. */
export type PracticeAction = Extract<
  SandboxAction,
  | { action: 'change' | 'remove' }
  | { action: 'bring_back' | 'hold_removal' | 'rename_carrier' | 'merge' }
  | { action: 'silence' }
>

/** The demo practices of a sandbox, by whose vendor each is. */
export type DemoPractices = {
  /** Null: there is none yet. `isOwn`: no other vendor's too. */
  find: (companyId: CompanyId) => Promise<{ organizationId: OrganizationId; isOwn: boolean } | null>
  /** Returns how many rows of the practice were altered, when the service has what became of it. Throws Problem `sandbox_busy`. */
  act: (organizationId: OrganizationId, action: PracticeAction) => Promise<number>
  /** When the practice's agent goes on; null: it is not silent. */
  silentUntil: (organizationId: OrganizationId) => Date | null
  reset: (companyId: CompanyId) => Promise<void>
}

export type SandboxDrive = { pool: Pool; faults: VendorFaults; practices: DemoPractices }

/** What a vendor's sandbox is like. Throws Problem `sandbox_practice_unknown`. */
export async function readSandbox(drive: SandboxDrive, companyId: CompanyId): Promise<SandboxState> {
  const state = await findSandbox(drive, companyId)
  if (!state) throw new Problem('sandbox_practice_unknown')
  return state
}

/** The same; null: the vendor has no practice yet. */
export async function findSandbox(
  { pool, faults, practices }: SandboxDrive,
  companyId: CompanyId,
): Promise<SandboxState | null> {
  const practice = await practices.find(companyId)
  if (!practice) return null
  const { organizationId, isOwn } = practice
  const access = await listAccess(pool, { companyId, organizationId })
  const granted = new Set(access.map(({ dataset }) => dataset))
  const ordered = faults.ordered(companyId)
  return {
    practice: {
      organization_id: organizationId,
      is_own: isOwn,
      datasets_granted: datasetNames.filter((name) => granted.has(name)),
      silent_until: practices.silentUntil(organizationId)?.toISOString() ?? null,
    },
    fault: ordered && { fault: ordered.text, requests_left: ordered.requestsLeft },
    token_lifetime_seconds: faults.tokenLifetimeSeconds(companyId),
  }
}

/** Lets something happen in a vendor's sandbox, and to it alone. Returns the altered rows of its practice. Throws a Problem. */
export async function driveSandbox(drive: SandboxDrive, companyId: CompanyId, action: SandboxAction): Promise<number> {
  const { pool, faults, practices } = drive
  const practice = await practices.find(companyId)
  if (!practice) throw new Problem('sandbox_practice_unknown')
  const { organizationId } = practice
  const whole = { companyId, organizationId, locationIds: 'all', datasets: 'all', by: 'sandbox' } as const
  switch (action.action) {
    case 'fault':
      faults.order(companyId, action.fault, action.requests)
      return 0
    case 'clear_faults':
      faults.clear(companyId)
      return 0
    case 'token_lifetime':
      faults.setTokenLifetime(companyId, action.seconds)
      return 0
    case 'end_grant':
      await revokeAccess(pool, whole)
      return 0
    case 'give_grant':
      await grantAccess(pool, whole)
      return 0
    case 'reset':
      if (!practice.isOwn) throw new Problem('sandbox_reset_denied')
      await practices.reset(companyId)
      return 0
    default:
      return await practices.act(organizationId, action)
  }
}
