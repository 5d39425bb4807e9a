import assert from 'node:assert/strict'
import { type ProblemCode, problems, vendorApiPath } from '@bridgework/contract'
import type { Answer, TestWorld } from '../../../testing/test-world.ts'

/** The one error shape, with the headers that belong to its status, and nothing of our inside. */
export function assertProblem(answer: Answer, code: ProblemCode, errors?: RegExp): void {
  const { headers, body } = answer
  const { status } = problems[code]
  assert.equal(answer.status, status, answer.text)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('set-cookie'), null)
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  assert.equal(typeof body.errors, 'string')
  if (errors) assert.match(body.errors, errors)
  if (code === 'sync_slots_exceeded') {
    const members = ['errors', 'sync_type', 'max_concurrent_locations', 'active_location_ids', 'retry_after_seconds']
    assert.deepEqual(Object.keys(body), members, 'exactly the specification’s members')
  } else {
    assert.equal(body.code, code, answer.text)
    assert.equal(body.request_id, headers.get('x-request-id'))
    const more = status === 429 ? ['retry_after_seconds'] : []
    assert.deepEqual(Object.keys(body), ['errors', 'code', 'request_id', ...more])
  }
  assert.equal(headers.get('www-authenticate') !== null, status === 401)
  assert.equal(headers.get('retry-after') !== null, status === 429 || status === 503)
  assert.doesNotMatch(answer.text, /node_modules|\.ts\b|select |postgres|dataset_grant|bw[sae]_[\w-]{43}/i)
}

/** POST /auth/token; `from` is the caller's address where the world trusts 127.0.0.1 as a proxy. */
export function postToken(
  world: TestWorld,
  body: unknown,
  options: { from?: string; on?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return world.request(`${vendorApiPath}/auth/token`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(options.from === undefined ? {} : { 'x-forwarded-for': options.from }),
      ...options.headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(options.on === undefined ? {} : { on: options.on }),
  })
}

/** A path below /api/v1/vendors with any Authorization header, or none. */
export function getWith(world: TestWorld, path: string, authorization: string | undefined): Promise<Answer> {
  return world.request(`${vendorApiPath}${path}`, {
    headers: authorization === undefined ? {} : { authorization },
  })
}

/** Resolves when the condition holds; fails after `withinMs`. */
export async function eventually(condition: () => Promise<boolean>, withinMs: number, what: string): Promise<void> {
  const began = performance.now()
  while (!(await condition())) {
    assert.ok(performance.now() - began < withinMs, `${what} within ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
