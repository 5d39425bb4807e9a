import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { feederExitCodes } from '@bridgework/agent/demo-feeder-exit-codes'
import type { Log } from '../platform/log/log-event.ts'
import type { Demo } from './demo.ts'

export type Feeder = {
  /** Resolves when the practice's first complete upload has arrived. */
  synced: Promise<void>
  stop: () => Promise<void>
}

const restartAfterMs = 2000

/**
 * Keeps the demo practice alive in a process of its own, which speaks to the server over HTTP as an office agent does, and ends with this
 * one. One that dies is started again; one whose key is refused is not.
 */
export function startFeeder(options: {
  demo: Pick<Demo, 'agentId' | 'agentKey' | 'organizationId'>
  serverUrl: string
  stateDir: string
  log: Log
  /** Another practice, or another pace, than the sandbox's. */
  settings?: { BRIDGEWORK_FEEDER_SEED: string; BRIDGEWORK_FEEDER_INTERVAL_MS: string }
}): Feeder {
  const { demo, log } = options
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>()
  let isStopped = false
  let restart: NodeJS.Timeout | undefined
  let child = start()

  function start() {
    const started = spawn(process.execPath, [feederMain], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // A group of its own: Ctrl-C in a terminal ends the server first, and the server ends the feeder.
      detached: true,
      env: {
        BRIDGEWORK_FEEDER_SERVER_URL: options.serverUrl,
        BRIDGEWORK_FEEDER_AGENT_KEY: demo.agentKey,
        BRIDGEWORK_FEEDER_AGENT_ID: demo.agentId,
        BRIDGEWORK_FEEDER_ORGANIZATION_ID: demo.organizationId,
        BRIDGEWORK_FEEDER_STATE_DIR: options.stateDir,
        ...options.settings,
      },
    })
    createInterface({ input: started.stdout }).on('line', (line) => {
      if (line.startsWith('{"event":"synced"')) onSynced()
      log({ event: 'sandbox.feeder', text: line.slice(0, 500) })
    })
    started.on('exit', (code) => {
      if (isStopped) return
      const text = lasting(code)
      if (text !== null) return log({ event: 'server.warning', text })
      log({ event: 'task.failed', task: 'sandbox feeder', error: 'exited; it is restarted' })
      restart = setTimeout(() => {
        child = start()
      }, restartAfterMs)
    })
    return started
  }

  return {
    synced,
    async stop() {
      isStopped = true
      clearTimeout(restart)
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const kill = setTimeout(() => child.kill('SIGKILL'), 5000)
      await exited
      clearTimeout(kill)
    },
  }
}

/** The warning for an exit that a restart cannot repair; null for any other. */
function lasting(code: number | null): string | null {
  if (code === feederExitCodes.keyRefused) {
    return 'The demo practice no longer changes, because its agent key was revoked. Restart the server to enroll its agent again.'
  }
  return code === feederExitCodes.settings
    ? 'The demo practice does not change, because the settings of its feeder are invalid.'
    : null
}

const feederMain = fileURLToPath(import.meta.resolve('@bridgework/agent/demo-feeder'))
