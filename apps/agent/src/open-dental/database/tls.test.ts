import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { generate } from 'selfsigned'
import { freePort } from '../../../../server/src/testing/test-port.ts'
import { SourceProblem } from '../../connector.ts'
import { createReadingUser } from '../../setup/database-user.ts'
import { temporaryFolder } from '../../testing/test-agent.ts'
import { openDentalConnector } from '../connector.ts'
import { type TestPractice, testPractice } from '../testing/test-practice.ts'
import { connectDatabase } from './connection.ts'
import { databaseProblem } from './database-problem.ts'
import type { DatabaseSettings, DatabaseTls } from './database-settings.ts'
import { findingOnTls } from './tls.ts'

const folder = temporaryFolder({ after })
const authority = await certificate('authority', ['authority.test'])
const otherAuthority = await certificate('other', ['other.test'])
const ofLocalhost = await certificate('localhost', ['localhost'], authority)
const ofAnother = await certificate('elsewhere', ['db.elsewhere.test'], authority)
const database = await startedWith({ after }, ofLocalhost)

test('a database is read over an encrypted connection whose certificate is verified, and check says so', async () => {
  const { practice, settings } = database
  const verified = settings({ mode: 'verified', caFile: authority.certificate })
  const { findings } = await openDentalConnector(verified, 'UTC').check()
  const said = findings.map(({ outcome, what }) => `${outcome}: ${what}`)
  assert.match(
    said[1] ?? '',
    /^good: The connection to the database is encrypted \(TLSv1\.[23]\), and its certificate is that of localhost\.$/,
  )
  assert.deepEqual(
    findings.filter(({ outcome }) => outcome === 'wrong'),
    [],
  )
  // The server itself would refuse anything else.
  await practice.execute(`alter user ${verified.user}@localhost require ssl`)
  const connection = await connectDatabase(verified)
  assert.equal((await connection.query('select 1 as one'))[0]?.one, '1')
  await connection.end()
})

test('a database refuses a connection in plain text where its user must not use one, and the problem names the setting', async () => {
  const problem = await problemOf(database.settings(null))
  assert.equal(problem.kind, 'access_denied')
  assert.match(problem.todo, /requires encryption also needs "tls"/)
})

test('an administrator creates the reading user over the encrypted connection, and its plain text is refused', async () => {
  const { practice, settings } = database
  await practice.execute(
    "create user admin@localhost identified by 'may all'; grant all on *.* to admin@localhost with grant option",
  )
  const verified = settings({ mode: 'verified', caFile: authority.certificate })
  const administrator = { ...verified, user: 'admin', password: 'may all' }
  const { user } = await createReadingUser(administrator, { name: 'bridgework', password: 'reads' })
  const reader = { user: user.name, password: user.password }
  await (await connectDatabase({ ...verified, ...reader })).end()
  assert.equal((await problemOf({ ...settings(null), ...reader })).kind, 'access_denied')
})

test('a database is not sent the password when another authority signed its certificate', async () => {
  for (const [tls, expected] of [
    [{ mode: 'verified', caFile: otherAuthority.certificate }, /not signed by an authority in .*other\.pem/],
    [{ mode: 'verified', caFile: null }, /not signed by an authority that this computer knows/],
  ] as const) {
    const problem = await problemOf(database.settings(tls))
    assert.equal(problem.kind, 'not_encrypted')
    assert.match(problem.message, expected)
    assert.match(problem.todo, /^Put the authority that signed it \(PEM\) into a file, .* "tls_ca_file"/)
  }
})

test('a database is read without verification when that is asked for, and check advises to verify', async () => {
  const { findings } = await openDentalConnector(database.settings({ mode: 'required' }), 'UTC').check()
  const [finding] = findings.filter(({ outcome }) => outcome !== 'good')
  assert.equal(finding?.outcome, 'advice')
  assert.match(finding?.what ?? '', /encrypted \(TLSv1\.[23]\), but its certificate was not verified/)
  assert.match(finding?.todo ?? '', /to "verified", and "tls_ca_file" to the certificate of the authority\.$/)
})

test('a database is not asked when the file of authorities cannot be used', async () => {
  const caFile = join(folder, 'empty.pem')
  writeFileSync(caFile, '')
  for (const path of [caFile, join(folder, 'missing.pem')]) {
    const problem = await problemOf(database.settings({ mode: 'verified', caFile: path }))
    assert.equal(problem.kind, 'not_encrypted')
    assert.ok(problem.message.includes(path))
    const fault =
      path === caFile
        ? /^The file .* does not begin with a certificate in PEM \(/
        : /^The file .* cannot be read \(ENOENT\), and /
    assert.match(problem.message, fault)
    assert.match(problem.message, /\), and "tls_ca_file" of "database" names it\.$/)
    assert.match(problem.todo, /^It must hold the certificate \(PEM\) of the authority/)
  }
})

test('a certificate for another name is refused, though the right authority signed it', async (t) => {
  const { settings } = await startedWith(t, ofAnother)
  const problem = await problemOf(settings({ mode: 'verified', caFile: authority.certificate }))
  assert.equal(problem.kind, 'not_encrypted')
  assert.match(problem.message, /is for another name than "localhost"/)
  assert.match(problem.todo, /^Set "host" of "database" to a name that is in the certificate, /)
})

test('a database without encryption is refused where it is required, and gets no password', async (t) => {
  const { settings } = await startedWith(t, null)
  for (const tls of [{ mode: 'required' }, { mode: 'verified', caFile: authority.certificate }] as const) {
    const problem = await problemOf(settings(tls))
    assert.equal(problem.kind, 'not_encrypted')
    assert.match(
      problem.message,
      /offers no encryption, and "tls" in the settings requires it\. Nothing was sent to it/,
    )
    assert.match(problem.todo, /^Set ssl_cert and ssl_key on the database server /)
  }
  const { findings } = await openDentalConnector(settings(null), 'UTC').check()
  assert.ok(findings.some(({ what }) => what === 'The connection to the database stays in this computer.'))
  // The same connection, by a name that is not this computer's.
  const connection = await connectDatabase(settings(null))
  const elsewhere = { ...connection, settings: { ...connection.settings, host: 'db.example' } }
  assert.deepEqual(await findingOnTls(elsewhere), {
    outcome: 'advice',
    what: "The connection to the database at db.example is not encrypted: others in the network can read patients' data.",
    todo: 'Set "tls" of "database" in the settings file to "verified", or run the agent on the computer of the database.',
  })
  await connection.end()
})

test('a database that takes encrypted connections alone leads to the setting', async (t) => {
  const { settings } = await startedWith(t, ofLocalhost, ['--require-secure-transport=ON'])
  const problem = await problemOf(settings(null))
  assert.match(problem.todo, /requires encryption also needs "tls"/)
  // MySQL has an error of its own for it.
  const ofMySql = databaseProblem({ code: 'ER_SECURE_TRANSPORT_REQUIRED' }, settings(null))
  assert.match(ofMySql.message, /accepts encrypted connections only/)
  assert.equal(ofMySql.todo, 'Set "tls" of "database" in the settings file to "verified" or "required".')
})

type Certificate = { certificate: string; key: string; pem: { cert: string; key: string } }
type Started = { practice: TestPractice; settings(tls: DatabaseTls | null): DatabaseSettings }

async function startedWith(
  t: { after(work: () => Promise<void>): void },
  server: Certificate | null,
  more: readonly string[] = [],
): Promise<Started> {
  const port = await freePort()
  const ssl = server === null ? ['--skip-ssl'] : [`--ssl-cert=${server.certificate}`, `--ssl-key=${server.key}`]
  const mariaDb = await startTestMariaDb(t, { port, settings: [...ssl, ...more] })
  const practice = await testPractice(mariaDb)
  const settings = (tls: DatabaseTls | null) => ({ ...practice.settings, host: 'localhost', port, socket: null, tls })
  return { practice, settings }
}

async function problemOf(settings: DatabaseSettings): Promise<SourceProblem> {
  const problem = await connectDatabase(settings).then(
    () => new Error('The connection was opened.'),
    (error: unknown) => error,
  )
  assert.ok(problem instanceof SourceProblem, String(problem))
  return problem
}

async function certificate(name: string, names: readonly string[], by?: Certificate): Promise<Certificate> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: names[0] ?? '' }], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [
      ...(by === undefined ? [{ name: 'basicConstraints' as const, cA: true, critical: true }] : []),
      { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2 as const, value })) },
    ],
    ...(by === undefined ? {} : { ca: by.pem }),
  })
  const files = { certificate: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
  writeFileSync(files.certificate, cert)
  writeFileSync(files.key, key)
  return { ...files, pem: { cert, key } }
}
