import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from './config.ts'
import { sealText } from './modules/credentials/sealed-text.ts'
import { createOrganization } from './modules/directory/organization.ts'
import { saveProvider } from './modules/identity-provider/store.ts'
import { createTestDatabase } from './platform/database/testing/test-database.ts'
import { openService } from './service.ts'

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
