import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems } from '@bridgework/contract'
import { APIError } from 'better-auth/api'
import { Problem } from '../../../platform/errors/problem.ts'
import { inOurWords } from './auth-refusal.ts'

const failing = (error: unknown) => inOurWords('passkey_refused', () => Promise.reject(error))

test('what the sign-in library refuses has our words, and of its own none', async () => {
  const refusal = (code: string) => new APIError('FORBIDDEN', { code, message: 'their words' })
  for (const [theirs, code] of [
    ['SESSION_NOT_FRESH', 'fresh_sign_in_required'],
    ['SOMETHING_NEW', 'passkey_refused'],
    ['toString', 'passkey_refused'],
  ] as const) {
    await assert.rejects(failing(refusal(theirs)), (error) => {
      assert.ok(error instanceof Problem)
      assert.deepEqual([error.code, error.errors, error.because], [code, problems[code].errors, theirs])
      return true
    })
  }
})

test('what fails for another reason is no refusal', async () => {
  for (const error of [new Error('the database is gone'), new Problem('unavailable')])
    await assert.rejects(failing(error), (thrown) => thrown === error)
  assert.equal(await inOurWords('passkey_refused', async () => 'in'), 'in')
})
