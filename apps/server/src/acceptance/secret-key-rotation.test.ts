import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '../apis/portal/testing/test-totp.ts'
import { createTestDatabase } from '../platform/database/testing/test-database.ts'
import { someProduction } from './testing/test-production.ts'
import { createBrowser, createCalls, fillProduction, keepCalling, password } from './testing/test-rotation.ts'

test('F27: the secret key is rotated under load in two processes, killed at two places, and no request fails', async (t) => {
  const database = await createTestDatabase(t)
  const { pool } = database
  const production = await someProduction(t, { database })
  const { vendors, agents, people, makeCode } = await fillProduction(production, pool)
  const processes = await Promise.all([production.startProcess(), production.startProcess()])
  const calls = createCalls(processes.map(({ port }) => port))

  const operator = async (...args: string[]) => await production.startOperator('secret-key', ...args).ended
  /** Starts a rotation, and kills it as soon as it has said this, or has got so far. */
  const killAt = async (isThere: (said: string) => boolean | Promise<boolean>) => {
    const command = production.startOperator('secret-key', 'rotate')
    while (!(await isThere(command.stderr()))) {
      if (command.stdout() !== '') throw new Error(`It ended before: ${command.stderr()}`)
      await sleep(2)
    }
    await command.kill('SIGKILL')
  }

  // Signed in with a second factor before the rotation; the page stays open.
  const [anna = '', otto = ''] = people
  const page = createBrowser(calls)
  await page.signIn(anna)
  await page.loadPage()
  const { secret, recoveryCodes } = await page.enableSecondFactor((each) => codeOf(each, 0))
  await page.loadPage()
  const code = await makeCode()
  // The second factors of 600 more people.
  await pool.query(
    `with person as (
       insert into portal_user (id, name, email) select gen_random_uuid(), 'Person', n || '@many.example' from generate_series(1, 600) n returning id
     )
     insert into portal_two_factor (id, user_id, secret, backup_codes)
     select gen_random_uuid(), person.id, secret, backup_codes from portal_two_factor, person`,
  )

  const load = keepCalling(
    ...vendors.slice(1).map(({ clientId, clientSecret }): [number, () => Promise<unknown>] => [
      100,
      async () => {
        const credentials = { client_id: clientId, client_secret: clientSecret }
        const { body } = await calls.post('token', '/api/v1/vendors/auth/token', credentials)
        await calls.call('vendor', '/api/v1/vendors/locations', { headers: { authorization: `Bearer ${body.token}` } })
      },
    ]),
    ...agents
      .slice(1)
      .map((key): [number, () => Promise<unknown>] => [
        50,
        () => calls.call('agent', '/ingest/v1/agents/self', { headers: { authorization: `Bearer ${key}` } }),
      ]),
    [100, () => page.getSession()],
    [400, () => page.send('page', '/auth/two-factor/generate-backup-codes', { password })],
    [
      400,
      async () => {
        const other = createBrowser(calls)
        await other.signIn(otto)
        await other.loadPage()
        await other.send('page', '/auth/sign-out', {})
      },
    ],
  )
  await sleep(300)
  const sealed = async () =>
    (
      await pool.query<{ count: number }>(
        `select count(distinct left(secret, 12))::integer as count from portal_two_factor`,
      )
    ).rows[0]?.count ?? 0
  await killAt((said) => said.includes('Added a new key'))
  assert.equal(readFileSync(production.secretKeyFile, 'utf8').trim().split('\n').length, 2)
  await killAt(async () => (await sealed()) > 1)
  const rotated = await operator('rotate')
  assert.equal(rotated.code, 0, rotated.stderr)
  assert.match(rotated.stdout, /1 agents: each at its next request/)
  assert.match(rotated.stdout, /1 key pairs of vendors: /)
  assert.match(rotated.stdout, /1 enrolment codes: within a day/)
  assert.match(rotated.stdout, /sessions of the portal: within 12 hours/)
  assert.doesNotMatch(rotated.stdout, /second factors|signing keys/)

  // What was made with the key before works on, and needs it no more afterwards.
  await calls.call('agent', '/ingest/v1/agents/self', { headers: { authorization: `Bearer ${agents[0]}` } })
  const [idle] = vendors
  await calls.post('token', '/api/v1/vendors/auth/token', {
    client_id: idle?.clientId,
    client_secret: idle?.clientSecret,
  })
  await calls.post('enrol', '/ingest/v1/agents', { enrolment_code: code })
  await load.stop()
  assert.deepEqual(calls.failures, [])
  await page.send('page', '/auth/sign-out', {})
  // As if twelve hours had passed.
  await pool.query('update portal_session set expires_at = now(); update portal_verification set expires_at = now()')
  const dropped = await operator('drop')
  assert.equal(dropped.code, 0, dropped.stderr)
  assert.equal(readFileSync(production.secretKeyFile, 'utf8').trim().split('\n').length, 1)

  // The earlier key is gone from both processes, too, and everything works.
  const forgot = async () => {
    const { rows } = await pool.query<{ keys: number }>(
      'select max(cardinality(key_ids))::integer as keys from secret_key_reader',
    )
    return rows[0]?.keys === 1
  }
  while (!(await forgot())) await sleep(50)
  const again = createBrowser(calls)
  await again.signIn(anna)
  await again.send('two-factor', '/auth/two-factor/verify-totp', { code: codeOf(secret, 30_000) })
  await again.loadPage()
  for (const key of agents)
    await calls.call('agent', '/ingest/v1/agents/self', { headers: { authorization: `Bearer ${key}` } })
  for (const { clientId, clientSecret } of vendors)
    await calls.post('token', '/api/v1/vendors/auth/token', { client_id: clientId, client_secret: clientSecret })
  assert.deepEqual(calls.failures, [])
  assert.ok(recoveryCodes.length > 0)
  for (const name of ['token', 'vendor', 'agent', 'session', 'page', 'sign-in'])
    assert.ok((calls.counts.get(name) ?? 0) > 5, `${name}: ${calls.counts.get(name)}`)

  for (const each of processes) assert.equal((await each.kill('SIGTERM')).code, 0)
  const verified = await production.startOperator('disclosure', 'verify').ended
  assert.equal(verified.code, 0, verified.stdout + verified.stderr)
  const { rows } = await pool.query('select distinct key_id from seal')
  assert.equal(rows.length, 2, 'seals of both keys')
})
