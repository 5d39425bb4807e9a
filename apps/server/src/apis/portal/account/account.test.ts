import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { portalApiPath } from '@bridgework/contract/portal'
import { createMailFolder } from '../../../modules/mail/folder.ts'
import { somePortal } from '../testing/test-portal.ts'

type Listed = { id: string; is_current: boolean; user_agent: string; action: string }[]

test('W19: a person sees where they are signed in and ends a sign-in there, and nobody ends another one’s', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const [here, elsewhere] = [await world.signIn(person), await world.signIn(person)]
  const stranger = await world.signIn(await world.addPerson())
  const sessions = (await here.get('/account/sessions')).body.data as unknown as Listed
  const other = sessions.find((each) => !each.is_current)

  assert.deepEqual([sessions.length, sessions.filter((each) => each.is_current).length], [2, 1])
  for (const id of [other?.id, 'x', '00000000-0000-4000-8000-000000000000']) {
    const answer = await stranger.delete(`/account/sessions/${id}`)
    assert.deepEqual([answer.status, answer.body.code], [404, 'not_found'])
  }
  assert.equal((await elsewhere.get('/session')).status, 200)
  assert.equal((await here.delete(`/account/sessions/${other?.id}`)).status, 200)
  assert.equal((await elsewhere.get('/session')).status, 401)
  assert.equal((await here.get('/session')).status, 200)
})

test('a person signs out everywhere with one act, on record and announced by mail, and others stay signed in', async (t) => {
  const world = await somePortal(t)
  const person = await world.addPerson()
  const [here, elsewhere] = [await world.signIn(person), await world.signIn(person)]
  const stranger = await world.signIn(await world.addPerson())

  assert.equal((await here.delete('/account/sessions')).status, 200)

  for (const { get } of [here, elsewhere]) assert.equal((await get('/session')).status, 401)
  assert.equal((await stranger.get('/session')).status, 200)
  const events = (await (await world.signIn(person)).get('/account/events')).body.data as unknown as Listed
  assert.deepEqual(events.filter(({ action }) => action === 'account.sign_out_everywhere').length, 1)
  assert.match((await world.mailsTo(person.email))[0]?.text ?? '', /All sessions of your account have ended/)
})

test('a list of sign-ins tells nothing with which one could be taken over', async (t) => {
  const world = await somePortal(t)
  const signed = await world.signIn(await world.addPerson())
  const { text } = await signed.get('/account/sessions')
  const { rows } = await world.pool.query<{ token: string }>('select token from portal_session')
  assert.doesNotMatch(text, new RegExp(rows[0]?.token ?? 'none'))
})

test('a person changes their name, and sees what happened to the account', async (t) => {
  const world = await somePortal(t)
  const vendor = await world.addVendor()
  const admin = await world.signInAs({ companyId: vendor.companyId }, 'admin')

  assert.equal((await admin.patch('/account', { name: '  Ada Lovelace ' })).status, 200)
  for (const name of ['', '   ', 'x'.repeat(201), 'a\u0007b']) {
    assert.equal((await admin.patch('/account', { name })).body.code, 'field_invalid')
  }

  const session = (await admin.get('/session')).body as unknown as { user: { name: string } }
  assert.equal(session.user.name, 'Ada Lovelace')
  const events = (await admin.get('/account/events')).body.data as unknown as Listed
  assert.deepEqual(
    events.map(({ action }) => action),
    ['account.update', 'account.sign_in'],
  )
  const { rows } = await world.pool.query('select name from membership where user_id = $1', [admin.person.userId])
  assert.deepEqual(rows, [{ name: 'Ada Lovelace' }])
})

test('the sandbox shows its mails on a page, and where mails are sent there is no such page', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'bridgework-mail-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const sandbox = await somePortal(t, { mailDir: dir })
  const mail = { recipient: 'olga@example.com', subject: 'Hello', text: 'A line.\n' }
  await createMailFolder(dir, () => new Date(0))({ ...mail, id: '1' })
  const shown = await sandbox.request(`${portalApiPath}/sandbox_mail`)
  assert.deepEqual(shown.body.data, [{ sent_at: '1970-01-01T00:00:00.000Z', ...mail }])
  assert.equal((await sandbox.request(`${portalApiPath}/environment`)).body.mail_page, '/mail')

  const production = await sandbox.anotherServer({ mailDir: null, environment: 'production' })
  const hidden = await sandbox.request(`${portalApiPath}/sandbox_mail`, { on: production.url })
  assert.deepEqual([hidden.status, hidden.body.code], [404, 'route_unknown'])
  const environment = await sandbox.request(`${portalApiPath}/environment`, { on: production.url })
  assert.equal(environment.body.mail_page, null)
})
