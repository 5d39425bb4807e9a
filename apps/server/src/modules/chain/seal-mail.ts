import type { Pool } from 'pg'
import { withTransaction } from '../../platform/database/pool.ts'
import type { Queryable } from '../../platform/database/queryable.ts'
import type { OrganizationId } from '../../platform/identity/identity.ts'
import { requireOrganization } from '../directory/organization.ts'
import { type Mail, queueMail } from '../mail/queue.ts'
import { findOwner } from '../membership/member.ts'
import type { PracticeSeal } from './seal.ts'
import type { SealPublicKey } from './seal-key.ts'
import { findLastPracticeSeal } from './store.ts'

/** Whether a practice's seals are mailed, and to whom: null while it has no owner. */
export async function findSealMail(
  db: Queryable,
  organizationId: OrganizationId,
): Promise<{ isOn: boolean; recipient: string | null }> {
  const { rowCount } = await db.query('select from seal_mail where organization_id = $1', [organizationId])
  const owner = await findOwner(db, { side: 'organization', id: organizationId })
  return { isOn: rowCount === 1, recipient: owner?.email ?? null }
}

/** From now on the practice's owner gets each new seal by mail, and the newest one at once; or none any more. */
export async function setSealMail(db: Queryable, organizationId: OrganizationId, isOn: boolean): Promise<void> {
  await db.query(
    isOn
      ? 'insert into seal_mail (organization_id) values ($1) on conflict do nothing'
      : 'delete from seal_mail where organization_id = $1',
    [organizationId],
  )
}

/**
 * Queues a mail with its newest seal for each practice that wants one and has not had it; how many. A seal says all that older ones said.
 * Several processes may do it at once: each seal is queued once.
 */
export async function mailSeals(pool: Pool, about: { key: SealPublicKey; publicUrl: string }): Promise<number> {
  for (let count = 0; ; count += 1) if (!(await mailNext(pool, about))) return count
}

async function mailNext(pool: Pool, about: { key: SealPublicKey; publicUrl: string }): Promise<boolean> {
  return await withTransaction(pool, async (client) => {
    const { rows } = await client.query<{ id: OrganizationId }>(
      `select m.organization_id as id
         from seal_mail m
        where exists (select 1 from practice_seal p where p.organization_id = m.organization_id and p.entries > m.mailed_entries)
        limit 1
          for update of m skip locked`,
    )
    const [practice] = rows
    if (!practice) return false
    const seal = await findLastPracticeSeal(client, practice.id)
    if (!seal) return false
    const { name } = await requireOrganization(client, practice.id)
    const owner = await findOwner(client, { side: 'organization', id: practice.id })
    if (owner) await queueMail(client, { recipient: owner.email, ...sealMail(seal, { ...about, name }) })
    await client.query('update seal_mail set mailed_entries = $2 where organization_id = $1', [
      practice.id,
      seal.entries,
    ])
    return true
  })
}

/** The members of a practice's seal as its export has them: a file of them is an "earlier export" for the practice's program. */
export function sealFields(seal: PracticeSeal) {
  return {
    organization_id: seal.organizationId,
    entries: seal.entries,
    head: seal.head.toString('hex'),
    last_disclosure_id: seal.lastDisclosureId,
    sealed_at: seal.sealedAt,
    key_id: seal.keyId,
    signature: seal.signature.toString('base64url'),
  }
}

function sealMail(
  seal: PracticeSeal,
  { key, publicUrl, name }: { key: SealPublicKey; publicUrl: string; name: string },
): Omit<Mail, 'recipient'> {
  const fields = sealFields(seal)
  const file = `seal-${fields.organization_id}-${fields.sealed_at.slice(0, 10)}.ndjson`
  const lines = Object.entries(fields).map(([field, value]) => `  ${field}: ${value}`)
  return {
    subject: `Seal over the disclosures of ${name}, ${fields.sealed_at.slice(0, 10)}`,
    text: `Bridgework has sealed the disclosures of ${name}: everything that vendors read until now.

${lines.join('\n')}
  public_key: ${key.text}

Keep this mail. It shows a later change of any of these ${Number(fields.entries).toLocaleString('en-US')} disclosures, also one by the operator of Bridgework.

To check it:

1. Open ${publicUrl}/organization/${fields.organization_id}/disclosures, and choose "Download with seals" and "Download the program".
2. Save the file that is attached to this mail beside them.
3. With Node.js 20 or newer, run:

  node verify-disclosures.mjs disclosures-${fields.organization_id}.ndjson --public-key ${key.text} --earlier ${file}

Use the public key of your first mail or of your contract: it is the same in every mail until the key is changed, and then the download shows that the key before signed the change.

A mail comes on each day after vendors have read. You and the admins can switch these mails off on the page of disclosures.
`,
    attachment: { name: file, text: `${JSON.stringify({ type: 'seal', ...fields })}\n` },
  }
}
