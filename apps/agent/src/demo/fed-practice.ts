import { join } from 'node:path'
import {
  createPractice,
  livingPractice,
  openPracticeFile,
  type PracticeEvent,
  type PracticeEventName,
  type PracticeShape,
  wallTimeAt,
} from '@bridgework/practice-simulator'
import type { AgentEvent } from '../agent-event.ts'
import { sleep } from '../backoff.ts'
import { ingestClient } from '../ingest-client.ts'
import { type AgentDeps, uploadLimits } from '../pipeline/context.ts'
import { type CycleOutcome, type Heard, runCycle } from '../pipeline/cycle.ts'
import { openState } from '../state/state.ts'
import { applyAct, type FedAct } from './practice-acts.ts'
import { simulatedConnector } from './simulated-connector.ts'

/** A practice that is open: its rows are in memory, and its files are locked. */
export type FedPractice = {
  readonly locations: number
  readonly eventsSoFar: () => number
  /** Lets the next thing happen. On disk before it is sent: what the server knows has happened, also after a crash. */
  readonly moveOn: () => { eventNumber: number; name: PracticeEventName }
  /** Lets this happen. Returns how many rows it altered. */
  readonly apply: (act: FedAct) => number
  readonly cycle: (heard: Heard) => Promise<CycleOutcome>
  readonly close: () => void
}

/** Opens the practice in this folder; where there is none, it is made. */
export function openFedPractice(options: {
  folder: string
  shapeOf: (now: string) => PracticeShape
  identity: { serverUrl: string; agentId: string; organizationId: string; agentKey: string }
  report: (event: AgentEvent) => void
  random: () => number
  signal: AbortSignal
}): FedPractice {
  const { folder, identity, report, random, signal } = options
  // The demo lives at the pace of the real calendar: days pass for it as they do for the person who looks at it.
  const now = () => wallTimeAt(new Date(), 'America/Denver')
  const file = openPracticeFile(join(folder, 'practice.sqlite'), () => createPractice(options.shapeOf(now())))
  try {
    const state = openState(join(folder, 'agent.sqlite'), identity)
    const living = livingPractice(file.stored.practice, file.stored.eventsSoFar)
    const deps: AgentDeps = {
      connector: simulatedConnector(living),
      client: ingestClient(identity),
      state,
      limits: uploadLimits,
      sleep,
      random,
      nowMs: Date.now,
      report,
      signal,
    }
    const keep = (event: PracticeEvent) => {
      file.keep(event, living.eventsSoFar())
      return { eventNumber: living.eventsSoFar(), name: event.name }
    }
    return {
      locations: living.practice.locations.size,
      eventsSoFar: living.eventsSoFar,
      moveOn: () => keep(living.moveOn(now())),
      apply(act) {
        const event = applyAct(living, act, join(folder, 'removed-plans.json'))
        keep(event)
        return event.changes.length
      },
      cycle: (heard) => runCycle(deps, { heard }),
      close() {
        state.close()
        file.close()
      },
    }
  } catch (error) {
    file.close()
    throw error
  }
}
