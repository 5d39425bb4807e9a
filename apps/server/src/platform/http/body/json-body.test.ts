import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import fastify from 'fastify'
import { Problem } from '../../errors/problem.ts'
import { acceptJsonBodies } from './json-body.ts'

async function someRoute(t: TestContext) {
  const app = fastify()
  t.after(() => app.close())
  acceptJsonBodies(app)
  app.setErrorHandler((error, _request, reply) =>
    reply.code(422).send(error instanceof Problem ? error.errors : String(error)),
  )
  app.post('/', async ({ body }) => ({ taken: body }))
  return async (payload: string) => {
    const headers = { 'content-type': 'application/json' }
    return (await app.inject({ method: 'POST', url: '/', headers, payload })).body
  }
}

test('a body in which an object has a member twice is refused, at any depth and in any spelling', async (t) => {
  const post = await someRoute(t)
  const twice = (name: string) => `${name} of the body is there twice. Send it once.`
  for (const [payload, errors] of [
    ['{"client_id":"a","client_id":"b"}', twice('The member client_id')],
    ['{"client_id":"a","client_id":"a"}', twice('The member client_id')],
    ['{"client_id":"a","x":{},"client\\u005fid":"b"}', twice('The member client_id')],
    ['{"a":[{"b":1},{"b":1,"c":"}","b":[]}]}', twice('The member b')],
    ['{"Olga Miller":1,"Olga Miller":2}', twice('A member')],
    ['{"":1,"":2}', twice('A member')],
  ] as const)
    assert.equal(await post(payload), errors, payload)
  for (const body of [
    { a: { a: { a: 1 } }, b: { a: 1 }, c: [{ a: 1 }, { a: 1 }] },
    ['a', 'a', { a: 'a' }, 'a'],
    { a: '","a":1', '"a': 1, '\\"a': 2, toString: 1, valueOf: 2 },
    { a: [], b: {}, c: [[]], d: 'b' },
  ])
    assert.deepEqual(JSON.parse(await post(JSON.stringify(body))), { taken: body })
})

test('of random values none is refused, and each is once a member of it is repeated', async (t) => {
  const post = await someRoute(t)
  const value = fc.object({ maxDepth: 3, key: fc.string({ unit: fc.constantFrom(...'ab"\\{}[],:é') }) })
  await fc.assert(
    fc.asyncProperty(value, fc.string(), async (object, name) => {
      const whole = { ...object, [`n${name.replaceAll('\0', '')}`]: 1 }
      const text = JSON.stringify(whole)
      assert.doesNotMatch(await post(text), /there twice/, text)
      const repeated = `${text.slice(0, -1)},${JSON.stringify(Object.keys(JSON.parse(text))[0])}:0}`
      assert.match(await post(repeated), /there twice/, repeated)
    }),
    { numRuns: 200 },
  )
})

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
