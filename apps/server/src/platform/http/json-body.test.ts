import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { Problem } from '../errors/problem.ts'
import { acceptJsonBodies } from './json-body.ts'

test('a body of too many members or levels is refused before anything is built of it', async (t) => {
  const app = fastify()
  t.after(() => app.close())
  acceptJsonBodies(app)
  app.setErrorHandler((error, _request, reply) =>
    reply.code(422).send(error instanceof Problem ? error.errors : String(error)),
  )
  app.post('/', async () => 'taken')
  const post = async (payload: string) => {
    const headers = { 'content-type': 'application/json' }
    return (await app.inject({ method: 'POST', url: '/', headers, payload })).body
  }
  const levels = (count: number) => '['.repeat(count) + ']'.repeat(count)
  const members = (count: number) => `[${Array(count).fill('{}').join(',')}]`
  const refusal = 'The body has too many members or levels.'
  assert.deepEqual([await post(levels(32)), await post(levels(33))], ['taken', refusal])
  assert.deepEqual([await post(members(100_001)), await post(members(100_002))], ['taken', refusal])
  assert.equal(await post(JSON.stringify({ text: '[{,'.repeat(100_000) })), 'taken', 'signs within a text do not count')
})
