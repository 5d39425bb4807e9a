import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secondFactorOwed } from './second-factor.ts'

const since = new Date('2026-11-25T12:00:00Z')
const [earlier, later] = [new Date(since.getTime() - 1), new Date(since.getTime() + 1)]

test('W26: what a person owes a tenant that asks for a second factor, by what the account has, what the sign-in proved, and when it was', () => {
  // Who began the sign-in · whether the account has a factor · whether one was proved · what is owed of a sign-in before the rule, and of one since.
  const cases = [
    ['the person', false, false, 'next_sign_in', 'set_up'],
    // They removed the last two factors in two tabs at once.
    ['the person', false, true, 'next_sign_in', 'set_up'],
    ['the person', true, false, null, 'sign_in'],
    ['the person', true, true, null, null],
    // Nothing can be set up in a session that a provider began.
    ['a provider', false, false, null, 'sign_in'],
    ['a provider', false, true, null, null],
    ['a provider', true, false, null, 'sign_in'],
    ['a provider', true, true, null, null],
  ] as const
  for (const [by, hasOne, gaveSecondFactor, before, after] of cases) {
    const person = { gaveSecondFactor, identityProviderId: by === 'a provider' ? 'p' : null }
    const owed = (signedInAt: Date, rule: Date | null = since) =>
      secondFactorOwed(rule, { ...person, signedInAt }, hasOne)
    const named = `${by}, has one: ${hasOne}, gave one: ${gaveSecondFactor}`
    assert.deepEqual([owed(earlier), owed(since), owed(later)], [before, after, after], named)
    assert.deepEqual([owed(earlier, null), owed(later, null)], [null, null], named)
  }
})
