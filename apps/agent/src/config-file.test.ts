import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageError } from '@bridgework/command-line'
import { defaultConfigPath, parseConfig, prepareConfigFile, readConfig } from './config-file.ts'
import { temporaryFolder } from './test-agent.ts'

const good = {
  server_url: 'https://bridgework.example.com',
  organization_id: '42',
  agent_id: '7',
  agent_key: 'bwa_x',
  database: { user: 'reader', password: '', name: 'opendental' },
}

test('settings that are not given have their stated values', () => {
  assert.deepEqual(parseConfig(JSON.stringify(good), '/etc/bridgework-agent/config.json'), {
    serverUrl: 'https://bridgework.example.com',
    organizationId: '42',
    agentId: '7',
    agentKey: 'bwa_x',
    source: {
      connector: 'open-dental',
      database: { host: '127.0.0.1', port: 3306, socket: null, user: 'reader', password: '', name: 'opendental' },
    },
    timeZone: null,
    sendNotes: true,
    intervalSeconds: 60,
    uploadLinesMax: 5000,
    statePath: '/etc/bridgework-agent/state.sqlite',
  })
})

test('all faults of the settings are reported together', () => {
  const text = JSON.stringify({
    ...good,
    server_url: 'http://bridgework.example.com',
    agent_key: 7,
    interval_seconds: 0.5,
    time_zone: 'EST',
    send_notes: 'no',
    databse: {},
    database: { user: 'x', password: 'p', name: 'n', port: 70000, hots: 'a' },
  })
  assert.throws(
    () => parseConfig(text, 'config.json'),
    (error) => {
      assert.ok(error instanceof UsageError)
      for (const expected of [
        /server_url: .*https/,
        /agent_key must be a text/,
        /send_notes must be true or false/,
        /interval_seconds must be a whole number from 5/,
        /time_zone must be a zone/,
        /Unknown setting databse\. Did you mean "database"\?/,
        /database\.port must be a whole number from 1 to 65535/,
        /Unknown setting database\.hots\. Did you mean "host"\?/,
      ]) {
        assert.match(error.message, expected)
      }
      return true
    },
  )
  for (const broken of ['', '{', '[]', '7', 'null', '{}']) assert.throws(() => parseConfig(broken, 'c'), UsageError)
})

test('settings are written whole and for their owner alone, or not at all', (t) => {
  const folder = join(temporaryFolder(t), 'new')
  const path = join(folder, 'config.json')
  const config = parseConfig(JSON.stringify(good), path)
  prepareConfigFile(path).discard()
  assert.deepEqual(readdirSync(folder), [])
  prepareConfigFile(path).write(config)
  assert.deepEqual(readdirSync(folder), ['config.json'])
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.deepEqual(readConfig(path), config)
})

test('a folder that cannot be written to is reported before anything else happens', (t) => {
  const file = join(temporaryFolder(t), 'file')
  writeFileSync(file, '')
  assert.throws(() => prepareConfigFile(join(file, 'config.json')), /cannot be written .*--config/)
  assert.ok(existsSync(file))
})

test('the settings lie in /etc for root and in the home directory for others', () => {
  assert.equal(defaultConfigPath({ isRoot: true, home: '/root' }), '/etc/bridgework-agent/config.json')
  assert.equal(
    defaultConfigPath({ isRoot: false, home: '/home/ann' }),
    '/home/ann/.config/bridgework-agent/config.json',
  )
})
