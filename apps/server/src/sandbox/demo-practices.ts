import type { Pool } from 'pg'
import type { DemoPractices } from '../modules/faults/drive.ts'
import { Problem } from '../platform/errors/problem.ts'
import type { OrganizationId } from '../platform/identity/identity.ts'
import type { Demo } from './demo.ts'
import type { Feeder } from './feeder-process.ts'
import { findVendorPractice, type VendorPractices } from './vendor-practices.ts'

/** What vendors may let happen in their demo practices. The demo vendor's is the demo practice, which it shares with nobody but its readers. */
export function createDemoPractices(deps: {
  pool: Pool
  demo: Pick<Demo, 'companyId' | 'organizationId'> | null
  feeder: Pick<Feeder, 'act'>
  vendors: Pick<VendorPractices, 'reset'>
}): DemoPractices {
  const { pool, demo, feeder, vendors } = deps
  const silentUntil = new Map<OrganizationId, Date>()
  return {
    async find(companyId) {
      if (companyId === demo?.companyId) return { organizationId: demo.organizationId, isOwn: false }
      const organizationId = await findVendorPractice(pool, companyId)
      return organizationId === null ? null : { organizationId, isOwn: true }
    },
    async act(organizationId, { action, ...members }) {
      // The members of both are the same but for the name of the first.
      const rows = await feeder.act(organizationId, { act: action, ...members } as Parameters<Feeder['act']>[1])
      if ('minutes' in members) silentUntil.set(organizationId, new Date(Date.now() + members.minutes * 60_000))
      return rows
    },
    silentUntil(organizationId) {
      const until = silentUntil.get(organizationId)
      if (until && until > new Date()) return until
      silentUntil.delete(organizationId)
      return null
    },
    reset: (companyId) => vendors.reset(companyId),
  }
}

/** Those that `get` gives. Until it gives some, the sandbox is still starting: Problem `sandbox_busy`. */
export function whenStarted(get: () => DemoPractices | null): DemoPractices {
  const started = () => {
    const practices = get()
    if (!practices) throw new Problem('sandbox_busy', { because: 'the sandbox is starting', retryAfterSeconds: 5 })
    return practices
  }
  return {
    find: async (companyId) => await started().find(companyId),
    act: async (organizationId, action) => await started().act(organizationId, action),
    silentUntil: (organizationId) => started().silentUntil(organizationId),
    reset: async (companyId) => await started().reset(companyId),
  }
}
