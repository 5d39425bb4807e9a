import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Server } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { generate } from 'selfsigned'
import { someCommand, someFolder } from './testing/test-command.ts'

test('a service whose authority only the system knows is asked, and through the proxy that is set', async (t) => {
  const { env, world } = await someCommand(t, { insurancePlans: 1 })
  const authority = await generate([{ name: 'commonName', value: 'Filter of the network' }], {
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  })
  const leaf = await generate([{ name: 'commonName', value: 'service' }], {
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 7, ip: '127.0.0.1' },
          { type: 2, value: 'service.invalid' },
        ],
      },
    ],
  })
  const tls = createTlsServer({ key: leaf.private, cert: leaf.cert }, (socket) => {
    const inner = connect(Number(new URL(world.url).port), '127.0.0.1')
    for (const each of [socket, inner]) each.on('error', () => each.destroy())
    socket.pipe(inner).pipe(socket)
  })
  tls.on('tlsClientError', () => {})
  const port = await listening(t, tls)
  const asked: (string | undefined)[] = []
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push(request.url)
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    const inner = connect(port, '127.0.0.1')
    for (const each of [socket, inner]) each.on('error', () => each.destroy())
    socket.pipe(inner).pipe(socket)
  })
  const system = join(someFolder(t), 'system.pem')
  writeFileSync(system, authority.cert)
  /** What the command says; when it says that it repeats its request, it has said enough. */
  const locations = (host: string, more: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const settings = { ...env, BRIDGEWORK_BASE_URL: `https://${host}/api/v1/vendors`, ...more }
      const command = execFile(
        process.execPath,
        [join(import.meta.dirname, 'main.ts'), 'locations'],
        { env: settings },
        (_, stdout, stderr) => resolve(stdout + stderr),
      )
      command.stderr?.on('data', (text) => String(text).includes('repeated') && command.kill())
    })

  // Waiting mends no certificate: it is said at the first attempt.
  assert.match(
    await locations(`127.0.0.1:${port}`, {}),
    /^This computer does not trust the certificate of https:\/\/127\.0\.0\.1:\d+\/api\/v1\/vendors \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/,
  )
  // OpenSSL's own way to name the system's store.
  const trusting = { SSL_CERT_FILE: system }
  assert.match(await locations(`127.0.0.1:${port}`, trusting), /Location/)
  const through = { ...trusting, HTTPS_PROXY: `http://127.0.0.1:${await listening(t, proxy)}` }
  assert.match(await locations('service.invalid', through), /Location/)
  assert.ok(asked.length > 0 && asked.every((url) => url === 'service.invalid:443'), String(asked))

  asked.length = 0
  assert.match(await locations(`127.0.0.1:${port}`, through), /Location/, 'this computer is asked directly')
  assert.match(
    await locations('service.invalid', { ...through, NO_PROXY: 'service.invalid' }),
    /^No answer yet \(connection_failed\)\. The request is repeated/,
  )
  assert.deepEqual(asked, [])
})

async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}
