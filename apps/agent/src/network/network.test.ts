import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, type Server } from 'node:net'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { generate } from 'selfsigned'
import { IngestProblem, ingestClient } from '../ingest-client.ts'
import { todoOf } from '../pipeline/cycle.ts'
import { runAgentCommand, temporaryFolder } from '../testing/test-agent.ts'
import { startTestService, type TestService } from '../testing/test-service.ts'
import { unanswered } from './network-problem.ts'

type Certificate = { key: string; cert: string }

const subject = (value: string) => [{ name: 'commonName', value }]
const day = (days: number) => new Date(Date.now() + days * 86_400_000)

async function certificateOf(
  name: string,
  { ca, from = -2, to = 2 }: { ca?: Certificate; from?: number; to?: number } = {},
): Promise<Certificate> {
  const made = await generate(subject(name), {
    notBeforeDate: day(from),
    notAfterDate: day(to),
    ...(ca && { ca }),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: name === 'other' ? '127.0.0.2' : '127.0.0.1' }] }],
  })
  return { key: made.private, cert: made.cert }
}

let authority: Certificate
let service: TestService
const cleanups: (() => unknown)[] = []

before(async () => {
  const made = await generate(subject('Antivirus of the office'), {
    notBeforeDate: day(-2),
    notAfterDate: day(2),
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  })
  authority = { key: made.private, cert: made.cert }
  service = await startTestService({ after: (work) => cleanups.unshift(work) })
})
after(async () => {
  for (const work of cleanups) await work()
})

/** What listens on loopback, by its port. */
async function listening(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

/** The service behind this certificate, as behind a proxy that ends TLS. */
async function behindTls(t: TestContext, certificate: Certificate): Promise<string> {
  const port = Number(new URL(service.url).port)
  const tls = createTlsServer(certificate, (socket) => {
    const inner = connect(port, '127.0.0.1')
    for (const each of [socket, inner]) each.on('error', () => each.destroy())
    socket.pipe(inner).pipe(socket)
  })
  // What a client does not trust, it leaves.
  tls.on('tlsClientError', () => {})
  return `https://127.0.0.1:${await listening(t, tls)}`
}

/** What `check` says first, of a server at this address: the finding and what to do. */
async function checked(
  t: TestContext,
  url: string,
  { settings = {}, env = {} }: { settings?: object; env?: Record<string, string> } = {},
): Promise<string> {
  const folder = temporaryFolder(t)
  const config = join(folder, 'config.json')
  const { agentId, agentKey, organizationId }: TestService = service
  const document = {
    server_url: url,
    organization_id: organizationId,
    agent_id: agentId,
    agent_key: agentKey,
    connector: 'files',
    files: { folder, mapping: join(folder, 'none.toml') },
    ...settings,
  }
  writeFileSync(config, JSON.stringify(document), { mode: 0o600 })
  const { stdout, stderr } = await runAgentCommand(['check', '--json', '--config', config], { env })
  const [first] = stdout.split('\n')
  if (!first) return stderr
  const { what, todo } = JSON.parse(first)
  return `${what} / ${todo}`
}

const isWell = /answers and knows this agent/

test('a certificate that cannot be trusted is named with its fault and what to do', async (t) => {
  const faults: [Promise<Certificate>, RegExp][] = [
    [
      certificateOf('own'),
      /self-signed, so this computer does not trust it \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. \/ If an antivirus or a filter of the office looks into .* into "ca_file" of the settings/,
    ],
    [certificateOf('leaf', { ca: authority }), /from an authority that this computer does not know \(UNABLE_TO_VERIFY/],
  ]
  for (const [certificate, expected] of faults)
    assert.match(await checked(t, await behindTls(t, await certificate)), expected)

  const caFile = join(temporaryFolder(t), 'ca.pem')
  writeFileSync(caFile, authority.cert)
  const trusting = { settings: { ca_file: caFile } }
  const known: [Promise<Certificate>, RegExp][] = [
    [
      certificateOf('leaf', { ca: authority, from: -3, to: -1 }),
      /is expired \(CERT_HAS_EXPIRED\)\. \/ Check the date of this computer’s clock\. If it is right, tell the people/,
    ],
    [certificateOf('leaf', { ca: authority, from: 1, to: 2 }), /is not valid yet \(CERT_NOT_YET_VALID\).*clock/],
    [
      certificateOf('other', { ca: authority }),
      /^The certificate that came for .* is for another name \(ERR_TLS_CERT_ALTNAME_INVALID\)\. .* something else answers in its place/,
    ],
    [certificateOf('leaf', { ca: authority }), isWell],
  ]
  for (const [certificate, expected] of known)
    assert.match(await checked(t, await behindTls(t, await certificate), trusting), expected)
  assert.match(
    await checked(t, service.url, { settings: { ca_file: '/nowhere.pem' } }),
    /ca_file .*cannot be read \(ENOENT\)/,
  )
  writeFileSync(caFile, 'text')
  assert.match(await checked(t, service.url, trusting), /ca_file .* has no certificate in PEM form/)
})

test('what the system trusts is trusted', async (t) => {
  const file = join(temporaryFolder(t), 'system.pem')
  writeFileSync(file, authority.cert)
  const url = await behindTls(t, await certificateOf('leaf', { ca: authority }))
  // OpenSSL's own way to name the system's store.
  assert.match(await checked(t, url, { env: { SSL_CERT_FILE: file } }), isWell)
})

test('an answer that is not the service’s never ends the agent, and the sentence says what was seen', async (t) => {
  const page = '<!doctype html><html><head><title>Guest\n Wi-Fi</title></head></html>'
  const cases: [RequestListener, RegExp][] = [
    [
      (_, answer) => answer.writeHead(401).end(page),
      /Something other than Bridgework .*status 401 with the page "Guest Wi-Fi"/,
    ],
    [
      (_, answer) => answer.end(page),
      /status 200 with the page "Guest Wi-Fi"\. \/ A proxy, a filter or a sign-in page of the network is on the way/,
    ],
    [(_, answer) => answer.writeHead(403).end(), /status 403 with no content/],
    [
      (_, answer) => answer.writeHead(404).end('Not found'),
      /status 404 with content that is not.*Bridgework is not at this path/,
    ],
    [(_, answer) => answer.end('{"agent_id":"1","orga'), /status 200 with JSON that is cut or not Bridgework’s/],
    [(_, answer) => answer.writeHead(502).end(page), /status 502.*has no connection to it.*tries again/],
    [
      (_, answer) => answer.writeHead(302, { location: 'http://portal.example/login?u=secret' }).end(),
      /^The server .* redirects to http:\/\/portal\.example \(302\), and the agent does not follow\..*sign in to the network/,
    ],
    [
      (_, answer) => answer.writeHead(301, { location: 'https://127.0.0.1/' }).end(),
      /redirects to https:\/\/127\.0\.0\.1 \(301\).*Bridgework’s address, enrol again with it: bridgework-agent enroll --replace --server https:\/\/127\.0\.0\.1/,
    ],
  ]
  for (const [answer, expected] of cases) {
    const said = await checked(t, `http://127.0.0.1:${await listening(t, createServer(answer))}`)
    assert.match(said, expected)
    assert.doesNotMatch(said, /secret/)
  }
  const plain = await listening(
    t,
    createServer((_, answer) => answer.end(page)),
  )
  assert.match(await checked(t, `https://127.0.0.1:${plain}`), /does not speak TLS/)
})

test('the office’s proxy is used, with its password, and a refusal of it has a sentence', async (t) => {
  const url = await behindTls(t, await certificateOf('leaf', { ca: authority }))
  const caFile = join(temporaryFolder(t), 'ca.pem')
  writeFileSync(caFile, authority.cert)
  const asked: string[] = []
  const proxy = createServer()
  proxy.on('connect', (request, socket, head) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? 'without a password'}`)
    socket.on('error', () => socket.destroy())
    if (request.url?.startsWith('forbidden.')) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    if (!request.headers['proxy-authorization']) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="office"\r\n\r\n')
      return
    }
    const inner = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      inner.write(head)
      socket.pipe(inner).pipe(socket)
    })
    inner.on('error', () => inner.destroy())
  })
  const port = await listening(t, proxy)
  // A name that only the proxy resolves; the certificate is for an address, so the connection ends there.
  const outside = 'https://bridgework.invalid'
  const settings = { ca_file: caFile }
  assert.match(
    await checked(t, outside, { settings }),
    /name of the server bridgework\.invalid is not found .* \/ Check the server address and this computer’s internet connection and DNS\./,
  )
  const withProxy = (at: string) => ({ settings: { ...settings, proxy: at } })
  assert.match(
    await checked(t, outside, withProxy(`http://127.0.0.1:${port}`)),
    /proxy on the way to bridgework\.invalid demands a name and a password \(407\)\. \/ Put them into the proxy’s address, in "proxy" of the settings/,
  )
  assert.match(
    await checked(t, outside, withProxy(`http://office:pass@127.0.0.1:${port}`)),
    /for another name \(ERR_TLS_CERT_ALTNAME/,
  )
  const env = { HTTPS_PROXY: `http://office:pass@127.0.0.1:${port}` }
  assert.match(await checked(t, outside, { settings, env }), /for another name/)
  assert.match(
    await checked(t, 'https://forbidden.invalid', { settings, env }),
    /refuses to connect to forbidden\.invalid \(403\)\. \/ Ask the people who run the proxy to let this computer reach/,
  )
  const noProxy = withProxy('http://127.0.0.1:1')
  assert.match(await checked(t, outside, noProxy), /refuses connections \(ECONNREFUSED 127\.0\.0\.1:1\)/)
  const basic = `Basic ${Buffer.from('office:pass').toString('base64')}`
  const through = [
    'bridgework.invalid:443 without a password',
    `bridgework.invalid:443 ${basic}`,
    `forbidden.invalid:443 ${basic}`,
  ]
  assert.deepEqual([...new Set(asked)], through)

  asked.length = 0
  assert.match(await checked(t, url, { settings, env }), isWell, 'this computer is asked directly')
  assert.match(await checked(t, outside, { settings, env: { ...env, NO_PROXY: 'bridgework.invalid' } }), /is not found/)
  assert.deepEqual(asked, [])
  assert.match(await checked(t, url, { settings: { proxy: 'office:3128' } }), /proxy must be an address like http:/)
})

test('a server that hangs up, that is silent and that no way leads to have sentences', async (t) => {
  const hangsUp = await listening(
    t,
    createServer((request) => request.socket.destroy()),
  )
  assert.match(
    await checked(t, `http://127.0.0.1:${hangsUp}`),
    /^The server 127\.0\.0\.1:\d+ cannot be reached \(.*\)\. \/ Check this computer’s internet connection and the server address\.$/,
  )
  const silent = createServer(() => {})
  const serverUrl = `http://127.0.0.1:${await listening(t, silent)}`
  t.after(() => silent.closeAllConnections())
  await assert.rejects(ingestClient({ ...service, serverUrl, timeoutMs: 200 }).identify(), (error) => {
    assert.ok(error instanceof IngestProblem)
    assert.match(error.errors, /^The server 127\.0\.0\.1:\d+ gave no answer in time\.$/)
    assert.equal(todoOf(error), 'Check this computer’s internet connection. The agent tries again by itself.')
    return true
  })
  // As fetch wraps what the system says. No test sends anything to an address outside of this computer.
  const cause = Object.assign(new Error('connect'), { code: 'ENETUNREACH', address: '192.0.2.1', port: 443 })
  const { what, todo } = unanswered('https://bridgework.example', new TypeError('fetch failed', { cause }))
  assert.equal(what, 'No connection to the server bridgework.example comes about (ENETUNREACH 192.0.2.1:443).')
  assert.match(todo, /whether a firewall lets it through\. If the office uses a proxy, put its address into "proxy"/)
})
