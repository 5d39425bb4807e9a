import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  type AgentEvent,
  type CycleOutcome,
  confirmRestore,
  enrolAgent,
  type IngestClient,
  IngestProblem,
  ingestClient,
  openDentalConnector,
  openState,
  runCycle,
  uploadLimits,
} from '@bridgework/agent'

import type { AgentId, OrganizationId } from '../../../platform/identity/identity.ts'

type Connector = ReturnType<typeof openDentalConnector>
type Settings = Parameters<typeof openDentalConnector>[0]
export type WalkIdentity = { serverUrl: string; agentId: AgentId; agentKey: string; organizationId: OrganizationId }

/**
 * What strikes an agent's cycle at its request of this number, before the request or after its effect. `other`: something else answers in the
 * service's place.
 */
export type Mishap = { at: number; strike: 'agent_before' | 'agent_after' | 'line' | 'service' | 'office' | 'other' }

export type WalkAgent = ReturnType<typeof startWalkAgent>

class Killed extends Error {}

/**
 * An office's agent in this process, with its memory in a folder, so that it can be killed at any request and its memory can be lost or
 * restored. `strikes` kill what is not its own; `statePath` is the memory that it begins with, and its first backup.
 */
export function startWalkAgent(options: {
  folder: string
  identity: WalkIdentity
  settings: Settings
  nowMs: () => number
  statePath?: string
  strikes: Record<'service' | 'office', () => Promise<void>>
  /** The address of what answers in the service's place. */
  otherUrl: string
}) {
  const statePath = join(options.folder, `${options.identity.agentId}.sqlite`)
  const files = [statePath, `${statePath}-source.json`]
  if (options.statePath !== undefined) {
    for (const ending of ['', '-source.json']) {
      copyFileSync(`${options.statePath}${ending}`, `${statePath}${ending}`)
      copyFileSync(`${options.statePath}${ending}`, `${statePath}${ending}.backup`)
    }
  }
  const connector: Connector = openDentalConnector(options.settings, 'America/Chicago')
  let identity = options.identity
  let state = openState(statePath, identity, options.nowMs)
  const events: AgentEvent[] = []

  function whileStopped(work: () => void): void {
    state.close()
    work()
    state = openState(statePath, identity, options.nowMs)
  }

  return {
    events,
    statePath,
    id: () => identity.agentId,
    close: () => state.close(),

    cycle: async ({
      mishap = null,
      fully = false,
    }: {
      mishap?: Mishap | null
      fully?: boolean
    } = {}): Promise<CycleOutcome['result'] | 'killed'> => {
      const client = ingestClient({ ...identity, timeoutMs: 20_000 })
      try {
        const deps = {
          connector,
          client:
            mishap === null
              ? client
              : struck(
                  client,
                  mishap,
                  options.strikes,
                  ingestClient({ ...identity, serverUrl: options.otherUrl, timeoutMs: 20_000 }),
                ),
          state,
          limits: { ...uploadLimits, linesMax: 100 },
          sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.min(ms, 20))),
          random: () => 0.5,
          nowMs: options.nowMs,
          report: (event: AgentEvent) => void events.push(event),
          signal: new AbortController().signal,
        }
        return (await runCycle(deps, { fully })).result
      } catch (error) {
        if (!(error instanceof Killed)) throw error
        whileStopped(() => {})
        return 'killed'
      }
    },

    /** As `enroll --replace`: on the same computer, with the state of before. */
    enrolAgain: async (code: string): Promise<void> => {
      const enrolled = await enrolAgent(identity, { code, name: 'Again', version: '0', replacedKey: identity.agentKey })
      whileStopped(() => {
        const { agentKey } = enrolled
        identity = { ...identity, agentKey, agentId: enrolled.agentId as AgentId }
      })
    },

    confirmRestore: () => confirmRestore({ connector, memory: state.source, print: () => {} }),

    backUpState: () =>
      whileStopped(() => {
        for (const file of files) if (existsSync(file)) copyFileSync(file, `${file}.backup`)
      }),

    restoreState: () =>
      whileStopped(() => {
        for (const file of files) if (existsSync(`${file}.backup`)) copyFileSync(`${file}.backup`, file)
      }),

    /** Its state as a copied folder has it. */
    copyStateTo: (target: string) =>
      whileStopped(() => {
        for (const file of files) if (existsSync(file)) copyFileSync(file, join(target, basename(file)))
      }),

    identity: () => identity,

    /** Cuts, empties or overwrites its state, as a crash of the computer or its disk does. */
    damageState: (n: number) =>
      whileStopped(() => {
        const file = files[n % files.length] ?? statePath
        if (!existsSync(file)) return
        const content = readFileSync(file)
        const half = Math.floor(content.length / 2)
        const damaged = [
          content.subarray(0, half),
          Buffer.alloc(content.length),
          Buffer.alloc(0),
          content.fill(0x5a, half),
        ]
        writeFileSync(file, damaged[Math.floor(n / files.length) % damaged.length] ?? content)
      }),

    loseState: () =>
      whileStopped(() => {
        for (const file of files) rmSync(file, { force: true })
      }),
  }
}

function struck(
  client: IngestClient,
  { at, strike }: Mishap,
  strikes: Record<'service' | 'office', () => Promise<void>>,
  other: IngestClient,
): IngestClient {
  let requests = 0
  return new Proxy(client, {
    get: (target, name: keyof IngestClient) => {
      const send = target[name] as (...args: unknown[]) => Promise<unknown>
      return async (...args: unknown[]) => {
        requests += 1
        if (requests !== at) return send(...args)
        if (strike === 'agent_before') throw new Killed()
        if (strike === 'other') return await (other[name] as typeof send)(...args)
        const answer = send(...args)
        if (strike === 'service' || strike === 'office') {
          await Promise.all([strikes[strike](), answer.catch(() => {})])
          return answer
        }
        await answer
        throw strike === 'line' ? new IngestProblem('unreachable', 'The line was cut.') : new Killed()
      }
    },
  })
}
