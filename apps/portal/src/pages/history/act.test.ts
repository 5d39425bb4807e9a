import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actInWords } from './act.ts'

test('an act of the history is shown in words', () => {
  assert.equal(actInWords('key_pair.generate'), 'Generated a key pair')
  for (const action of ['member.manage', 'company_member.manage', 'organization_member.manage']) {
    assert.equal(actInWords(action), 'Changed members')
  }
  assert.equal(actInWords('company_ownership.transfer'), 'Transferred ownership')
})

test('an act that the page has no words for is shown by its name', () => {
  assert.equal(actInWords('removal.confirm'), 'Removal confirm')
  assert.equal(actInWords('account.password_change'), 'Password change')
  assert.equal(actInWords('operator.company_move'), 'Company move')
  assert.equal(actInWords('operator.company_suspend'), 'Suspended or resumed the company')
})
