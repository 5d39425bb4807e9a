import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageError } from '@bridgework/command-line'
import { defaultConfigPath, parseConfig, prepareConfigFile, readConfig } from './config-file.ts'
import { temporaryFolder } from './testing/test-agent.ts'

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
      database: {
        host: '127.0.0.1',
        port: 3306,
        socket: null,
        user: 'reader',
        password: '',
        name: 'opendental',
        tls: null,
      },
    },
    timeZone: null,
    sendNotes: true,
    intervalSeconds: 60,
    proxy: null,
    caFile: null,
    uploadLinesMax: 5000,
    statePath: '/etc/bridgework-agent/state.sqlite',
    statusPort: null,
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
  assert.throws(() => parseConfig('{', '/c'), /\/c is not valid JSON\./)
  for (const [document, expected] of [
    [[], /The settings file c is not valid:\n {2}The file must contain one JSON object\./],
    [{ ...good, database: 'opendental' }, /The settings file c is not valid:\n {2}database must be an object\./],
    [{ ...good, connector: 'files' }, /database does not belong to connector "files"\. Remove it\./],
    [{ ...good, files: {} }, /files does not belong to connector "open-dental"\. Remove it\./],
    [{ ...good, connector: 'dentrix' }, /connector must be "open-dental", "files" or "sql"\./],
  ] as const) {
    assert.throws(() => parseConfig(JSON.stringify(document), 'c'), expected)
  }
})

test('TLS to the database is off, required or verified, and what cannot work together is refused', (t) => {
  const parsed = (more: object) => {
    const { source } = parseConfig(JSON.stringify({ ...good, database: { ...good.database, ...more } }), 'c')
    return source.connector === 'open-dental' ? source.database.tls : undefined
  }
  const host = 'db.example'
  assert.equal(parsed({ tls: 'off' }), null)
  assert.deepEqual(parsed({ tls: 'required' }), { mode: 'required' })
  assert.deepEqual(parsed({ tls: 'verified', host }), { mode: 'verified', caFile: null })
  const verified = { tls: 'verified', tls_ca_file: '/etc/ca.pem', host }
  assert.deepEqual(parsed(verified), { mode: 'verified', caFile: '/etc/ca.pem' })
  for (const [more, expected] of [
    [{ tls: 'on' }, /database\.tls must be "off", "required" or "verified"/],
    [{ tls: 'verified', host: '192.0.2.7' }, /database\.host must be a name, as in the certificate/],
    [{ tls: 'required', socket: '/run/s' }, /database\.tls cannot be used with database\.socket/],
    [{ tls: 'required', tls_ca_file: '/etc/ca.pem' }, /database\.tls_ca_file needs database\.tls "verified"/],
  ] as const) {
    assert.throws(() => parsed(more), expected)
  }
  // What enrol writes reads as it was.
  const path = join(temporaryFolder(t), 'config.json')
  const config = parseConfig(JSON.stringify({ ...good, database: { ...good.database, ...verified } }), path)
  prepareConfigFile(path).write(config)
  assert.deepEqual(readConfig(path), config)
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
  assert.throws(
    () => prepareConfigFile(join(file, 'config.json')),
    /The settings file .* cannot be written \(EEXIST\)\. Choose another path with --config\.$/,
  )
  assert.ok(existsSync(file))
  assert.throws(() => readConfig(join(file, 'config.json')), /The settings file .* cannot be read \(ENOTDIR\)\.$/)
})

test('the settings lie in /etc for root, in the home directory for others, and in ProgramData on Windows', () => {
  assert.equal(
    defaultConfigPath({ isRoot: true, home: '/root', programData: null }),
    '/etc/bridgework-agent/config.json',
  )
  assert.equal(
    defaultConfigPath({ isRoot: false, home: '/home/ann', programData: null }),
    '/home/ann/.config/bridgework-agent/config.json',
  )
  assert.equal(
    defaultConfigPath({ isRoot: false, home: 'C:\\Users\\ann', programData: 'C:\\ProgramData' }),
    'C:\\ProgramData\\Bridgework\\Agent\\config.json',
  )
})
