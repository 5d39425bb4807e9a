import { datasetNames } from '@bridgework/contract'
import { generateVolume, type VolumeShape, volumeLocations, volumeSize } from '@bridgework/practice-simulator'
import type { Pool } from 'pg'
import { createEnrolmentCode, enrollAgent } from '../modules/agents/agent-key.ts'
import { grantAccess } from '../modules/consent/grant.ts'
import type { SecretKey } from '../modules/credentials/secret.ts'
import type { LocationSource } from '../modules/directory/location.ts'
import { createOrganization, type Organization } from '../modules/directory/organization.ts'
import { completeLocations } from '../modules/onboarding/complete-locations.ts'
import { upsertLocations } from '../modules/onboarding/upsert-locations.ts'
import { withTransaction } from '../platform/database/pool.ts'
import type { Queryable } from '../platform/database/queryable.ts'
import type { LocationId, OrganizationId } from '../platform/identity/identity.ts'
import { ensureDemoVendor, volumeReference } from './demo.ts'
import { findTargetOverHttp, targetInProcess, type VolumeTarget } from './volume-target.ts'

export type Populated = {
  organizationId: OrganizationId
  locations: number
  records: number
  durationMs: number
  recordsPerSecond: number
  through: 'the running server' | 'this process'
  /** False when it was stopped before everything was stored. */
  isComplete: boolean
}

/** Locations at a time: one waits for the database while others are rendered. */
const locationsAtOnce = 5

/**
 * Makes an organization with much invented data, marked as a demo and granted to the demo vendor, through the ingest path that agents use.
 * `report` hears how many records are stored, of how many. `alongside` happens in the transaction that makes the organization.
 */
export async function populate(
  deps: {
    pool: Pool
    secretKey: SecretKey
    serverUrl: string
    signal: AbortSignal
    alongside?: (client: Queryable, organization: Organization) => Promise<void>
  },
  shape: VolumeShape,
  report: (stored: number, total: number) => void,
): Promise<Populated> {
  const { pool, secretKey, signal } = deps
  await completeLocations(pool)
  const name = `Volume of ${shape.locations} by ${shape.patients}`
  const organization = await withTransaction(pool, async (client) => {
    const made = await createOrganization(client, { name, externalReference: volumeReference, country: 'US' })
    await deps.alongside?.(client, made)
    return made
  })
  const { code } = await createEnrolmentCode(pool, secretKey, { organizationId: organization.id })
  const agent = await enrollAgent(pool, secretKey, { code, name: 'Volume' })
  const locations = await upsertLocations(pool, organization.id, volumeLocations(shape).map(toSource))
  const { companyId } = await ensureDemoVendor(pool)
  const whole = { locationIds: 'all', datasets: 'all' } as const
  await grantAccess(pool, { companyId, organizationId: organization.id, ...whole, by: 'sandbox' })

  const overHttp = await findTargetOverHttp(deps.serverUrl, agent)
  const target = overHttp ?? targetInProcess(pool, agent)
  const startedAtMs = performance.now()
  const total = volumeSize(shape)
  let records = 0
  const waiting = locations.toSorted((one, other) => Number(one.sourceId) - Number(other.sourceId))
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      await fill(target, shape, { id: next.id, sourceId: next.sourceId }, signal, (count) => {
        records += count
        report(records, total)
      })
    }
  }
  await Promise.all(Array.from({ length: locationsAtOnce }, work))

  const durationMs = Math.round(performance.now() - startedAtMs)
  return {
    organizationId: organization.id,
    locations: locations.length,
    records,
    durationMs,
    recordsPerSecond: Math.round((records * 1000) / Math.max(1, durationMs)),
    through: overHttp === null ? 'this process' : 'the running server',
    isComplete: records === total,
  }
}

/** Stores all records of a location, and marks each dataset as read completely. */
export async function fill(
  target: VolumeTarget,
  shape: VolumeShape,
  location: { id: LocationId; sourceId: string },
  signal: AbortSignal,
  stored: (records: number) => void,
): Promise<void> {
  for (const batch of generateVolume(shape, location.sourceId)) {
    if (signal.aborted) return
    await target.store(location.id, batch)
    stored(batch.records.length)
  }
  for (const dataset of datasetNames) await target.finish(location.id, dataset)
}

/** A location of a volume, as it is stored. */
export function toSource(location: ReturnType<typeof volumeLocations>[number]): LocationSource {
  return {
    sourceId: location.source_id,
    name: location.name,
    addressLine1: location.address_line_1,
    addressLine2: location.address_line_2,
    city: location.city,
    state: location.state,
    postalCode: location.postal_code,
    country: location.country,
    phone: location.phone,
    email: location.email,
    websiteUrl: location.website_url,
    timeZone: location.time_zone,
    currency: location.currency,
    isActive: location.is_active,
    practiceManagementSystem: location.practice_management_system,
    officeHours: null,
  }
}
