import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { feederExitCodes } from '@bridgework/agent/demo-feeder-exit-codes'
import type { AddedPractice, FeederOrder, PracticeAct } from '@bridgework/agent/demo-feeder-order'
import { Problem } from '../platform/errors/problem.ts'
import type { Log } from '../platform/log/log-event.ts'
import type { Demo } from './demo.ts'

export type Feeder = {
  /** Resolves when the practice's first complete upload has arrived. */
  synced: Promise<void>
  /** Feeds this practice too. Resolves when its first complete upload has arrived; rejects when `signal` fires. */
  add: (practice: AddedPractice, signal: AbortSignal) => Promise<void>
  /** Whether the practice is fed: it was added, and its agent's key was not refused since. */
  isFed: (organizationId: string) => boolean
  /** Forgets the practice and what is on disk of it. */
  remove: (organizationId: string) => void
  /** Lets this happen at an added practice; resolves when the server has it, with the number of rows that were altered. Throws Problem `sandbox_busy`. */
  act: (organizationId: string, act: PracticeAct) => Promise<number>
  /** The process that feeds now. */
  pid: () => number
  stop: () => Promise<void>
}

const restartAfterMs = 2000

/**
 * Keeps the demo practice, and those that are added, alive in one process of their own, which speaks to the server over HTTP as an office agent does,
 * and ends with this one. One that dies is started again; one whose key is refused is not.
 */
export function startFeeder(options: {
  /** The practice of which `synced` speaks; null: all are added later. */
  demo: Pick<Demo, 'agentId' | 'agentKey' | 'organizationId'> | null
  serverUrl: string
  stateDir: string
  log: Log
  /** Another practice, or another pace, than the sandbox's. */
  settings?: { BRIDGEWORK_FEEDER_SEED?: string; BRIDGEWORK_FEEDER_INTERVAL_MS: string }
}): Feeder {
  const { demo, log } = options
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>()
  let isStopped = false
  let restart: NodeJS.Timeout | undefined
  const added = new Map<string, { practice: AddedPractice; synced: PromiseWithResolvers<void> }>()
  const acts = new Map<number, PromiseWithResolvers<number>>()
  let lastAct = 0
  let child = start()

  function order(what: FeederOrder): void {
    if (child.stdin.writable) child.stdin.write(`${JSON.stringify(what)}\n`)
  }

  function hear(line: string): void {
    // Our own program wrote it; a line of anything else is only logged.
    if (!line.startsWith('{"event":')) return
    const said: { event: string; organizationId?: string; id?: number; rows?: number } = JSON.parse(line)
    if (said.event === 'synced') onSynced()
    const { organizationId = '', id = 0, rows = 0 } = said
    if (said.event === 'added.synced') added.get(organizationId)?.synced.resolve()
    if (said.event === 'added.key_refused') added.delete(organizationId)
    if (said.event === 'act.done') acts.get(id)?.resolve(rows)
    if (said.event === 'act.refused') acts.get(id)?.reject(new Problem('sandbox_busy'))
  }

  function start() {
    const started = spawn(process.execPath, [feederMain], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // A group of its own: Ctrl-C in a terminal ends the server first, and the server ends the feeder.
      detached: true,
      env: {
        BRIDGEWORK_FEEDER_SERVER_URL: options.serverUrl,
        ...(demo && {
          BRIDGEWORK_FEEDER_AGENT_KEY: demo.agentKey,
          BRIDGEWORK_FEEDER_AGENT_ID: demo.agentId,
          BRIDGEWORK_FEEDER_ORGANIZATION_ID: demo.organizationId,
        }),
        BRIDGEWORK_FEEDER_STATE_DIR: options.stateDir,
        ...options.settings,
      },
    })
    createInterface({ input: started.stdout }).on('line', (line) => {
      hear(line)
      log({ event: 'sandbox.feeder', text: line.slice(0, 500) })
    })
    // A feeder that has ended takes no order; its end says so.
    started.stdin.on('error', () => {})
    for (const { practice } of added.values()) started.stdin.write(`${JSON.stringify({ order: 'add', practice })}\n`)
    started.on('exit', (code) => {
      for (const waiting of acts.values()) waiting.reject(new Problem('sandbox_busy'))
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
    async add(practice, signal) {
      const synced = Promise.withResolvers<void>()
      added.set(practice.organizationId, { practice, synced })
      order({ order: 'add', practice })
      await orAborted(synced.promise, signal)
    },
    isFed: (organizationId) => added.has(organizationId),
    remove(organizationId) {
      added.delete(organizationId)
      order({ order: 'remove', organizationId })
    },
    async act(organizationId, act) {
      const done = Promise.withResolvers<number>()
      const id = ++lastAct
      acts.set(id, done)
      order({ order: 'act', id, organizationId, act })
      try {
        return await orAborted(done.promise, AbortSignal.timeout(actMaxMs))
      } catch (error) {
        throw error instanceof Problem ? error : new Problem('sandbox_busy', { cause: error })
      } finally {
        acts.delete(id)
      }
    },
    pid: () => child.pid ?? 0,
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

/** A cycle takes a second, and those of other practices come before it. */
const actMaxMs = 60_000

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
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
