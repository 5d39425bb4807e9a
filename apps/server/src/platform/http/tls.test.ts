import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, connect, type Server, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { exchange, startTestServer } from './testing/test-connection.ts'
import { askOverTls, assertResumesByTicket } from './testing/test-tls-resumption.ts'
import { followTlsFiles, readTlsPair, TlsFileError } from './tls.ts'

async function makePair(name: string, notAfterDate?: Date) {
  const made = await generate([{ name: 'commonName', value: name }], {
    keySize: 2048,
    algorithm: 'sha256',
    ...(notAfterDate && { notBeforeDate: new Date('2020-01-01'), notAfterDate }),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  return { cert: made.cert, key: made.private }
}

function someFiles(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = { certificateFile: join(folder, 'certificate.pem'), keyFile: join(folder, 'key.pem') }
  const write = (pair: { cert: string; key: string }) => {
    writeFileSync(files.certificateFile, pair.cert)
    writeFileSync(files.keyFile, pair.key, { mode: 0o600 })
  }
  return { files, write }
}

/** What a new connection finds: the name in the certificate and what both agreed on; the error's code when they did not. */
async function handshake(port: number, options: ConnectionOptions = {}) {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  try {
    await new Promise<void>((resolve, reject) => void socket.once('secureConnect', resolve).once('error', reject))
    return {
      name: socket.getPeerCertificate().subject.CN,
      protocol: socket.getProtocol(),
      cipher: socket.getCipher().name,
    }
  } catch (error) {
    return (error as { code: string }).code
  } finally {
    socket.destroy()
  }
}

async function getOverTls(port: number, ca: string, path = '/ok') {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request({ port, host: '127.0.0.1', servername: 'one.example', path, ca }, resolve).once('error', reject).end()
  const answer = await promise
  let body = ''
  for await (const piece of answer) body += piece
  return { status: answer.statusCode, headers: answer.headers, body }
}

test('over TLS, too, a caller above the bound is cut, and connections that wait for a request make room for the next', async (t) => {
  const pair = await makePair('one.example')
  const { files, write } = someFiles(t)
  write(pair)
  const { port } = await startTestServer(t, (routes) => routes.get('/ok', async () => ({ ok: true })), {
    tls: readTlsPair(files),
    connectionsMax: 2,
  })
  const open = async () => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    t.after(() => socket.destroy())
    await new Promise<void>((resolve, reject) => void socket.once('secureConnect', resolve).once('error', reject))
    return socket
  }
  const ask = async (socket: TLSSocket) => {
    socket.write('GET /ok HTTP/1.1\r\nHost: test\r\n\r\n')
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 200/)
  }
  const first = await open()
  await ask(first)
  await open()
  const closed = once(first, 'close')
  await assert.rejects(open(), { code: 'ECONNRESET' })
  await closed
  await ask(await open())
})

test('the server speaks TLS 1.2 and 1.3 with modern suites, says HSTS, and takes a renewed pair for new connections', async (t) => {
  const [one, two] = await Promise.all([makePair('one.example'), makePair('two.example')])
  const { files, write } = someFiles(t)
  write(one)
  const { app, port, events } = await startTestServer(t, (routes) => routes.get('/ok', async () => ({ ok: true })), {
    tls: readTlsPair(files),
  })
  t.after(followTlsFiles(app.server as unknown as Server, files, (event) => events.push(event), 20))

  const answer = await getOverTls(port, one.cert)
  assert.deepEqual([answer.status, answer.body], [200, '{"ok":true}'])
  assert.equal(answer.headers['strict-transport-security'], 'max-age=31536000')
  const unknown = await getOverTls(port, one.cert, '/unknown')
  assert.deepEqual([unknown.status, JSON.parse(unknown.body).code], [404, 'route_unknown'])

  assert.partialDeepStrictEqual(await handshake(port), { name: 'one.example', protocol: 'TLSv1.3' })
  assert.partialDeepStrictEqual(await handshake(port, { maxVersion: 'TLSv1.2' }), { protocol: 'TLSv1.2' })
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const
  assert.match(String(await handshake(port, old)), /^(ERR_SSL|ECONNRESET)/)
  for (const ciphers of ['AES256-SHA', 'AES128-GCM-SHA256', 'ECDHE-RSA-AES128-SHA'])
    assert.match(String(await handshake(port, { maxVersion: 'TLSv1.2', ciphers })), /^(ERR_SSL|ECONNRESET)/, ciphers)

  const kept: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  t.after(() => kept.destroy())
  await new Promise((resolve) => kept.once('secureConnect', resolve))
  const until = async (isReached: () => Promise<boolean> | boolean) => {
    for (let tries = 0; !(await isReached()); tries += 1) {
      assert.ok(tries < 200, 'it did not happen')
      await sleep(20)
    }
  }
  write(two)
  await until(async () => JSON.stringify(await handshake(port)).includes('two.example'))
  assert.equal(kept.getPeerCertificate().subject.CN, 'one.example')
  assert.ok(!kept.destroyed, 'connections that are open stay')

  writeFileSync(files.keyFile, one.key)
  await until(() => events.some((event) => event.event === 'server.warning'))
  await sleep(100)
  const warnings = events.flatMap((event) => (event.event === 'server.warning' ? [event.text] : []))
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /cannot be used .* belong together\. The earlier certificate stays in use\.$/)
  assert.partialDeepStrictEqual(await handshake(port), { name: 'two.example' })

  const plain = connectPlain(port, '127.0.0.1')
  t.after(() => plain.destroy())
  plain.on('error', () => {}).write('GET /ok HTTP/1.1\r\nHost: test\r\n\r\n')
  await new Promise((resolve) => plain.once('close', resolve))
  assert.partialDeepStrictEqual(await handshake(port), { name: 'two.example' }, 'plain HTTP disturbs nobody')
})

test('a session is resumed by its ticket in TLS 1.2 and 1.3, and only by the server that gave it', async (t) => {
  const { files, write } = someFiles(t)
  write(await makePair('one.example'))
  const serve = () =>
    startTestServer(t, (routes) => routes.get('/healthz', async () => ({})), { tls: readTlsPair(files) })
  const [one, other] = [await serve(), await serve()]
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    await assertResumesByTicket(one.port, version)
    const { session } = await askOverTls(one.port, version)
    assert.ok(session)
    assert.equal((await askOverTls(other.port, version, session)).isResumed, false, version)
  }
})

test('a pair that cannot be used is one line for the person who starts the server', async (t) => {
  const [one, two, expired] = await Promise.all([
    makePair('one.example'),
    makePair('two.example'),
    makePair('old.example', new Date('2021-01-01')),
  ])
  const { files, write } = someFiles(t)
  const reason = () => {
    try {
      readTlsPair(files)
    } catch (error) {
      assert.ok(error instanceof TlsFileError)
      return error.message
    }
    return ''
  }
  assert.match(reason(), /^The file \S+certificate\.pem cannot be read \(ENOENT\)\.$/)
  write({ cert: one.cert, key: two.key })
  assert.match(reason(), /belong together\.$/)
  write({ cert: 'garbage', key: one.key })
  assert.match(reason(), /Both must be PEM/)
  write(expired)
  assert.match(reason(), /has expired\. Renew it\.$/)
  write(one)
  assert.equal(reason(), '')
})

test('HSTS is said when a trusted proxy says https, and to nobody else', async (t) => {
  const text = (proto: string) =>
    `GET /ok HTTP/1.1\r\nHost: test\r\nConnection: close\r\nX-Forwarded-Proto: ${proto}\r\n\r\n`
  const serve = (trustedProxies: string[]) =>
    startTestServer(t, (app) => app.get('/ok', async () => ({})), { trustedProxies })
  const [behind, alone] = [await serve(['127.0.0.1']), await serve([])]
  const hstsOf = async (port: number, proto: string) =>
    (await exchange(t, port, text(proto))).headers.get('strict-transport-security')
  assert.equal(await hstsOf(behind.port, 'https'), 'max-age=31536000')
  assert.equal(await hstsOf(behind.port, 'http'), undefined)
  assert.equal(await hstsOf(alone.port, 'https'), undefined)
})
