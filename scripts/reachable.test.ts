import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { problems } from '../packages/contract/src/problems.ts'

const server = join(import.meta.dirname, '../apps/server/src')

// These list codes and events without causing one.
const lists = [
  'apis/vendor-api/openapi/schemas.ts',
  'apis/vendor-api/openapi/examples.ts',
  'platform/log/log-event.ts',
  'platform/log/log.ts',
]

const sources = globSync('**/*.ts', { cwd: server })
  .filter((file) => !/(^|\/)test-|\.test\.ts$/.test(file) && !lists.includes(file))
  .map((file) => readFileSync(join(server, file), 'utf8'))

function isNamed(text: string): boolean {
  return sources.some((source) => source.includes(text))
}

test('the service can answer with every code of the table', () => {
  assert.ok(sources.length > 200)
  assert.deepEqual(
    Object.keys(problems).filter((code) => !isNamed(`'${code}'`)),
    [],
  )
})

test('the service can log every event of the list', () => {
  const list = readFileSync(join(server, 'platform/log/log-event.ts'), 'utf8')
  const events = [...list.matchAll(/'([a-z]+\.[a-z_]+)'/g)].map(([, event = '']) => event)
  assert.ok(events.length > 15)
  assert.deepEqual(
    events.filter((event) => !isNamed(`'${event}'`)),
    [],
  )
})
