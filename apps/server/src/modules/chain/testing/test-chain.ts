import { randomBytes, randomUUID } from 'node:crypto'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import type { LocationId } from '../../../platform/identity/identity.ts'
import { recordAudit } from '../../audit/store.ts'
import { createSecretKey } from '../../credentials/secret.ts'
import { createOrganization } from '../../directory/organization.ts'
import { makeMonthsBetween } from '../../disclosure/testing/test-months.ts'
import { createLocation } from '../../onboarding/upsert-locations.ts'
import { type SealKey, sealKeyOf } from '../seal-key.ts'
import { sealOnce } from '../sealer.ts'
import { type Finding, type VerifyOptions, verifyChain } from '../verify.ts'

/** A database with two practices, what adds disclosures and acts of any time to it, seals them at any time, and verifies them. */
export async function someChain(t: { name?: string }) {
  const { pool, ownerPool, serverUrl, url } = await createTestDatabase(t)
  const key = sealKeyOf(createSecretKey(randomBytes(32)))
  const practices = await Promise.all(
    ['Smile', 'Bright'].map(async (name) => {
      const organization = await createOrganization(pool, { name })
      const location = await createLocation(pool, organization.id, { sourceId: '1', name })
      return { organizationId: organization.id, locationId: location.id }
    }),
  )
  const [here, there] = practices.map(({ locationId }) => locationId) as [LocationId, LocationId]

  /** Disclosures, one a second from this moment on, by turns of both practices: intervals and lists of ids. */
  const disclose = async (rows: number, firstAt: string, locationIds: readonly LocationId[] = [here, there]) => {
    await makeMonthsBetween(ownerPool, new Date(firstAt), new Date(Date.parse(firstAt) + rows * 1_000))
    await ownerPool.query(
      `insert into disclosure (disclosed_at, company_id, key_pair_id, location_id, dataset, filters, records, counted, after_id, last_id,
                               record_ids, request_id, ip)
       select $2::timestamptz + n * interval '1 second', $3, $3, ($4::bigint[])[1 + n % cardinality($4::bigint[])],
              (array['patients', 'appointments'])[1 + n % 2],
              case n % 3 when 0 then '{}' else jsonb_build_object('patient_id', n::text, 'fields', array['birth_date']) end, 1 + n % 7,
              case n % 5 when 0 then n end, case n % 3 when 0 then 0 end, case n % 3 when 0 then n * 10 end,
              case n % 3 when 0 then null else array[n, n + 5, n + 9] end, 'request "' || n || '" – ü', '203.0.113.9'
         from generate_series(1, $1::integer) n`,
      [rows, firstAt, randomUUID(), locationIds],
    )
  }

  const act = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        recordAudit(pool, {
          side: 'organization',
          tenantId: practices[0]?.organizationId ?? null,
          userId: index % 2 === 0 ? null : randomUUID(),
          actor: 'Olga "O" <olga@example.com>',
          action: 'company.rename',
          facts: { former: 'Vendor, Inc.\n', name: `"V" ${index} 歯` },
          ip: '2001:db8::1',
          requestId: null,
        }),
      ),
    )

  const seal = (at: string, by: SealKey = key) => sealOnce({ pool, key: async () => by, now: () => new Date(at) })

  /** What `verify` finds, each as its text. */
  const verify = async (options: Partial<VerifyOptions> = {}, db: Queryable = ownerPool) => {
    const found: string[] = []
    const onFinding = ({ text }: Finding) => found.push(text)
    const defaults = { key, now: new Date(), from: null, until: null, published: null, onFinding }
    return { report: await verifyChain(db, { ...defaults, ...options }), found }
  }

  return { pool, ownerPool, serverUrl, url, key, practices, here, there, disclose, act, seal, verify }
}
