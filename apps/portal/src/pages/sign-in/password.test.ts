import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordAdvice } from './password.ts'

test('a new password that is too short says how many characters are missing', () => {
  assert.equal(passwordAdvice(''), '15 more characters')
  assert.equal(passwordAdvice('x'.repeat(14)), '1 more character')
  assert.equal(passwordAdvice('🦷'.repeat(14)), '1 more character')
  assert.equal(passwordAdvice('x'.repeat(15)), null)
})
