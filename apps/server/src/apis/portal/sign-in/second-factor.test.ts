import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems } from '@bridgework/contract'
import type { Answer } from '../../../testing/test-world.ts'
import { cookiesOf, type PortalWorld, password, somePortal } from '../testing/test-portal.ts'
import { someoneWithTotp } from '../testing/test-second-factor.ts'
import { codeOf } from '../testing/test-totp.ts'

test('with one-time passwords a password alone opens nothing, and a code completes the sign-in', async (t) => {
  const world = await somePortal(t)
  const { person, secret } = await someoneWithTotp(world)
  const { cookie, answer } = await givePassword(world, person)

  assert.equal(answer.text, '{"second_factor_required":true}')
  assert.equal((await world.asPage(cookie).get('/session')).status, 401)
  const wrong = await giveCode(world, cookie, '000000')
  assert.deepEqual([wrong.status, wrong.body.code], [401, 'second_factor_refused'])
  const right = await giveCode(world, cookie, codeOf(secret, 30_000))
  assert.deepEqual([right.status, right.text], [200, '{"done":true}'])
  assert.equal((await world.asPage(cookiesOf(right)).get('/session')).status, 200)
})

test('W17: a one-time password counts once, also for two requests at the same time', async (t) => {
  const world = await somePortal(t)
  const { person, secret } = await someoneWithTotp(world)
  const code = codeOf(secret, 30_000)
  const [one, other] = [await givePassword(world, person), await givePassword(world, person)]
  const answers = await Promise.all([giveCode(world, one.cookie, code), giveCode(world, other.cookie, code)])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 401])
  const again = await giveCode(world, (await givePassword(world, person)).cookie, code)
  assert.equal(again.body.code, 'second_factor_refused')
})

test('a recovery code opens once, and new ones end the old', async (t) => {
  const world = await somePortal(t)
  const { person, signed, codes } = await someoneWithTotp(world)
  const [first = '', second = ''] = codes
  const use = async (code: string) => {
    const { cookie } = await givePassword(world, person)
    return await world.postPage('/auth/two-factor/verify-backup-code', { code }, { cookie })
  }
  assert.equal(codes.length, 10)
  assert.equal((await use(first)).status, 200)
  assert.equal((await use(first)).body.code, 'second_factor_refused')
  assert.match((await world.mailsTo(person.email))[0]?.text ?? '', /A recovery code was used/)
  const renewed = await signed.post('/auth/two-factor/generate-backup-codes', { password })
  assert.equal(renewed.status, 200)
  assert.equal((await use(second)).body.code, 'second_factor_refused')
  assert.equal((await use((renewed.body.recovery_codes as string[])[0] ?? '')).status, 200)
})

test('W14: a caller without the right password cannot lock a person out of the second factor', async (t) => {
  const world = await somePortal(t)
  const { person, secret } = await someoneWithTotp(world)
  for (let round = 0; round < 12; round += 1) {
    const answer = await giveCode(world, '', '000000')
    assert.equal(answer.body.code, 'second_factor_refused')
  }
  const { cookie } = await givePassword(world, person)
  assert.equal((await giveCode(world, cookie, codeOf(secret, 30_000))).status, 200)
})

test('a caller with the password gets five codes for each time it is given, and ten in all', async (t) => {
  const world = await somePortal(t)
  const { person, secret } = await someoneWithTotp(world)
  for (let round = 0; round < 2; round += 1) {
    const { cookie } = await givePassword(world, person)
    for (let code = 0; code < 5; code += 1) await giveCode(world, cookie, `00000${round * 5 + code}`)
    const sixth = await giveCode(world, cookie, codeOf(secret, 30_000))
    assert.notEqual(sixth.status, 200)
  }
  // A true code too, and only for the lock: as long as two minutes later, none counts as used.
  await world.pool.query('delete from used_totp')
  const { cookie } = await givePassword(world, person)
  const locked = await giveCode(world, cookie, codeOf(secret, 0))
  assert.deepEqual([locked.status, locked.body.code], [429, 'sign_in_throttled'])
  assert.equal(locked.headers.get('retry-after'), '900')
  assert.equal(locked.body.errors, 'Too many attempts. Try again in 15 minutes.')
})

test('the second factor is switched on and off with the password and a fresh sign-in, on record and announced by mail', async (t) => {
  const world = await somePortal(t)
  const { person, signed } = await someoneWithTotp(world)
  assert.match((await world.mailsTo(person.email))[0]?.text ?? '', /Two-factor sign-in was turned on/)
  await world.letSignInAge(person.userId)
  const stale = await signed.post('/auth/two-factor/disable', { password })
  assert.deepEqual([stale.status, stale.body.code], [403, 'fresh_sign_in_required'])
  await world.letSignInAge(person.userId, -11)
  const wrong = await signed.post('/auth/two-factor/disable', { password: 'a wrong password altogether' })
  assert.deepEqual(
    [wrong.status, wrong.body.code, wrong.body.errors],
    [401, 'sign_in_refused', 'The password is wrong.'],
  )
  const disabled = await signed.post('/auth/two-factor/disable', { password })
  assert.equal(disabled.status, 200)
  assert.equal((await givePassword(world, person)).answer.text, '{"second_factor_required":false}')
  const events = await world.asPage(cookiesOf(disabled)).get('/account/events')
  const actions = (events.body.data as unknown as { action: string }[]).map(({ action }) => action)
  assert.deepEqual(actions.toReversed(), [
    'account.sign_in',
    'account.two_factor_enable',
    'account.two_factor_disable',
    'account.sign_in',
  ])
})

test('a code that cannot be right says whether to give the password again or what to turn on first', async (t) => {
  const world = await somePortal(t)
  const { person, signed, secret } = await someoneWithTotp(world)
  const said = ({ status, body }: Answer) => [status, body.code, body.errors]
  const { second_factor_refused: wrong, two_factor_on: on, two_factor_off: off } = problems
  const again = (why: string) => [401, 'second_factor_refused', `${why} Sign in with your password again.`]

  assert.deepEqual(said(await giveCode(world, '', codeOf(secret, 30_000))), again('That took too long.'))
  const { cookie } = await givePassword(world, person)
  for (let code = 0; code < 5; code += 1)
    assert.deepEqual(said(await giveCode(world, cookie, `00000${code}`)), [401, 'second_factor_refused', wrong.errors])
  assert.deepEqual(said(await giveCode(world, cookie, codeOf(secret, 30_000))), again('Too many wrong codes.'))
  const late = await givePassword(world, person)
  await world.pool.query('update portal_verification set expires_at = now()')
  assert.deepEqual(said(await giveCode(world, late.cookie, '000009')), again('That took too long.'))

  const enable = { password }
  assert.deepEqual(said(await signed.post('/auth/two-factor/enable', enable)), [409, 'two_factor_on', on.errors])
  const other = await world.signIn(await world.addPerson())
  for (const [path, body] of [
    ['verify-totp', { code: '000000' }],
    ['generate-backup-codes', { password }],
    ['verify-backup-code', { code: 'aaaaa-aaaaa' }],
  ] as const)
    assert.deepEqual(
      said(await other.post(`/auth/two-factor/${path}`, body)),
      [409, 'two_factor_off', off.errors],
      path,
    )
})

async function givePassword(world: PortalWorld, person: { email: string; password: string }) {
  const answer = await world.postPage('/auth/sign-in/email', person)
  return { answer, cookie: cookiesOf(answer) }
}

function giveCode(world: PortalWorld, cookie: string, code: string) {
  return world.postPage('/auth/two-factor/verify-totp', { code }, { cookie })
}
