import type { TestContext } from 'node:test'
import type { Pool } from 'pg'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import type { VerifiedToken } from '../../credentials/access-token.ts'
import { acceptAgreement, findCurrentAgreement, publishAgreement } from '../../credentials/agreement.ts'
import { generateKeyPair, type NewKeyPair } from '../../credentials/key-pair.ts'
import { createSecretKey, type SecretKey } from '../../credentials/secret.ts'
import type { Company } from '../../directory/company.ts'
import type { Location } from '../../directory/location.ts'
import { createOrganization, type Organization } from '../../directory/organization.ts'
import { createCompany } from '../../membership/create-tenant.ts'
import type { Member } from '../../membership/member.ts'
import { createLocation } from '../../onboarding/upsert-locations.ts'

/** A database of its own with an agreement in force, and short ways to who and what a test needs. */
export type AccessWorld = {
  pool: Pool
  ownerPool: Pool
  secretKey: SecretKey
  addOrganization: (locations?: number) => Promise<{ organization: Organization; locations: Location[] }>
  addLocation: (organization: Organization) => Promise<Location>
  /** A company whose owner accepted the agreement, with a live key pair. */
  addCompany: () => Promise<TestCompany>
}

export type TestCompany = { company: Company; owner: Member; pair: NewKeyPair; token: VerifiedToken }

export async function someAccessWorld(t: TestContext): Promise<AccessWorld> {
  const { pool, ownerPool } = await createTestDatabase(t)
  const secretKey = createSecretKey(Buffer.alloc(32, 7))
  if ((await findCurrentAgreement(pool)) === null) {
    await publishAgreement(pool, { version: 1, body: 'Be kind to patients.', enforcedAt: new Date(0) })
  }
  let count = 0
  const addLocation = async (organization: Organization) => {
    count += 1
    return await createLocation(pool, organization.id, { sourceId: String(count), name: `Location ${count}` })
  }
  let companies = 0
  return {
    pool,
    ownerPool,
    secretKey,
    addLocation,
    addOrganization: async (size = 1) => {
      const organization = await createOrganization(pool, { name: 'Smile Group' })
      const locations: Location[] = []
      for (let i = 0; i < size; i += 1) locations.push(await addLocation(organization))
      return { organization, locations }
    },
    addCompany: async () => {
      companies += 1
      const { company, owner } = await createCompany(pool, {
        name: `Vendor ${companies}`,
        owner: { email: 'owner@vendor.example', name: 'Olga Owner' },
      })
      await acceptAgreement(pool, { companyId: company.id, memberId: owner.id, version: 1 })
      const pair = await generateKeyPair(pool, secretKey, { companyId: company.id, memberId: owner.id })
      return { company, owner, pair, token: tokenOf(company, pair) }
    },
  }
}

/** What verifying a token of the pair gives. */
export function tokenOf(company: Company, pair: NewKeyPair): VerifiedToken {
  return { companyId: company.id, keyPairId: pair.keyPairId, expiresAt: new Date(Date.now() + 3_600_000) }
}

/** An id that no location has: ours have 15 digits. */
export const noLocation = '7' as LocationId
