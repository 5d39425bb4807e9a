import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { test } from 'node:test'
import { passwordHash } from './password-hash.ts'

test('passwords that many callers try at once are hashed two at a time', async (t) => {
  const hash = await passwordHash.hash('correct horse battery staple')
  const running = new Set<number>()
  let most = 0
  const hook = createHook({
    init: (id, type) => {
      if (type !== 'SCRYPTREQUEST') return
      running.add(id)
      most = Math.max(most, running.size)
    },
    before: (id) => running.delete(id),
  }).enable()
  t.after(() => hook.disable())
  const tries = ['correct horse battery staple', ...Array.from({ length: 5 }, (_, index) => `wrong password ${index}`)]
  const answers = await Promise.all(tries.map((password) => passwordHash.verify({ hash, password })))
  assert.deepEqual(answers, [true, false, false, false, false, false])
  assert.equal(most, 2)
})
