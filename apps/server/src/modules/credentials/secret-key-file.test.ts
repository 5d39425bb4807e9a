import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForOthers } from './secret-key-file.ts'

test('a secret key is for its account alone, or mounted by Kubernetes for the group of the container', () => {
  const server = { uid: 10_001, gid: 10_001 }
  const mounted = { uid: 0, gid: 10_001 }
  assert.equal(isForOthers({ ...server, mode: 0o100600 }, server), false)
  assert.equal(isForOthers({ ...server, mode: 0o100640 }, server), true)
  assert.equal(isForOthers({ ...mounted, mode: 0o100440 }, server), false)
  assert.equal(isForOthers({ ...mounted, mode: 0o100444 }, server), true, 'readable by all')
  assert.equal(isForOthers({ ...mounted, mode: 0o100460 }, server), true, 'the group may write')
  assert.equal(isForOthers({ uid: 0, gid: 100, mode: 0o100440 }, server), true, 'another group')
  assert.equal(isForOthers({ uid: 0, gid: 0, mode: 0o100440 }, { uid: 0, gid: 0 }), true, 'root’s own')
})
