import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../testing/test-agent.ts'
import { checkState } from './check-state.ts'

test('check says whether the state can be written and how much room its disk has', (t) => {
  const path = join(temporaryFolder(t), 'state.sqlite')
  const said = (...given: Parameters<typeof checkState>) =>
    checkState(...given).map(({ outcome, what, todo }) => `${outcome}: ${what} ${todo}`)
  assert.match(said(path, 0)[0] ?? '', /^good: The state can be written \([\d,]+ MB free on its disk\)\./)
  assert.match(
    said(path, Number.MAX_SAFE_INTEGER)[0] ?? '',
    /^wrong: The disk of .* has only [\d,]+ MB left\. Make room on it, or set another path in state_path: when it is full, nothing can be sent\./,
  )
  assert.match(said(join(path, 'a', 'b', 'state.sqlite'), 0)[0] ?? '', /^good/, 'the agent makes folders')
  // Not even root writes there.
  assert.match(said('/proc/version')[0] ?? '', /^wrong: .* (cannot be written|cannot be opened|MB left)/)
})
