import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { check, compareClocks } from './check.ts'
import type { Finding } from './connector.ts'
import { ingestClient } from './ingest-client.ts'
import { openDentalConnector } from './open-dental/connector.ts'
import type { DatabaseSettings } from './open-dental/database/database-settings.ts'
import { testPractice } from './open-dental/testing/test-practice.ts'
import { sourceMemory } from './state/source-memory.ts'
import { temporaryFolder } from './testing/test-agent.ts'
import { startTestService } from './testing/test-service.ts'

const mariaDb = await startTestMariaDb({ after })
const server = await startTestService({ after })
const practice = await testPractice(mariaDb)
const statePath = join(temporaryFolder({ after }), 'state.sqlite')

async function findings(
  options: {
    database?: Partial<DatabaseSettings>
    agentKey?: string
    serverUrl?: string
    now?: () => Date
    sendNotes?: boolean
    agentId?: string
  } = {},
): Promise<readonly Finding[]> {
  const serverUrl = options.serverUrl ?? server.url
  const { organizationId } = server
  const agentId = options.agentId ?? server.agentId
  return await check({
    connector: openDentalConnector({ ...practice.settings, ...options.database }, null),
    client: ingestClient({ serverUrl, agentId, organizationId, agentKey: options.agentKey ?? server.agentKey }),
    serverUrl,
    agentId,
    organizationId,
    memory: sourceMemory(statePath),
    statePath,
    sendNotes: options.sendNotes ?? true,
    now: options.now ?? (() => new Date()),
  })
}

/** The findings that are not good, as "what / todo". */
function wrong(all: readonly Finding[]): string[] {
  return all.filter((finding) => finding.outcome !== 'good').map((finding) => `${finding.what} / ${finding.todo}`)
}

function onlyOne(all: readonly Finding[], expected: RegExp): void {
  const faults = wrong(all)
  assert.equal(faults.length, 1, faults.join('\n'))
  assert.match(faults[0] ?? '', expected)
}

test('check finds nothing wrong with a good installation', async () => {
  const all = await findings()
  assert.deepEqual(wrong(all), [])
  const said = all.map(({ what }) => what)
  assert.ok(said.includes('The connection to the database is a socket of this computer.'), said.join('\n'))
  assert.ok(said.includes('Every table that the agent needs can be read.'), said.join('\n'))
  assert.ok(said.includes('Every date, amount and text can be sent as it is.'), said.join('\n'))
})

test('check says that the key is of another agent than the settings name', async () => {
  onlyOne(
    await findings({ agentId: '999999' }),
    /^The key belongs to agent \d+ of organization \d+, but the settings name agent 999999 of organization \d+\. \/ Ask for a new enrolment code and run "bridgework-agent enroll --replace"\.$/,
  )
})

test('check says which notes leave the office', async () => {
  const aboutNotes = async (sendNotes: boolean) =>
    (await findings({ sendNotes })).map(({ what }) => what).filter((what) => /notes/i.test(what))
  assert.deepEqual(await aboutNotes(true), ['No notes are sent: the practice has granted them to no vendor.'])
  assert.deepEqual(await aboutNotes(false), ['No notes are sent: "send_notes" is false.'])
  await server.service.addLocation(server)
  await server.grantNotes()
  const names = 'appointments, ledger_transactions, patient_referrals, treatments'
  assert.deepEqual(await aboutNotes(true), [`Notes are sent of ${names}: the practice has granted them to a vendor.`])
  assert.deepEqual(await aboutNotes(false), [
    `No notes are sent: "send_notes" is false. Granted are those of ${names}.`,
  ])
  await server.grantNotes(false)
})

test('check says that the server cannot be reached', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => closed.once('listening', resolve))
  const address = closed.address()
  await new Promise((resolve) => closed.close(resolve))
  const port = typeof address === 'object' ? address?.port : 0
  onlyOne(
    await findings({ serverUrl: `http://127.0.0.1:${port}` }),
    /^The server 127\.0\.0\.1:\d+ refuses connections \(ECONNREFUSED 127.*\)\. .* the server is off or a firewall refuses\./,
  )
})

test('check says that the server is not Bridgework', async (t) => {
  const stranger = createServer((_, response) => response.end('<html>hello</html>')).listen(0, '127.0.0.1')
  t.after(() => stranger.close())
  await new Promise((resolve) => stranger.once('listening', resolve))
  const address = stranger.address()
  const port = typeof address === 'object' ? address?.port : 0
  const [fault] = wrong(await findings({ serverUrl: `http://127.0.0.1:${port}` }))
  assert.match(
    fault ?? '',
    /Something other than Bridgework answered for .*: status 200 with an HTML page.*sign-in page/,
  )
})

test('check says that the key is refused', async () => {
  onlyOne(await findings({ agentKey: 'bwa_wrong' }), /refuses this agent's key.*new enrolment code/)
})

test('check says that the server redirects', async () => {
  server.world.interference = () => ({ status: 308, body: {}, headers: { location: 'https://elsewhere.example' } })
  onlyOne(await findings(), /redirects to https:\/\/elsewhere\.example \(308\)/)
  server.world.interference = undefined
})

test('check says that the database cannot be reached, by socket and by port', async () => {
  onlyOne(
    await findings({ database: { socket: '/nowhere/mysqld.sock' } }),
    /\/nowhere\/mysqld\.sock cannot be reached \(ENOENT\)/,
  )
  onlyOne(
    await findings({ database: { socket: null, port: 1 } }),
    /^The database at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)\. .*\(or socket\) are right, and that no firewall is in between/,
  )
  onlyOne(
    await findings({ database: { socket: null, host: 'no-such-host.invalid' } }),
    /cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/,
  )
})

test('check says that the password or the user is wrong', async () => {
  onlyOne(await findings({ database: { password: 'wrong' } }), /refuses the user "reader_1".*user and password/)
  onlyOne(await findings({ database: { user: 'nobody' } }), /refuses the user "nobody"/)
})

test('check says that there is no such database, or none that the user may use', async () => {
  await mariaDb.execute(
    "create user everywhere@localhost identified by 'x'; grant select on *.* to everywhere@localhost",
  )
  onlyOne(
    await findings({ database: { user: 'everywhere', password: 'x', name: 'opendentall' } }),
    /The database "opendentall" does not exist.*Correct the database name/,
  )
  onlyOne(await findings({ database: { name: 'mysql' } }), /no right to use the database "mysql".*grant select/)
})

test('check says that the database is not Open Dental’s', async () => {
  const other = await mariaDb.createDatabase({ schema: 'create table customer (id int)' })
  onlyOne(await findings({ database: other.settings }), /not an Open Dental database: it has no table preference/)
  const empty = await mariaDb.createDatabase()
  onlyOne(
    await findings({ database: empty.settings }),
    /not an Open Dental database: its preferences hold no DataBaseVersion/,
  )
})

test('check names a table that the user may not read, and the datasets that need it', async () => {
  const { name } = practice.settings
  await mariaDb.execute("create user half@localhost identified by 'x'")
  for (const table of [
    'preference',
    'clinic',
    'employer',
    'feesched',
    'fee',
    'carrier',
    'procedurecode',
    'patient',
    'appointment',
    'procedurelog',
    'adjustment',
    'payment',
    'paysplit',
    'claimproc',
    'payplancharge',
    'definition',
    'provider',
    'operatory',
    'appointmenttype',
    'patientlink',
    'patplan',
    'inssub',
    'histappointment',
    'claimpayment',
    'payplan',
    'payplanlink',
    'referral',
    'refattach',
  ]) {
    await mariaDb.execute(`grant select on ${name}.${table} to half@localhost`)
  }
  onlyOne(
    await findings({ database: { user: 'half', password: 'x' } }),
    /"half" may not read the table insplan\. Not read: insurance_plans, patients\. The other datasets go on\. \/ .*grant select on `practice\\_1`\.\* to 'half'@'localhost';/,
  )
})

test('check advises against a user that can write', async () => {
  await mariaDb.execute(
    `create user writer@localhost identified by 'x'; grant all on ${practice.settings.name}.* to writer@localhost`,
  )
  const all = await findings({ database: { user: 'writer', password: 'x' } })
  onlyOne(all, /more rights than reading/)
  const todo = all.find(({ what }) => what.includes('more rights'))?.todo ?? ''
  const [statements = ''] = /create user .* to '[^;]*;/.exec(todo) ?? []
  await mariaDb.execute(statements)
  assert.match(todo, /"bridgework-agent configure --db-user bridgework"/)
  assert.ok(all.every((finding) => finding.outcome !== 'wrong'))
})

test('check says that Open Dental is being updated', async () => {
  await practice.setPreference('UpdateInProgressOnComputerName', 'FRONTDESK')
  onlyOne(
    await findings(),
    /Open Dental is being updated; nothing is read meanwhile\..* If no update is running, start Open Dental once/,
  )
  await practice.setPreference('UpdateInProgressOnComputerName', '')
})

test('check says whose clock is wrong', async () => {
  onlyOne(
    await findings({ now: () => new Date(Date.now() + 3_600_000) }),
    /^This computer's clock is 60 minutes ahead of the server's\. \/ Synchronize the clock of this computer with NTP, and check its time zone\.$/,
  )
  server.world.serverTime = () => new Date(Date.now() + 86_400_000)
  assert.deepEqual(wrong(await findings()).length, 2)
  server.world.serverTime = () => new Date()

  const at = (minutes: number) => new Date(Date.parse('2026-11-20T12:00:00Z') + minutes * 60_000)
  const said = (clocks: Parameters<typeof compareClocks>[0]) => compareClocks(clocks).map((finding) => finding.what)
  assert.deepEqual(said({ own: at(0), server: at(0), database: at(-480) }), [
    "The database server's clock is 8 hours behind the server's.",
  ])
  assert.deepEqual(said({ own: at(0), server: null, database: at(3) }), [
    "The database server's clock is 3 minutes ahead of this computer's.",
  ])
  assert.deepEqual(said({ own: at(1), server: at(0), database: at(-1) }), ['The clocks agree.'])
  assert.deepEqual(said({ own: at(1), server: null, database: null }), [])
})

test('a database that does not answer in time is reported', async () => {
  const lock = await practice.connect()
  await lock.query('lock tables insplan write')
  const { openSession } = await import('./open-dental/database/session.ts')
  const { database } = await openSession(practice.settings)
  await database.query('set session max_statement_time = 0.2')
  await assert.rejects(database.query('select count(*) from insplan'), /did not answer in time/)
  await database.end()
  await lock.query('unlock tables')
})
