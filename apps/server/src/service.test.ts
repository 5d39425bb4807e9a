import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from './config.ts'
import { publishAgreement } from './modules/credentials/agreement.ts'
import { sealText } from './modules/credentials/sealed-text.ts'
import { createOrganization } from './modules/directory/organization.ts'
import { saveProvider } from './modules/identity-provider/store.ts'
import { createTestDatabase } from './platform/database/testing/test-database.ts'
import { openService } from './service.ts'
import { someCompany } from './testing/test-world.ts'

test('X06: a service that stops ends a request to a provider that is silent, tells its caller to try again, and is gone soon', async (t) => {
  const silent = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const dataDir = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  t.after(() => {
    silent.close()
    rmSync(dataDir, { recursive: true })
  })
  const { serverUrl, url } = await createTestDatabase(t)
  const settings = { DATABASE_URL: serverUrl, BRIDGEWORK_MIGRATION_DATABASE_URL: url, BRIDGEWORK_DATA_DIR: dataDir }
  const service = await openService(readConfig(settings, dataDir), () => {})
  const { pool, secretKey } = service
  const { id } = await createOrganization(pool, { name: 'Practice' })
  await saveProvider(
    pool,
    { side: 'organization', id },
    {
      signInName: 'silent',
      name: randomUUID(),
      issuer: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      clientId: 'x',
      clientSecret: await sealText(secretKey, 'x'),
      countsAsSecondFactor: false,
      isRequired: false,
    },
  )
  const address = await service.app.listen({ host: '127.0.0.1', port: 0 })
  const waiting = fetch(`${address}/portal/api/auth/identity-provider/start`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sign_in_name: 'silent' }),
  })
  const [socket] = await once(silent, 'connection')
  const beganAtMs = performance.now()

  const [answer] = await Promise.all([waiting, service.close(), once(socket, 'close')])

  const body = (await answer.json()) as { code: string }
  assert.deepEqual([answer.status, body.code, answer.headers.get('retry-after')], [503, 'unavailable', '2'])
  assert.ok(performance.now() - beganAtMs < 7_000, 'sooner than the request would end by itself')
})

test('a service that stops answers a request that waits for changes at once, and is gone soon', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const { serverUrl, url } = await createTestDatabase(t)
  const settings = { DATABASE_URL: serverUrl, BRIDGEWORK_MIGRATION_DATABASE_URL: url, BRIDGEWORK_DATA_DIR: dataDir }
  const service = await openService(readConfig(settings, dataDir), () => {})
  await publishAgreement(service.pool, { version: 1, body: 'The agreement.', enforcedAt: new Date(0) })
  const { pair } = await someCompany(service.pool, service.secretKey)
  const base = `${await service.app.listen({ host: '127.0.0.1', port: 0 })}/api/v1/vendors`
  const got = await fetch(`${base}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: pair.clientId, client_secret: pair.clientSecret }),
  })
  const { token } = (await got.json()) as { token: string }
  const ask = async (query: string) => {
    const answer = await fetch(`${base}/changes${query}`, { headers: { authorization: `Bearer ${token}` } })
    return { status: answer.status, body: (await answer.json()) as { meta: { next_after: string } } }
  }
  const { body } = await ask('')
  const waiting = ask(`?after=${body.meta.next_after}&wait=25`)
  await sleep(700)
  const beganAtMs = performance.now()

  const closing = service.close()
  assert.equal((await waiting).status, 200)
  assert.ok(performance.now() - beganAtMs < 1_500, 'at once')
  await closing
  assert.ok(performance.now() - beganAtMs < 7_000, 'it waits for nothing')
})
