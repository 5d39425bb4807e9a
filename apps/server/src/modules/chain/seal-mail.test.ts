import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { createSecretKey } from '../credentials/secret.ts'
import { createOrganization } from '../directory/organization.ts'
import { addMember } from '../membership/member.ts'
import { sealKeyOf } from './seal-key.ts'
import { mailSeals } from './seal-mail.ts'

test('F30: a practice without an owner holds up no mail of another, and gets none', async (t) => {
  const { pool } = await createTestDatabase(t)
  const about = { key: sealKeyOf(createSecretKey(Buffer.alloc(32, 7))), publicUrl: 'https://b.example' }
  for (const name of ['Without', 'With']) {
    const { id } = await createOrganization(pool, { name })
    if (name === 'With')
      await addMember(pool, { side: 'organization', id }, { email: 'o@example.com', name: 'O', role: 'owner' })
    await pool.query('insert into seal_mail (organization_id) values ($1)', [id])
    await pool.query(
      `insert into practice_seal (organization_id, entries, head, last_disclosure_id, sealed_at, key_id, signature, seal_number, first_at, last_at)
       values ($1, 3, '\\x00', 3, now(), 'k', '\\x00', 1, now(), now())`,
      [id],
    )
  }
  assert.equal(await mailSeals(pool, about), 2)
  const { rows } = await pool.query('select recipient from mail')
  assert.deepEqual(rows, [{ recipient: 'o@example.com' }])
  assert.equal(await mailSeals(pool, about), 0)
})
