import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookiesOf, password, somePortal } from '../testing/test-portal.ts'

const olga = {
  side: 'company',
  tenant_name: 'Vendor Inc.',
  name: 'Olga Owner',
  email: 'Olga@Example.com',
  password: 'seven green bottles on a wall',
}

test('a person who signs up owns a company or a practice once the link from the mailbox came back', async (t) => {
  const world = await somePortal(t)
  for (const [side, email] of [
    ['company', 'olga@example.com'],
    ['organization', 'pat@example.com'],
  ] as const) {
    const signedUp = await world.postPage('/sign_up', { ...olga, side, email, time_zone: 'America/Denver' })
    assert.deepEqual([signedUp.status, signedUp.text], [200, '{"done":true}'])
    const before = await world.postPage('/auth/sign-in/email', { email, password: olga.password })
    assert.equal(before.body.code, 'sign_in_refused')
    const token = await world.linkSecret(email)
    assert.match((await world.mailsTo(email))[0]?.text ?? '', /^http:\/\/localhost\/verify-email#bwi_/m)

    // What the page asks by itself, and a scanner of mails with it, completes nothing.
    const found = await world.postPage('/sign_up/find', { token })
    assert.deepEqual([found.status, found.body], [200, { side, tenant_name: 'Vendor Inc.', name: 'Olga Owner', email }])
    assert.equal((await world.postPage('/auth/sign-in/email', { email, password: olga.password })).status, 401)

    assert.equal((await world.postPage('/auth/verify-email', { token })).status, 200)

    const session = await (await world.signIn({ email, password: olga.password })).get('/session')
    const memberships = (session.body as unknown as { memberships: { side: string; name: string; role: string }[] })
      .memberships
    assert.deepEqual(
      memberships.map((each) => [each.side, each.name, each.role]),
      [[side, 'Vendor Inc.', 'owner']],
    )
    for (const path of ['/sign_up/find', '/auth/verify-email']) {
      assert.equal((await world.postPage(path, { token })).body.code, 'invitation_unknown', path)
    }
  }
})

test('a practice has the time zone that was chosen when it signed up, and one that does not exist is refused', async (t) => {
  const world = await somePortal(t)
  const practice = { ...olga, side: 'organization' }
  const refused = await world.postPage('/sign_up', { ...practice, time_zone: 'America/Dallas' })
  assert.deepEqual([refused.status, refused.body.code], [422, 'field_invalid'])
  for (const [email, time_zone] of [
    ['a@example.com', 'America/Denver'],
    ['b@example.com', null],
  ] as const) {
    assert.equal((await world.postPage('/sign_up', { ...practice, email, time_zone })).status, 200)
    assert.equal((await world.postPage('/auth/verify-email', { token: await world.linkSecret(email) })).status, 200)
    const { rows } = await world.pool.query('select time_zone from organization order by created_at desc limit 1')
    assert.equal(rows[0].time_zone, time_zone)
  }
})

test('until the link came back there is no account, no company and nobody to sign in as', async (t) => {
  const world = await somePortal(t)
  await world.postPage('/sign_up', olga)
  for (const table of ['portal_user', 'company', 'organization', 'membership', 'audit_event']) {
    assert.equal((await world.pool.query(`select from ${table}`)).rows.length, 0, table)
  }
  const { rows } = await world.pool.query('select * from sign_up')
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(`${olga.password}|${await world.linkSecret(olga.email)}`))
  await world.pool.query(`update sign_up set expires_at = now() - interval '1 second'`)
  const verify = async () => await world.postPage('/auth/verify-email', { token: await world.linkSecret(olga.email) })
  assert.equal((await verify()).body.code, 'invitation_unknown')
  // Made before the clock was set back by an hour.
  await world.pool.query(`update sign_up set expires_at = now() + interval '25 hours'`)
  assert.equal((await verify()).body.code, 'invitation_unknown')
  await world.pool.query(`update sign_up set expires_at = now() + interval '23 hours'`)
  assert.equal((await verify()).status, 200)
})

test('R05: a stranger who signs up with my address prepares nothing: my own link has my own password', async (t) => {
  const world = await somePortal(t)
  await world.postPage('/sign_up', { ...olga, tenant_name: 'Evil Inc.', password: 'three blind mice run after me' })
  const strangers = await world.linkSecret(olga.email)
  await world.postPage('/sign_up', olga)
  const own = await world.linkSecret(olga.email)
  assert.equal((await world.postPage('/auth/verify-email', { token: own })).status, 200)
  await world.signIn({ email: olga.email, password: olga.password })
  const answer = await world.postPage('/auth/verify-email', { token: strangers })
  assert.deepEqual([answer.status, answer.body.code], [409, 'account_exists'])
  assert.equal((await world.pool.query('select from company')).rows.length, 1)
})

test('W15: signing up with an address that has an account is answered the same, and the mail alone says so', async (t) => {
  const world = await somePortal(t)
  const { email } = await world.addPerson()
  const [known, unknown] = [
    await world.postPage('/sign_up', { ...olga, email }),
    await world.postPage('/sign_up', olga),
  ]
  assert.deepEqual([known.status, known.text], [unknown.status, unknown.text])
  assert.equal((await world.mailsTo(email))[0]?.subject, 'You already have a Bridgework account')
  assert.equal((await world.pool.query('select from sign_up')).rows.length, 1)
})

test('a password that is short, common, easily guessed or made of what the person is called is refused with the reason', async (t) => {
  const world = await somePortal(t)
  const reasons = {
    'only 14 chars.': /has 14 characters; at least 15 are required/,
    passwordpassword: /easy to guess\. Repeated/,
    qwertyuiopasdfgh: /easy to guess\. This is similar to a commonly used password/,
    aaaaaaaaaaaaaaaaaaaa: /easy to guess/,
    'the teeth of 0lga shine at noon': /contains “Olga”.* Leave it out/,
    'vend0r inc is where I go at nine': /contains “Vendor.*Leave it out/,
    'correct horse battery staple': /phrase that many people use. Choose words/,
    'To be, or not to be: that is the question!': /phrase that many people use/,
  }
  for (const [weak, reason] of Object.entries(reasons)) {
    const answer = await world.postPage('/sign_up', {
      ...olga,
      email: `${Math.random()}@example.com`,
      name: 'Olga Owner',
      password: weak,
    })
    assert.deepEqual([answer.status, answer.body.code], [422, 'password_refused'], weak)
    assert.match(answer.body.errors, reason)
    const about = ['Olga Owner', olga.email, olga.tenant_name]
    const check = await world.postPage('/password_check', { password: weak, about })
    assert.deepEqual([check.status, check.body], [200, { refusal: answer.body.errors }])
  }
  assert.equal((await world.pool.query('select from sign_up')).rows.length, 0)
  const good = await world.postPage('/password_check', { password: olga.password, about: [olga.email] })
  assert.deepEqual(good.body, { refusal: null })
})

test('W14: no more than five mails an hour go to one address, from all callers together', async (t) => {
  const world = await somePortal(t)
  const { email } = await world.addPerson()
  const ask = () => world.postPage('/auth/request-password-reset', { email })
  for (let count = 0; count < 5; count += 1) assert.equal((await ask()).status, 200)
  const sixth = await ask()
  assert.deepEqual([sixth.status, sixth.body.code], [429, 'sign_in_throttled'])
  assert.ok(Number(sixth.headers.get('retry-after')) > 3_500)
  assert.equal(sixth.body.errors, 'Too many attempts. Try again in 60 minutes.')
  assert.equal((await world.mailsTo(email)).length, 5)
})

test('W14: passwords tried on many accounts from one address are stopped, over all processes, and a right one does not count', async (t) => {
  const world = await somePortal(t)
  const other = await world.anotherServer()
  const person = await world.addPerson()
  for (let count = 0; count < 3; count += 1) await world.signIn(person)
  const statuses: number[] = []
  for (let count = 0; count < 60; count += 6) {
    const answers = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((each) =>
        world.postPage(
          '/auth/sign-in/email',
          { email: `user${count + each}@example.com`, password: 'a wrong password altogether' },
          {},
          each % 2 === 0 ? world.url : other.url,
        ),
      ),
    )
    statuses.push(...answers.map(({ status }) => status))
  }
  assert.equal(statuses.filter((status) => status === 401).length, 50)
  assert.equal(statuses.filter((status) => status === 429).length, 10)
  assert.equal((await world.postPage('/auth/sign-in/email', person)).status, 429)
})

test('a link for a new password works once, ends every sign-in, and refuses a weak password without being used up', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const signed = await world.signIn(person)
  await world.postPage('/auth/request-password-reset', { email: person.email })
  const token = await world.linkSecret(person.email)
  const reset = (newPassword: string) => world.postPage('/auth/reset-password', { token, new_password: newPassword })

  assert.equal((await reset('too short')).body.code, 'password_refused')
  assert.equal((await reset(olga.password)).status, 200)
  assert.equal((await reset('another good one for all')).body.code, 'invitation_unknown')

  assert.equal((await signed.get('/session')).status, 401)
  assert.equal((await world.postPage('/auth/sign-in/email', person)).status, 401)
  await world.signIn({ email: person.email, password: olga.password })
  assert.match((await world.mailsTo(person.email))[0]?.text ?? '', /Your password was changed with a link/)
  const { rows } = await world.pool.query('select identifier from portal_verification')
  assert.ok(rows.every(({ identifier }) => !identifier.includes(token)))
})

test('every link for a new password ends when one is used, when a new one is asked for, and when the password changes', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const other = await world.addPerson()
  const ask = async ({ email }: { email: string }) => {
    assert.equal((await world.postPage('/auth/request-password-reset', { email })).status, 200)
    return await world.linkSecret(email)
  }
  const use = async (token: string, newPassword = olga.password) => {
    const answer = await world.postPage('/auth/reset-password', { token, new_password: newPassword })
    return answer.status === 200 ? 'set' : answer.body.code
  }
  const ofOther = await ask(other)
  const [first, second] = [await ask(person), await ask(person)]
  assert.equal(await use(first, 'the older link still works'), 'invitation_unknown')
  assert.equal(await use(second), 'set')
  assert.equal(await use(first), 'invitation_unknown')

  const beforeChange = await ask(person)
  const signed = await world.signIn({ email: person.email, password: olga.password })
  const changed = { current_password: olga.password, new_password: 'three blind mice run after me' }
  assert.equal((await signed.post('/auth/change-password', changed)).status, 200)
  assert.equal(await use(beforeChange), 'invitation_unknown')
  assert.equal(await use(ofOther), 'set', 'the links of other people stay')
})

test('of two requests that use one link at once, one sets the password', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  await world.postPage('/auth/request-password-reset', { email: person.email })
  const token = await world.linkSecret(person.email)
  const answers = await Promise.all(
    ['the first of two passwords', 'the second of two passwords'].map((chosen) =>
      world.postPage('/auth/reset-password', { token, new_password: chosen }),
    ),
  )
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 404])
})

test('a new password needs the old one and a fresh sign-in, and ends the other sign-ins', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const [here, elsewhere] = [await world.signIn(person), await world.signIn(person)]
  const change = (body: object) => here.post('/auth/change-password', body)

  const wrong = await change({ current_password: 'a wrong password altogether', new_password: olga.password })
  assert.deepEqual([wrong.status, wrong.body.code], [401, 'sign_in_refused'])
  assert.equal((await change({ current_password: password, new_password: 'passwordpassword' })).status, 422)
  const changed = await change({ current_password: password, new_password: olga.password })
  assert.equal(changed.status, 200)
  assert.equal((await elsewhere.get('/session')).status, 401)
  assert.equal((await world.asPage(cookiesOf(changed)).get('/session')).status, 200)
  assert.match((await world.mailsTo(person.email))[0]?.text ?? '', /Your password was changed/)
  const late = world.asPage(cookiesOf(changed))
  await world.letSignInAge(person.userId)
  const stale = await late.post('/auth/change-password', { current_password: olga.password, new_password: password })
  assert.equal(stale.body.code, 'fresh_sign_in_required')
})
