import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { actInWords } from '../../../modules/audit/in-words.ts'
import { acceptInvitation, findInvitation } from '../../../modules/sign-in/invitation.ts'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import { operatorOn, secretKey } from '../testing/test-operator.ts'

const owner = ['--owner-email', 'olga@example.com', '--owner-name', 'Olga Owner']

test('owners and operators made on the command line get a link by mail, which is printed too, and get in by it', async (t) => {
  const { pool, ask, accept, mailTo } = await someCommandLine(t)
  const company = await ask('company', 'create', '--name', 'Vendor Inc.', ...owner)
  const organization = await ask('organization', 'create', '--name', 'Smile Group', ...owner)
  const operator = await ask('operator', 'add', '--email', 'op@example.com', '--name', 'Otto')

  for (const { invitation } of [company, organization]) {
    assert.match(invitation, /^https:\/\/b\.example\/invitation#bwi_/)
    assert.ok((await mailTo('olga@example.com')).some((text) => text.includes(invitation)))
  }
  assert.ok((await mailTo('op@example.com'))[0]?.includes(operator.invitation))
  assert.deepEqual(await accept(company.invitation), ['company', 'Vendor Inc.', 'owner'])
  assert.deepEqual(await accept(organization.invitation), ['organization', 'Smile Group', 'owner'])
  assert.deepEqual(await accept(operator.invitation), ['operator', 'Bridgework', 'admin'])
  const { rows } = await pool.query(`select side, action, facts from audit_event where user_id is null order by id`)
  assert.deepEqual(
    rows.map((row) => [row.side, actInWords(row).what]),
    [
      ['operator', 'Created the company “Vendor Inc.” with “Olga Owner <olga@example.com>” as its owner'],
      ['company', 'Created the company “Vendor Inc.” with “Olga Owner <olga@example.com>” as its owner'],
      ['operator', 'Created the practice “Smile Group” with “Olga Owner <olga@example.com>” as its owner'],
      ['organization', 'Created the practice “Smile Group” with “Olga Owner <olga@example.com>” as its owner'],
      ['operator', 'Invited “Otto <op@example.com>” as admin'],
    ],
  )
})

test('a practice that was made without an owner gets one, and no second', async (t) => {
  const { ask, run, accept } = await someCommandLine(t)
  const { id } = await ask('organization', 'create', '--name', 'Smile Group')
  const person = ['--email', 'olga@example.com', '--name', 'Olga', '--role', 'owner']
  const added = await ask('member', 'add', '--organization', id, ...person)
  assert.deepEqual(await accept(added.invitation), ['organization', 'Smile Group', 'owner'])
  const [listed] = await ask('member', 'list', '--organization', id)
  assert.deepEqual([listed.email, listed.role, listed.state], ['olga@example.com', 'owner', 'active'])
  const again = await run('member', 'add', '--organization', id, '--email', 'b@c.de', '--name', 'B', '--role', 'owner')
  assert.equal(again.code, 1)
  assert.match(again.err, /has an owner already/)
})

test('a new link for a member ends the one before, and a member who has joined needs none', async (t) => {
  const { pool, ask, run, accept } = await someCommandLine(t)
  const { owner: member, invitation: first } = await ask('company', 'create', '--name', 'Vendor Inc.', ...owner)
  const { invitation: second } = await ask('member', 'invite', '--member', member.id)
  await assert.rejects(findInvitation(pool, secretKey, first.split('#')[1]), { code: 'invitation_unknown' })
  await accept(second)
  assert.match((await run('member', 'invite', '--member', member.id)).err, /has already accepted an invitation/)
})

test('an operator can be removed or moved to support while an admin is left who can sign in', async (t) => {
  const { ask, run, accept } = await someCommandLine(t)
  const [one, other] = [
    await ask('operator', 'add', '--email', 'one@example.com', '--name', 'One'),
    await ask('operator', 'add', '--email', 'other@example.com', '--name', 'Other'),
  ]
  await accept(one.invitation)
  const demote = ['operator', 'set-role', '--operator', one.id, '--role', 'support']
  for (const command of [['operator', 'remove', '--operator', one.id], demote])
    assert.match((await run(...command)).err, /^The last admin of the operators/)
  await accept(other.invitation)
  assert.equal((await ask(...demote)).role, 'support')
  await ask('operator', 'remove', '--operator', one.id)
  assert.deepEqual(
    (await ask('operator', 'list')).map((each: { email: string }) => each.email),
    ['other@example.com'],
  )
})

async function someCommandLine(t: TestContext) {
  const { pool } = await createTestDatabase(t)
  const { run, ask } = operatorOn(pool)
  /** What the link lets a person into. */
  const accept = async (link: string) => {
    const token = link.split('#')[1] ?? ''
    const { member, tenantName } = await findInvitation(pool, secretKey, token)
    const { rows } = await pool.query<{ id: string; name: string; email: string }>(
      'select id, name, email from portal_user where email = $1',
      [member.email],
    )
    const known = rows[0] && { userId: rows[0].id, name: rows[0].name, email: rows[0].email }
    await acceptInvitation(pool, secretKey, {
      token,
      person: known ?? null,
      newPerson: { name: member.name, passwordHash: 'x' },
      ip: '127.0.0.1',
      requestId: 'request',
    })
    return [member.tenant.side, tenantName, member.role]
  }
  const mailTo = async (email: string) => {
    const { rows } = await pool.query<{ text: string }>(
      'select text_body as text from mail where recipient = $1 order by id',
      [email],
    )
    return rows.map(({ text }) => text)
  }
  return { pool, run, ask, accept, mailTo }
}
