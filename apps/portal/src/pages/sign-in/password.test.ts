import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordAdvice } from './password.ts'

test('whoever chooses a password is told how much is missing, counted in characters', () => {
  assert.equal(passwordAdvice(''), '15 more characters')
  assert.equal(passwordAdvice('x'.repeat(14)), '1 more character')
  assert.equal(passwordAdvice('🦷'.repeat(14)), '1 more character')
  assert.equal(passwordAdvice('x'.repeat(15)), null)
})
