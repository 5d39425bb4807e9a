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
  assert.deepEqual([nothing.code, /nothing to confirm/.test(nothing.stdout)], [0, true])
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
  const ran = await command('run', '--once')
  assert.equal(ran.code, 0, ran.stdout)
  assert.match(ran.stdout, /patients/)
  assert.deepEqual(await names(), office)
  assert.equal((await command('check')).code, 0)
})
