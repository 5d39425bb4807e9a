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
    agentKey: `bwa_${'k'.repeat(43)}`,
    agentId: '5',
    organizationId: '7',
    stateDir: '/tmp/state',
    intervalMs: 3000,
    seed: 'bridgework',
  })
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
    'http://localhost/path',
  ]) {
    assert.throws(() => readFeederConfig({ ...good, BRIDGEWORK_FEEDER_SERVER_URL: url }), /SERVER_URL must be/, url)
  }
})
