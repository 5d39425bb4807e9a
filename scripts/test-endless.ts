// A test file that does not end, with what tests start: a database and a process in a group of its own. commands-end.test.ts runs and kills it.
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { startTestMariaDb } from '../packages/practice-simulator/src/open-dental/testing/test-mariadb.ts'

test('does not end', async (t) => {
  await startTestMariaDb(t)
  spawn('sleep', ['86400'], { cwd: '/', detached: true, env: {}, stdio: 'ignore' })
  await new Promise(() => setInterval(() => {}, 60_000))
})
