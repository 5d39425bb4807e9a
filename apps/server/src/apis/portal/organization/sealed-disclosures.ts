import { Readable } from 'node:stream'
import type { Pool } from 'pg'
import { recordAudit } from '../../../modules/audit/store.ts'
import { remainingTo } from '../../../modules/chain/dropped.ts'
import { listSealKeyChanges, type SealKeyChange } from '../../../modules/chain/key-change.ts'
import { type SealPublicKey, sealKeyOf } from '../../../modules/chain/seal-key.ts'
import { findSealMail, sealFields, setSealMail } from '../../../modules/chain/seal-mail.ts'
import { type DroppedPart, type ExportPart, sealedExport } from '../../../modules/chain/sealed-export.ts'
import { findLastPracticeSeal } from '../../../modules/chain/store.ts'
import { clientIdsOf } from '../../../modules/credentials/key-pair.ts'
import { companyNames } from '../../../modules/directory/company.ts'
import { type Location, listLocations } from '../../../modules/directory/location.ts'
import { type DisclosureFactsRow, toDisclosureFacts } from '../../../modules/disclosure/entry.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { CompanyId, KeyPairId } from '../../../platform/identity/identity.ts'
import { entryOf } from '../shared/audit.ts'
import type { PortalHandlers } from '../shared/context.ts'
import { readDays } from '../shared/query.ts'

/** What a practice checks with a program of its own that no disclosure was changed: docs/decisions/chain.md. */
export const sealedDisclosureHandlers: PortalHandlers<'exportSealedDisclosures' | 'getSealKey' | 'setSealMail'> = {
  exportSealedDisclosures: async ({ pool, secretKey }, { member: { organizationId }, query, reply }) => {
    const { from } = readDays(query)
    const locations = await listLocations(pool, organizationId)
    reply.headers({
      'Content-Type': 'application/x-ndjson; charset=utf-8',
      'Content-Disposition': `attachment; filename="disclosures-${organizationId}.ndjson"`,
    })
    const key = sealKeyOf(secretKey)
    const parts = sealedExport(pool, {
      organizationId,
      locationIds: locations.map(({ id }) => id),
      from: from && new Date(from.toZonedDateTime('UTC').epochMilliseconds),
      key,
    })
    const lines = toLines(pool, { organizationId, locations, key }, parts)
    // Fastify waits for a stream that was given to `send`, and takes this for what the route answers.
    return reply.send(Readable.from(lines)) as unknown as string
  },

  getSealKey: async ({ pool, secretKey }, { member }) => {
    const last = await findLastPracticeSeal(pool, member.organizationId)
    const { isOn, recipient } = await findSealMail(pool, member.organizationId)
    return {
      public_key: sealKeyOf(secretKey).text,
      sealed_at: last?.sealedAt ?? null,
      entries: last && Number(last.entries),
      is_mailed: isOn,
      mailed_to: recipient,
    }
  },

  setSealMail: async ({ pool }, call) => {
    const { is_mailed: isOn } = call.body
    await withTransaction(pool, async (client) => {
      await setSealMail(client, call.member.organizationId, isOn)
      await recordAudit(client, entryOf(call, 'seal.mail', { isOn }))
    })
    return { done: true }
  },
}

type Practice = { organizationId: string; locations: readonly Location[]; key: SealPublicKey }

async function* toLines(pool: Pool, practice: Practice, parts: AsyncGenerator<ExportPart>): AsyncGenerator<string> {
  const { organizationId, key, locations } = practice
  const places = new Map(locations.map(({ id, name }) => [id, name]))
  for await (const part of parts) {
    if (part.type === 'begin') {
      const begins_after = part.seal && sealFields(part.seal)
      const key_changes = (await listSealKeyChanges(pool)).map(changeFields)
      const dropped = part.dropped && dropFields(part.dropped)
      const about = { organization_id: organizationId, public_key: key.text, key_changes }
      yield line({ type: 'export', ...about, begins_after, dropped })
    } else if (part.type === 'dropped') {
      yield line({ type: 'dropped', id: part.entry.id, sha256: part.entry.hash.toString('hex') })
    } else if (part.type === 'seal') yield line({ type: 'seal', ...sealFields(part.seal) })
    else if (part.type === 'end') yield line({ type: 'end' })
    else yield await entryLines(pool, places, part.rows)
  }
}

/** What is sealed, and beside it the names of today, which no seal covers. Names of filters, never their values. */
async function entryLines(pool: Pool, places: ReadonlyMap<string, string>, rows: readonly DisclosureFactsRow[]) {
  const [companies, clients] = await Promise.all([
    companyNames(pool, [...new Set(rows.map((row) => row.company_id as CompanyId))]),
    clientIdsOf(pool, [...new Set(rows.map((row) => row.key_pair_id as KeyPairId))]),
  ])
  return rows
    .map((row) =>
      line({
        type: 'disclosure',
        ...toDisclosureFacts(row),
        filters: Object.keys(JSON.parse(row.filters_text)),
        company_name: companies.get(row.company_id as CompanyId) ?? null,
        client_id: clients.get(row.key_pair_id as KeyPairId) ?? null,
        location_name: places.get(row.location_id) ?? null,
      }),
    )
    .join('')
}

function dropFields({ drop, begin }: DroppedPart) {
  return {
    organization_id: begin.organizationId,
    month: drop.month,
    dropped_at: drop.droppedAt,
    entries: begin.entries,
    head: begin.head.toString('hex'),
    last_disclosure_id: begin.lastDisclosureId,
    remaining_to: remainingTo(drop),
    key_id: drop.keyId,
    signature: begin.signature.toString('base64url'),
  }
}

function changeFields(change: SealKeyChange) {
  return {
    previous_key: change.previousKey,
    next_key: change.nextKey,
    last_seal: String(change.lastSeal),
    last_seal_sha256: change.lastSealSha256.toString('hex'),
    changed_at: change.changedAt,
    previous_signature: change.previousSignature.toString('base64url'),
    next_signature: change.nextSignature.toString('base64url'),
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
