import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { backUp } from './open-dental/testing/test-backup.ts'
import { testFamily } from './open-dental/testing/test-family.ts'
import { runAgentCommand, temporaryFolder, writeTestConfig } from './testing/test-agent.ts'
import { startTestService } from './testing/test-service.ts'

const mariaDb = await startTestMariaDb({ after })

test('an agent whose database went back in time sends nothing before a person confirms the restored office', async (t) => {
  const server = await startTestService(t)
  const practice = await testFamily(mariaDb)
  const config = writeTestConfig(temporaryFolder(t), server, practice.settings, { time_zone: 'America/Chicago' })
  const command = async (...args: string[]) => {
    const { code, stdout } = await runAgentCommand([...args, '--config', config])
    return { code, stdout }
  }
  const names = async () =>
    [...(await server.visible('1', 'patients')).values()].map((patient) => patient.first_name).sort()
  const nothing = await command('confirm-restore')
  assert.deepEqual(
    [
      nothing.code,
      /The source is the one that this agent has read, and not older\. There is nothing to confirm\./.test(
        nothing.stdout,
      ),
    ],
    [0, true],
  )
  assert.equal((await command('run', '--once')).code, 0)
  const office = await names()
  const restore = await backUp(mariaDb, practice.name)
  await practice.update('patient', 'PatNum', 1, { FName: 'Anna' })
  await practice.execute(
    `insert into patient (FName, LName, Guarantor, ClinicNum, PriProv, BillingType) values ('New', 'Alder', 1, 1, 1, 40)`,
  )
  assert.equal((await command('run', '--once')).code, 0)
  assert.deepEqual(await names(), [...office.filter((name) => name !== 'Ann'), 'Anna', 'New'].sort())

  await restore()
  const [requests, after] = [server.requests.length, await names()]
  const refused = await command('run', '--once')
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /is older than what this agent has read before: the newest rows of patient are missing/)
  assert.match(refused.stdout, /run "bridgework-agent confirm-restore"/)
  assert.deepEqual(
    server.requests.slice(requests).map(({ kind }) => kind),
    ['heartbeats', 'heartbeats'],
    'not even the locations are sent',
  )
  const checked = await command('check')
  assert.equal(checked.code, 1)
  assert.match(checked.stdout, /WRONG {3}The database .* is older than what this agent has read before/)
  assert.deepEqual(await names(), after)

  const confirmed = await command('confirm-restore')
  assert.deepEqual([confirmed.code, /Confirmed\. The next cycle reads everything/.test(confirmed.stdout)], [0, true])
  assert.match(
    confirmed.stdout,
    /^Records that the source no longer has become removed; a large removal waits for a review/m,
  )
  const ran = await command('run', '--once')
  assert.equal(ran.code, 0, ran.stdout)
  assert.match(ran.stdout, /patients/)
  assert.deepEqual(await names(), office)
  assert.equal((await command('check')).code, 0)
})

test('a person who gets the key of another one after a restore is not sent before somebody confirms', async (t) => {
  const server = await startTestService(t)
  const practice = await testFamily(mariaDb)
  const config = writeTestConfig(temporaryFolder(t), server, practice.settings, { time_zone: 'America/Chicago' })
  const command = (...args: string[]) => runAgentCommand([...args, '--config', config])
  const admit = (first: string, born: string) =>
    practice.execute(
      `insert into patient (PatNum, FName, LName, Birthdate, Guarantor, ClinicNum, PriProv, BillingType)
       values (70, '${first}', 'Elm', '${born}', 70, 1, 1, 40)`,
    )
  const seventy = async () => (await server.visible('1', 'patients')).get('70')?.first_name
  const restore = await backUp(mariaDb, practice.name)
  await admit('Anna', '1980-03-04')
  assert.equal((await command('run', '--once')).code, 0)
  await restore()
  await admit('Bruno', '2001-05-06')
  const refused = await command('run', '--once')
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /the newest keys of patient belong to other rows than before/)
  assert.equal(await seventy(), 'Anna')
  assert.equal((await command('confirm-restore')).code, 0)
  assert.equal((await command('run', '--once')).code, 0)
  assert.equal(await seventy(), 'Bruno')
})
