import assert from 'node:assert/strict'
import { test } from 'node:test'
import { portalApiPath, type SignInRouteName, signInRoutes } from '@bridgework/contract/portal'
import { passwordHash } from '../../../modules/sign-in/password/password-hash.ts'
import { cookiesOf, type PortalWorld, password, somePortal } from '../testing/test-portal.ts'

const origin = 'http://localhost'

test('W15: a wrong password, an unknown address and an address that cannot be are refused in the same words', async (t) => {
  const world = await somePortal(t)
  const { email } = await world.addPerson()
  const answers = await Promise.all([
    world.postPage('/auth/sign-in/email', { email, password: 'a wrong password altogether' }),
    world.postPage('/auth/sign-in/email', { email: 'nobody@example.com', password: 'a wrong password altogether' }),
    world.postPage('/auth/sign-in/email', { email: 'not an address', password: 'a wrong password altogether' }),
  ])
  for (const { status, body, headers } of answers) {
    assert.equal(status, 401)
    assert.deepEqual(
      { ...body, request_id: '' },
      { errors: 'The e-mail address or the password is wrong.', code: 'sign_in_refused', request_id: '' },
    )
    assert.deepEqual(headers.getSetCookie(), [])
  }
})

test('W15: how long a refusal takes does not tell whether the address has an account', async (t) => {
  const world = await somePortal(t, { passwordHash })
  const { email } = await world.addPerson()
  const ratio = async () => {
    const times = { known: [] as number[], unknown: [] as number[] }
    for (let round = 0; round < 9; round += 1) {
      for (const [kind, address] of [
        ['known', email],
        ['unknown', `nobody${round}@example.com`],
      ] as const) {
        const startedAt = performance.now()
        await world.postPage('/auth/sign-in/email', { email: address, password: 'a wrong password altogether' })
        times[kind].push(performance.now() - startedAt)
      }
    }
    return median(times.known) / median(times.unknown)
  }
  // What else the machine does can slow the ones down for a while. Without the hash of a password the ratio is never near 1.
  const ratios: number[] = []
  while (ratios.length < 3 && !ratios.some((each) => each > 0.6 && each < 1.6)) ratios.push(await ratio())
  const said = ratios.map((each) => each.toFixed(2)).join(', ')
  assert.ok(
    ratios.some((each) => each > 0.6 && each < 1.6),
    `known takes ${said} times as long as unknown`,
  )
})

test('W15: a request for a new password is answered the same, and not sooner, when nobody has that address', async (t) => {
  const world = await somePortal(t)
  const { email } = await world.addPerson()
  const ask = async (address: string) => {
    const startedAt = performance.now()
    const answer = await world.postPage('/auth/request-password-reset', { email: address })
    return { status: answer.status, text: answer.text, isEven: performance.now() - startedAt >= 249 }
  }
  const [known, unknown] = [await ask(email), await ask('nobody@example.com')]
  assert.deepEqual(known, { status: 200, text: '{"done":true}', isEven: true })
  assert.deepEqual(unknown, known)
  assert.equal((await world.mailsTo(email)).length, 1)
  assert.equal((await world.mailsTo('nobody@example.com')).length, 0)
})

test('W06: the CSRF token of another sign-in, an older one or none opens nothing', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const older = await world.signIn(person)
  const olderToken = await older.csrfToken()
  const own = await world.signIn(person)
  const stranger = await world.signIn(await world.addPerson())
  for (const token of [olderToken, await stranger.csrfToken(), '', 'x']) {
    const headers = token === '' ? {} : { 'x-csrf-token': token }
    for (const [path, body] of [
      ['/auth/sign-out', {}],
      ['/auth/change-password', { current_password: password, new_password: 'seven green bottles on a wall' }],
    ] as const) {
      const answer = await world.postPage(path, body, { cookie: own.cookie, ...headers })
      assert.equal(answer.status, 403)
      assert.equal(answer.body.code, 'csrf_token_invalid')
    }
    const answer = await world.request(`${portalApiPath}/account`, {
      method: 'PATCH',
      headers: { cookie: own.cookie, origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ name: 'Mallory' }),
    })
    assert.equal(answer.body.code, 'csrf_token_invalid')
  }
  assert.equal((await own.get('/session')).status, 200)
})

test('W06: a page of another origin can neither sign anybody in nor out', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const own = await world.signIn(person)
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
    const foreign = {
      cookie: own.cookie,
      'x-csrf-token': await own.csrfToken(),
      'content-type': 'application/json',
      ...headers,
    }
    for (const path of ['/auth/sign-out', '/auth/sign-in/email']) {
      const answer = await world.request(`${portalApiPath}${path}`, {
        method: 'POST',
        headers: foreign,
        body: JSON.stringify({ email: person.email, password }),
      })
      assert.equal(answer.status, 403)
      assert.equal(answer.body.code, 'origin_denied')
    }
  }
})

test('W07: a sign-in makes a new session and ends the one whose cookie came with it', async (t) => {
  const world = await somePortal(t)
  const planted = await world.signIn(await world.addPerson())
  const victim = await world.addPerson()

  const answer = await world.postPage(
    '/auth/sign-in/email',
    { email: victim.email, password },
    { cookie: planted.cookie },
  )

  assert.equal(answer.status, 200)
  assert.notEqual(cookiesOf(answer), planted.cookie)
  assert.equal((await planted.get('/session')).status, 401)
  assert.equal((await world.asPage(cookiesOf(answer)).get('/session')).status, 200)
})

test('W07: a made-up session cookie opens nothing and is not taken over by the sign-in', async (t) => {
  const world = await somePortal(t)
  const { email } = await world.addPerson()
  const cookie = 'bridgework.session_token=chosen-by-a-stranger.c2lnbmF0dXJl'
  assert.equal((await world.asPage(cookie).get('/session')).status, 401)
  const answer = await world.postPage('/auth/sign-in/email', { email, password }, { cookie })
  assert.doesNotMatch(cookiesOf(answer), /chosen-by-a-stranger/)
})

test('W08: the session cookie cannot be read by a page, goes to our origin alone and is marked Secure where there is https', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const flagsOf = (cookies: string[]) =>
    cookies
      .find((each) => each.includes('session_token='))
      ?.split('; ')
      .slice(1) ?? []
  const sandbox = await world.postPage('/auth/sign-in/email', person)
  assert.deepEqual(flagsOf(sandbox.headers.getSetCookie()), ['Max-Age=900', 'Path=/', 'HttpOnly', 'SameSite=Lax'])

  const overTls = await world.anotherServer({ publicUrl: 'https://portal.example.com' })
  const production = await world.postPage(
    '/auth/sign-in/email',
    person,
    { origin: 'https://portal.example.com' },
    overTls.url,
  )
  const cookies = production.headers.getSetCookie()
  assert.deepEqual(flagsOf(cookies), ['Max-Age=900', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax'])
  assert.match(cookies.join(), /__Secure-bridgework\.session_token=/)
})

test('W09: after signing out the old cookie opens nothing, and the browser forgets what it kept', async (t) => {
  const world = await somePortal(t)
  const person = await world.signIn(await world.addPerson())
  const answer = await person.post('/auth/sign-out', {})
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('clear-site-data'), '"cache", "cookies", "storage"')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.match(answer.headers.getSetCookie().join(), /session_token=;.*Max-Age=0/)
  assert.equal((await person.get('/session')).status, 401)
  assert.equal((await person.get('/account/sessions')).body.code, 'sign_in_required')
  // Once more, as after the back button: nothing to end, and no error.
  assert.equal((await world.postPage('/auth/sign-out', {}, { cookie: person.cookie })).status, 200)
})

test('W10: a session ends after 15 minutes without a request, and a page that refreshes itself does not keep it', async (t) => {
  const world = await somePortal(t)
  const signed = await world.signIn(await world.addPerson())
  // Fourteen minutes of nothing, then a request: the 15 minutes begin anew.
  await letIdle(world, 14 * 60)
  assert.equal((await signed.send('GET', '/session', undefined, { 'x-background': 'true' })).status, 200)
  assert.ok((await secondsLeft(world)) <= 60)
  assert.equal((await signed.get('/session')).status, 200)
  assert.ok((await secondsLeft(world)) > 14 * 60)
  await letIdle(world, 15 * 60 + 1)
  assert.equal((await signed.get('/session')).body.code, 'sign_in_required')
})

test('W10: a session ends after 12 hours, however busy', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const signed = await world.signIn(person)
  await world.letSignInAge(person.userId, 12 * 60 - 1)
  assert.equal((await signed.get('/session')).status, 200)
  await world.letSignInAge(person.userId, 2)
  assert.equal((await signed.get('/session')).body.code, 'sign_in_required')
  const { rows } = await world.pool.query('select from portal_session where user_id = $1', [person.userId])
  assert.equal(rows.length, 0)
})

test('a sign-in that lies ahead, because the clock was set back, is neither fresh nor kept', async (t) => {
  const world = await somePortal(t)
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const path = `/companies/${vendor.companyId}`
  const set = (column: 'created_at' | 'updated_at', ahead: string) =>
    world.pool.query(`update portal_session set ${column} = now() + $2::interval where user_id = $1`, [
      owner.person.userId,
      ahead,
    ])
  // The clocks of two processes may differ by a little.
  await set('created_at', '30 seconds')
  await set('updated_at', '30 seconds')
  const fresh = await owner.post(`${path}/key_pairs/regeneration`, { client_id: vendor.clientId })
  assert.equal(fresh.status, 200, fresh.text)
  await set('updated_at', '2 minutes')
  assert.equal((await owner.get(path)).body.code, 'sign_in_required')

  const again = await world.signIn(owner.person)
  assert.equal((await again.get(path)).status, 200)
  await set('created_at', '2 minutes')
  assert.equal((await again.get(path)).body.code, 'sign_in_required')
  const { rows } = await world.pool.query('select from portal_session where user_id = $1', [owner.person.userId])
  assert.equal(rows.length, 0)
})

test('W21: no sign-in route redirects, wherever the caller asks to be sent', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const elsewhere = {
    callbackURL: 'https://evil.example',
    redirectTo: '//evil.example',
    errorCallbackURL: '/\\evil.example',
  }
  for (const name of Object.keys(signInRoutes) as SignInRouteName[]) {
    const { method, path } = signInRoutes[name]
    const body = { ...person, token: 'x', new_password: password, code: '123456', ...elsewhere }
    const answer =
      method === 'GET'
        ? await world.request(`${portalApiPath}${path}?callbackURL=https://evil.example`)
        : await world.postPage(path, body)
    assert.ok(answer.status < 300 || answer.status >= 400, `${name}: ${answer.status}`)
    assert.equal(answer.headers.get('location'), null)
    assert.doesNotMatch(answer.text, /evil/)
  }
})

test('W05: a GET of a route that changes something is 405, also of the link that proves an address', async (t) => {
  const world = await somePortal(t)
  for (const { method, path } of Object.values(signInRoutes)) {
    if (method === 'GET') continue
    for (const verb of ['GET', 'HEAD']) {
      const answer = await world.request(`${portalApiPath}${path}`, { method: verb })
      assert.equal(answer.status, 405, `${verb} ${path}`)
    }
  }
})

test('routes of the sign-in library that the portal does not use do not exist', async (t) => {
  const world = await somePortal(t)
  const signed = await world.signIn(await world.addPerson())
  for (const path of [
    '/sign-up/email',
    '/update-user',
    '/change-email',
    '/delete-user',
    '/list-sessions',
    '/revoke-sessions',
    '/two-factor/send-otp',
    '/passkey/update-passkey',
    '/ok',
    '/error',
  ]) {
    for (const method of ['GET', 'POST']) {
      const answer = await signed.send(method, `/auth${path}`, method === 'POST' ? {} : undefined)
      assert.equal(answer.status, 404, path)
    }
  }
})

test('an answer to a sign-in holds neither the session nor anything that the library says', async (t) => {
  const world = await somePortal(t)
  const answer = await world.postPage('/auth/sign-in/email', { ...(await world.addPerson()), rememberMe: false })
  assert.equal(answer.text, '{"second_factor_required":false}')
  assert.match(answer.headers.getSetCookie().join(), /Max-Age=900/)
})

test('a body that lacks a field or has one of another kind is refused by its name, before anything is tried', async (t) => {
  const world = await somePortal(t)
  for (const body of [{}, { email: 'a@b.example' }, { email: { $ne: 1 }, password }, { email: ['x'], password }, []]) {
    const answer = await world.postPage('/auth/sign-in/email', body)
    assert.equal(answer.status, 422)
    assert.equal(answer.body.code, 'field_invalid')
  }
  const { rows } = await world.pool.query('select from sign_in_attempt')
  assert.equal(rows.length, 0)
})

async function letIdle(world: PortalWorld, seconds: number): Promise<void> {
  await world.pool.query(
    `update portal_session set expires_at = expires_at - $1 * interval '1 second', updated_at = updated_at - $1 * interval '1 second'`,
    [seconds],
  )
}

async function secondsLeft(world: PortalWorld): Promise<number> {
  const { rows } = await world.pool.query<{ seconds: number }>(
    'select extract(epoch from expires_at - now())::float as seconds from portal_session',
  )
  return rows[0]?.seconds ?? 0
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}
