import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthenticator } from '../../portal/testing/test-authenticator.ts'
import { register, signInWith } from '../../portal/testing/test-passkey.ts'
import { cookiesOf, somePortal } from '../../portal/testing/test-portal.ts'
import { setUpTotp } from '../../portal/testing/test-second-factor.ts'
import { codeOf } from '../../portal/testing/test-totp.ts'
import { operatorOn } from '../testing/test-operator.ts'

test('W29: the command line shows what an account can be signed in with, and resets a lost second factor', async (t) => {
  const world = await somePortal(t)
  const vendor = await world.addVendor()
  const signed = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const { person } = signed
  const key = createAuthenticator('http://localhost')
  await register(signed, key)
  const { secret } = await setUpTotp(world, signed)
  const { run, ask } = operatorOn(world.pool)

  const shown = await ask('person', 'show', '--email', person.email.toUpperCase())
  assert.deepEqual(
    shown.means.map((each: { means: string; name: string | null }) => [each.means, each.name]),
    [
      ['password', null],
      ['one_time_password', null],
      ['recovery_codes', null],
      ['passkey', 'My key'],
      ['session', null],
    ],
  )
  assert.deepEqual(shown.memberships, [{ side: 'company', id: vendor.companyId, name: 'Vendor', role: 'owner' }])
  assert.match((await run('person', 'show', '--email', person.email)).out, /passkey +My key +\d{4}-/)
  const line = ['person', 'reset-second-factor', '--email', person.email]
  assert.match((await run(...line)).err, /^Missing: --reason <text>\./)
  const unknown = await run('person', 'reset-second-factor', '--email', 'no@example.com', '--reason', 'x')
  assert.match(unknown.err, /There is no account with the address no@example\.com/)

  const { link } = await ask(...line, '--reason', 'Phone lost, called back')

  assert.equal((await signInWith(world, key)).answer.body.code, 'passkey_refused')
  assert.equal((await world.postPage('/auth/sign-in/email', person)).status, 401, 'the password has ended')
  const [mail] = await world.mailsTo(person.email)
  assert.ok(mail?.text.includes(link), 'the printed link is the mailed one')
  const chosen = { token: link.split('#')[1], new_password: 'seven green bottles on a wall' }
  assert.equal((await world.postPage('/auth/reset-password', chosen)).status, 200)
  const given = await world.postPage('/auth/sign-in/email', { email: person.email, password: chosen.new_password })
  assert.deepEqual([given.status, given.body.second_factor_required], [200, false])
  const again = await world.postPage(
    '/auth/two-factor/verify-totp',
    { code: codeOf(secret, 0) },
    { cookie: cookiesOf(given) },
  )
  assert.notEqual(again.status, 200)
  const { rows } = await world.pool.query(
    `select side, tenant_id, reason from audit_event where action = 'operator.second_factor_reset' order by id`,
  )
  assert.deepEqual(
    rows.map(({ side, tenant_id, reason }) => [side, tenant_id, reason]),
    [
      ['operator', null, 'Phone lost, called back'],
      ['account', null, 'Phone lost, called back'],
      ['company', vendor.companyId, 'Phone lost, called back'],
    ],
  )
  assert.match((await run(...line, '--reason', 'x')).err, /no second factor, so there is nothing to reset/)
})
