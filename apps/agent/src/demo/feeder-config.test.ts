import assert from 'node:assert/strict'
import test from 'node:test'
import { readFeederConfig } from './feeder-config.ts'

const good = {
  BRIDGEWORK_FEEDER_SERVER_URL: 'http://127.0.0.1:8080',
  BRIDGEWORK_FEEDER_AGENT_KEY: `bwa_${'k'.repeat(43)}`,
  BRIDGEWORK_FEEDER_AGENT_ID: '5',
  BRIDGEWORK_FEEDER_ORGANIZATION_ID: '7',
  BRIDGEWORK_FEEDER_STATE_DIR: '/tmp/state',
}

test('interval and seed have defaults', () => {
  assert.deepEqual(readFeederConfig(good), {
    serverUrl: 'http://127.0.0.1:8080',
    stateDir: '/tmp/state',
    intervalMs: 3000,
    first: { agentKey: `bwa_${'k'.repeat(43)}`, agentId: '5', organizationId: '7', seed: 'bridgework' },
  })
  const { BRIDGEWORK_FEEDER_SERVER_URL, BRIDGEWORK_FEEDER_STATE_DIR } = good
  assert.equal(readFeederConfig({ BRIDGEWORK_FEEDER_SERVER_URL, BRIDGEWORK_FEEDER_STATE_DIR }).first, null)
})

test('everything that is wrong is said at once, and no value with it', () => {
  const env = {
    ...good,
    BRIDGEWORK_FEEDER_AGENT_KEY: 'secret',
    BRIDGEWORK_FEEDER_AGENT_ID: undefined,
    BRIDGEWORK_FEEDER_INTERVAL_MS: '-1',
  }
  assert.throws(() => readFeederConfig(env), {
    message:
      'BRIDGEWORK_FEEDER_AGENT_KEY must be an agent key: bwa_ and 43 characters.\n' +
      'BRIDGEWORK_FEEDER_AGENT_ID is missing.\n' +
      'BRIDGEWORK_FEEDER_INTERVAL_MS must be a whole number of milliseconds, at least 10.',
  })
})

test('the key is sent in clear text to this machine only', () => {
  for (const url of [
    'http://example.com',
    'http://127.0.0.1.example.com',
    'ftp://localhost',
    'http://127.example.com',
    'http://localhost/path',
    'http://10.0.0.8:8080',
    'https://user@example.com',
  ]) {
    const read = () => readFeederConfig({ ...good, BRIDGEWORK_FEEDER_SERVER_URL: url }, ['10.0.0.7', 'fd00::7'])
    assert.throws(read, /SERVER_URL must be/, url)
  }
  for (const url of [
    'https://example.com',
    'http://[::1]:8080',
    'http://127.0.0.2',
    'http://10.0.0.7',
    'http://[fd00::7]:1',
  ]) {
    const read = readFeederConfig({ ...good, BRIDGEWORK_FEEDER_SERVER_URL: url }, ['10.0.0.7', 'fd00::7'])
    assert.equal(read.serverUrl, url)
  }
})
