import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { vendorApiPath } from '@bridgework/contract'
import { generate } from 'selfsigned'
import { startBystander } from '../apis/ingest/testing/test-bystander.ts'
import { createSecretKey } from '../modules/credentials/secret.ts'
import { ownerRole } from '../platform/database/embedded/cluster.ts'
import { assertResumesByTicket } from '../platform/http/testing/test-tls-resumption.ts'
import { someWorld } from '../testing/test-world.ts'
import { someProduction } from './testing/test-production.ts'

// Debian's packages slowhttptest and testssl.sh: `npm run soak -- SLOW TLS`.
const instrument = process.env.BRIDGEWORK_TEST_INSTRUMENT
const run = promisify(execFile)

test('a server that speaks TLS refuses callers beyond its descriptors, and serves others as soon as some have gone', async (t) => {
  const { port } = await startWithTls(t, { descriptors: 100 })
  const callers = Array.from({ length: 150 }, () => connect({ port, host: '127.0.0.1', rejectUnauthorized: false }))
  t.after(() => {
    for (const caller of callers) caller.destroy()
  })
  const outcomes = await Promise.all(callers.map(connected))
  const open = outcomes.filter((isOpen) => isOpen).length
  // 100 less those of the process itself and of its database.
  assert.ok(open >= 40 && open <= 60, `${open} are connected`)
  for (const caller of callers) caller.destroy()
  for (let tries = 0; ; tries += 1) {
    assert.ok(tries < 100, 'no caller is served afterwards')
    const caller = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    t.after(() => caller.destroy())
    if (!(await connected(caller))) continue
    caller.write('GET /readyz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n')
    const [answer] = await once(caller, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 200 /)
    break
  }
})

if (instrument === 'slowhttptest') {
  const attacks = {
    'slow headers': ['-H', '-i', '5'],
    'slow bodies': ['-B', '-i', '5', '-s', '8192', '-f', 'application/json', '-t', 'POST'],
    'slow reads': ['-X', '-k', '3', '-w', '1', '-y', '512', '-z', '5', '-n', '5'],
    ranges: ['-R', '-a', '1', '-b', '3000', '-t', 'GET'],
  }
  test('slowhttptest: 1,000 slow callers of each kind leave the service available', async (t) => {
    const { production, world } = await someInstallation(t)
    const { port } = await production.startProcess({ BRIDGEWORK_PREVIEW_OPERATIONS: 'insurance_plans' })
    const url = `http://127.0.0.1:${port}`
    const location = await world.addLocation({ insurancePlans: 200 })
    const token = await (await world.addVendor([location])).token()
    const page = `${vendorApiPath}/locations/${location.id}/insurance_plans?items=100`
    const watch = await startBystander(t, { url, page, token })
    for (const [name, args] of Object.entries(attacks)) {
      await watch.waited()
      const target = name === 'slow bodies' ? `${vendorApiPath}/auth/token` : '/docs/json'
      const out = join(production.dataDir, name.replace(' ', '-'))
      const common = '-c 1000 -r 200 -l 40 -p 3 -g'.split(' ')
      await run('slowhttptest', [...args, ...common, '-o', out, '-u', `${url}${target}`])
      const rows = readFileSync(`${out}.csv`, 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',').map(Number))
      const most = Math.max(...rows.map(([, , , connected = 0]) => connected))
      const [seconds = 0, closed = 0, , left = 0] = rows.at(-1) ?? []
      const { health, page: waited, answers } = await watch.waited()
      t.diagnostic(
        `${name}: ${closed + left} callers, ${most} at one time, ${left} left after ${seconds} s; p99 of ${answers} answers: /healthz ${Math.round(health)} ms, page ${Math.round(waited)} ms`,
      )
      assert.ok(closed + left > 900, 'the attack did not happen')
      assert.deepEqual(
        rows.filter(([, , , , available]) => available === 0),
        [],
        `${name}: not available`,
      )
      assert.ok(answers > 100 && health < 1_000 && waited < 1_000)
    }
  })
}

if (instrument === 'testssl') {
  test('testssl.sh finds nothing in a server that speaks TLS but the certificate of the test', async (t) => {
    const { port, dataDir } = await startWithTls(t)
    const out = join(dataDir, 'testssl.json')
    // Its exit code counts its findings.
    await run('testssl', [
      '--quiet',
      '--color',
      '0',
      '--warnings',
      'off',
      '--jsonfile',
      out,
      `localhost:${port}`,
    ]).catch(() => {})
    const findings: { id: string; severity: string; finding: string }[] = JSON.parse(readFileSync(out, 'utf8'))
    t.diagnostic(`${findings.length} checks`)
    assert.ok(findings.length > 100, 'testssl.sh did not finish')
    // Signed by itself, without a list of revocations, of a host without DNS; and what the machine's own openssl lacks.
    const ofTheTest = ['cert_chain_of_trust', 'cert_revocation', 'DNS_CAArecord', 'engine_problem']
    const others = findings.filter(({ id, severity }) => !['OK', 'INFO'].includes(severity) && !ofTheTest.includes(id))
    // Its `s_client` ends at the end of its input, at times before the ticket of TLS 1.3 has come, and it then calls the
    // missing file a connect problem. So we ask for resumption ourselves, whatever it found.
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) await assertResumesByTicket(port, version, 50)
    t.diagnostic('50 of 50 tickets resumed a session, in TLS 1.2 and in TLS 1.3')
    const isMissedTicket = ({ id, finding }: { id: string; finding: string }) =>
      id === 'sessionresumption_ticket' && finding === 'check failed because of connect problem'
    assert.deepEqual(
      others.filter((finding) => !isMissedTicket(finding)),
      [],
    )
  })
}

async function connected(socket: TLSSocket): Promise<boolean> {
  return await new Promise((resolve) => {
    socket.once('secureConnect', () => resolve(true))
    for (const event of ['error', 'close'] as const) socket.once(event, () => resolve(false))
    socket.on('error', () => {})
  })
}

async function someInstallation(t: TestContext) {
  const secret = randomBytes(32)
  const world = await someWorld(t, { secretKey: createSecretKey(secret), publicUrl: 'https://api.example.com' })
  // The world's own `url` is its server's; every role of a test's database has the same password.
  const owner = Object.assign(new URL(world.serverUrl), { username: ownerRole })
  const database = { serverUrl: world.serverUrl, url: owner.href }
  return { world, production: await someProduction(t, { database, secret }) }
}

async function startWithTls(t: TestContext, options: { descriptors?: number } = {}) {
  const production = await someProduction(t)
  const names = [{ type: 2 as const, value: 'localhost' }]
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [
      { name: 'subjectAltName', altNames: names },
      { name: 'extKeyUsage', serverAuth: true },
    ],
  })
  const files = { certificate: join(production.dataDir, 'certificate.pem'), key: join(production.dataDir, 'key.pem') }
  writeFileSync(files.certificate, cert)
  writeFileSync(files.key, key, { mode: 0o600 })
  const settings = { BRIDGEWORK_TLS_CERTIFICATE_FILE: files.certificate, BRIDGEWORK_TLS_KEY_FILE: files.key }
  return { ...(await production.startProcess(settings, options)), dataDir: production.dataDir }
}
