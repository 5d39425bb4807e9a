import assert from 'node:assert/strict'
import { test } from 'node:test'
import { menuFor } from './menu.ts'

test('a company’s menu has the sandbox in a sandbox and not in production, and never for support', () => {
  const labels = (role: 'owner' | 'member' | 'support', isSandbox: boolean) =>
    menuFor({ side: 'company', role }, isSandbox).flatMap(({ items }) => items.map(({ label }) => label))
  for (const role of ['owner', 'member'] as const) {
    assert.ok(labels(role, true).includes('Sandbox'), role)
    assert.deepEqual(
      labels(role, false),
      labels(role, true).filter((label) => label !== 'Sandbox'),
    )
  }
  assert.ok(labels('support', true).includes('Usage') && !labels('support', true).includes('Sandbox'))
})
