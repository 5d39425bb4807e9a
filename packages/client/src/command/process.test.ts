import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startProxy } from '../testing/test-proxy.ts'
import { command, someCommand, someFolder } from './testing/test-command.ts'

test('Ctrl-C ends a mirror with 130, and a reader that closes its output does not', async (t) => {
  const { env } = await someCommand(t, { insurancePlans: 1 })
  const mirror = start(t, ['mirror', '--to', join(someFolder(t), 'copy'), '--every', '10s'], env)
  await once(mirror.stderr, 'data')
  mirror.kill('SIGINT')
  assert.deepEqual(await once(mirror, 'exit'), [130, null])

  const unread = start(t, ['mirror', '--to', join(someFolder(t), 'copy')], env)
  unread.stderr.destroy()
  assert.deepEqual(await once(unread, 'exit'), [0, null])
})

test('a reader that has enough ends a pull without a word', async (t) => {
  const { env } = await someCommand(t, { insurancePlans: 3_000 })
  const pull = start(t, ['pull', 'insurance_plans'], env)
  let said = ''
  pull.stderr.on('data', (part) => {
    said += part
  })
  await once(pull.stdout, 'data')
  pull.stdout.destroy()
  assert.deepEqual(await once(pull, 'exit'), [0, null])
  assert.equal(said, '')
})

test('Ctrl-C ends a pull whose reader has stopped reading', async (t) => {
  const { env } = await someCommand(t, { insurancePlans: 3_000 })
  const pull = start(t, ['pull', 'insurance_plans'], env)
  await once(pull.stdout, 'readable')
  pull.kill('SIGINT')
  assert.deepEqual(await once(pull, 'exit'), [130, null])
})

test('Ctrl-C ends a mirror whose database says nothing', async (t) => {
  const { env } = await someCommand(t)
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const mirror = start(t, ['mirror', '--to', `postgres://someone@127.0.0.1:${port}/copy`], env)
  await once(silent, 'connection')
  mirror.kill('SIGINT')
  assert.deepEqual(await once(mirror, 'exit'), [130, null])
})

test('a token that cannot be kept is used, and that is said', async (t) => {
  const { env, world } = await someCommand(t, { insurancePlans: 1 })
  let tokenRequests = 0
  const proxy = await startProxy(t, world.url, ({ url }) => {
    if (url?.endsWith('/auth/token')) tokenRequests += 1
    return 'pass'
  })
  // A file where its folder should be: nobody, not even root, can make one there.
  const home = someFolder(t)
  writeFileSync(join(home, '.config'), '')
  const ofHome = { ...env, HOME: home, BRIDGEWORK_BASE_URL: proxy.url }

  const { code, err } = await command(['mirror', '--to', join(someFolder(t), 'copy')], ofHome)
  assert.equal(code, 0, err)
  assert.equal(err.match(/The token cannot be saved for the next command: E/g)?.length, 1)
  assert.equal(tokenRequests, 1)
})

test('a kept key pair is sent to no other service', async (t) => {
  const { env, world, vendor } = await someCommand(t)
  const home = someFolder(t)
  const folder = join(home, '.config/bridgework')
  mkdirSync(folder, { recursive: true })
  const content = { base_url: world.url, client_id: vendor.clientId, client_secret: vendor.clientSecret }
  writeFileSync(join(folder, 'credentials.json'), JSON.stringify(content))
  chmodSync(join(folder, 'credentials.json'), 0o600)
  const proxy = await startProxy(t, world.url, () => 'pass')

  const elsewhere = await command(['locations'], { HOME: home, BRIDGEWORK_BASE_URL: proxy.url })
  assert.equal(elsewhere.code, 3)
  assert.match(elsewhere.err, /login --base-url/)
  assert.equal(proxy.seen.size, 0)
  assert.equal((await command(['locations'], { HOME: home, BRIDGEWORK_BASE_URL: env.BRIDGEWORK_BASE_URL })).code, 0)
})

/** The command as a process of its own. */
function start(t: TestContext, argv: string[], env: Record<string, string>) {
  const program = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [program, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  return child
}
