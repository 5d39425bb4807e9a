import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { freePort } from '../../../server/src/testing/test-port.ts'
import { testPractice } from '../open-dental/testing/test-practice.ts'
import { temporaryFolder, writeTestConfig } from '../testing/test-agent.ts'
import { startTestService } from '../testing/test-service.ts'
import type { AgentStatus } from './status.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

test('a running agent shows its status at the port of its settings, and ends when its input ends', async (t) => {
  const practice = await testPractice(await startTestMariaDb({ after }))
  const server = await startTestService(t)
  const port = await freePort()
  const config = writeTestConfig(temporaryFolder(t), server, practice.settings, { status_port: port })
  const args = [main, 'run', '--until-input-ends', '--config', config]
  const agent = spawn(process.execPath, args, { env: { PATH: '/usr/bin:/bin' }, stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => agent.kill('SIGKILL'))
  let log = ''
  await new Promise<void>((resolve) => {
    agent.stdout.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (log.includes('Cycle finished')) resolve()
    })
  })
  const answer = await fetch(`http://127.0.0.1:${port}/status.json`)
  const status = (await answer.json()) as AgentStatus
  assert.equal(status.state, 'up_to_date')
  assert.equal(status.server, server.url)
  assert.ok(Number(status.lastCycle?.records) > 3 && Number(status.lastUpload?.records) > 0)
  assert.equal(status.lastError, null)

  agent.stdin.end()
  assert.deepEqual(await once(agent, 'exit'), [0, null])
})
