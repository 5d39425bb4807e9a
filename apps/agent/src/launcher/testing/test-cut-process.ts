// An update from 0.3.0 to 0.4.0 that kills itself at the given step: test-cut-process.ts <data folder> <step>, the signing key on its input.
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sealRelease } from '@bridgework/contract/signed-release'
import { openUpdates } from '../updates.ts'

const [, , folder = '', cut] = process.argv
const key = createPrivateKey(readFileSync(0))
let steps = 0
const updates = openUpdates(folder, createPublicKey(key), () => {
  steps += 1
  if (steps === Number(cut)) process.kill(process.pid, 'SIGKILL')
})
updates.install(sealRelease('0.4.0', Buffer.from('// 0.4.0\n'), key), '0.2.0')
updates.program('0.4.0')
updates.write({ ...updates.read(), current: '0.4.0', next: null })
updates.keep(['0.4.0'])
