import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../testing/test-agent.ts'
import { startTestService } from '../testing/test-service.ts'
import { draftConfig, enroll } from './enroll.ts'

test('on Windows a person is asked for the password, and told what says who can read the settings', async (t) => {
  const server = await startTestService(t)
  const configPath = join(temporaryFolder(t), 'config.json')
  const asked: string[] = []
  const printed: string[] = []
  const options = new Map([
    ['server', server.url],
    ['code', await server.enrolmentCode()],
    ['db-user', 'reader'],
  ])
  const code = await enroll(options, {
    configPath,
    hostName: 'front-desk',
    platform: 'win32',
    passwordFromEnvironment: undefined,
    askPassword: async (question) => {
      asked.push(question)
      return 'secret'
    },
    print: (line) => printed.push(line),
    askTimeZone: async () => null,
    useNetwork: () => {},
  })
  assert.equal(code, 0, printed.join('\n'))
  assert.deepEqual(asked, ['Password of the database user "reader": '])
  assert.deepEqual(printed, [
    `The agent is enrolled. The rights of its folder say who can read its settings file: ${configPath}`,
    'Next, run: bridgework-agent check',
  ])
  assert.equal(JSON.parse(readFileSync(configPath, 'utf8')).database.password, 'secret')
})

test('with ODBC, a connection string is enough; a user given with it has a password, which is not in the string', async () => {
  const drafted = async (...more: [string, string][]) => {
    const options = new Map<string, string>([
      ['connector', 'sql'],
      ['db-engine', 'odbc'],
      ['mapping', '/m.toml'],
      ...more,
    ])
    const deps = { configPath: '/c.json', passwordFromEnvironment: 'secret', askPassword: null }
    const { source } = await draftConfig(options, deps, 'https://bridgework.example', null)
    assert.ok(source.connector === 'sql')
    const { engine, name, user, password, tls } = source.database
    return { engine, name, user, password, tls }
  }
  const file = { engine: 'odbc', name: 'DRIVER={X};Database=/p', user: '', password: '', tls: null }
  assert.deepEqual(await drafted(['db-name', file.name]), file)
  assert.deepEqual(await drafted(['db-name', 'Dental'], ['db-user', 'reader']), {
    ...file,
    name: 'Dental',
    user: 'reader',
    password: 'secret',
  })
  await assert.rejects(drafted(['db-name', 'DSN=Dental;PWD=secret']), /must not contain the password/)
})
