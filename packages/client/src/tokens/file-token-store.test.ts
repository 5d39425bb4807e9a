import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { clientOf, someClient } from '../testing/test-client.ts'
import { startProxy } from '../testing/test-proxy.ts'
import { fileTokenStore } from './file-token-store.ts'

const run = promisify(execFile)

test('short-lived processes that share a file ask for one token', async (t) => {
  const { world, vendor, location } = await someClient(t)
  const file = join(someFolder(t), 'tokens.json')
  const processes = Number(process.env.BRIDGEWORK_TEST_PROCESSES ?? 12)
  let tokenRequests = 0
  const proxy = await startProxy(t, world.url, ({ url }) => {
    if (url?.endsWith('/auth/token')) tokenRequests += 1
    return 'pass'
  })
  const env = {
    ...process.env,
    BRIDGEWORK_CLIENT_ID: vendor.clientId,
    BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
  }
  const program = join(import.meta.dirname, '../testing/test-short-process.ts')

  let left = processes
  const inTurn = async () => {
    while (left > 0) {
      left -= 1
      await run(process.execPath, [program, proxy.url, file, location.id], { env })
    }
  }
  await Promise.all(Array.from({ length: 6 }, inTurn))

  assert.equal(proxy.seen.get('200'), processes + 1)
  assert.equal(tokenRequests, 1)
  assert.equal(statSync(file).mode & 0o777, 0o600)
})

test('the file reveals no key pair, and a file that others may read is neither trusted nor left so', async (t) => {
  const { world, vendor } = await someClient(t)
  const file = join(someFolder(t), 'deep/tokens.json')
  const from: string[] = []
  const read = () =>
    clientOf(world, vendor, {
      tokenStore: fileTokenStore(file),
      onEvent: (event) => void (event.event === 'token' && from.push(event.from)),
    })
      .locations.list()
      .pages()
      .next()

  await read()
  await read()
  chmodSync(file, 0o644)
  await read()
  writeFileSync(file, '{"half a fi')
  await read()

  assert.deepEqual(from, ['service', 'store', 'service', 'service'])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const text = readFileSync(file, 'utf8')
  assert.ok(!text.includes(vendor.clientId) && !text.includes(vendor.clientSecret))
})

function someFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-client-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
