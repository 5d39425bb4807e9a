import { join } from 'node:path'
import {
  createPractice,
  demoShape,
  type LivingPractice,
  livingPractice,
  openPracticeFile,
  type PracticeEventName,
  type PracticeFile,
  wallTimeAt,
} from '@bridgework/practice-simulator'
import type { AgentEvent } from '../agent-event.ts'
import { sleep } from '../backoff.ts'
import { ingestClient } from '../ingest-client.ts'
import { type AgentDeps, uploadLimits } from '../pipeline/context.ts'
import { type Heard, runCycle } from '../pipeline/cycle.ts'
import { openState } from '../state/state.ts'

import type { FeederConfig } from './feeder-config.ts'

import { simulatedConnector } from './simulated-connector.ts'

/** Everything that the feeder says, one line of JSON each. `synced` comes once: from then on the server has the whole practice. */
export type FeederEvent =
  | { event: 'practice.opened'; locations: number; eventsSoFar: number }
  | { event: 'synced'; locations: number }
  | { event: 'practice.changed'; eventNumber: number; name: PracticeEventName }
  | { event: 'feeder.stopped' }
  | Extract<AgentEvent, { event: (typeof agentEvents)[number] }>

/** What of the agent's own events is worth a line here; the rest repeats every few seconds. */
const agentEvents = [
  'cycle.failed',
  'upload.retried',
  'upload.resumed',
  'state.behind',
  'location.written_by_other',
  'location.skipped',
  'removal.held',
  'record.refused',
] as const satisfies readonly AgentEvent['event'][]

const pauseMaxMs = 30_000
/** Enough that something of every dataset changes within a few pauses. */
const eventsPerCycle = 3

/**
 * Feeds a server with a demo practice through the agent's own pipeline, a change at a time, until the signal says to stop or
 * the server refuses the key. It may be killed at any line: the practice and the agent's memory are on disk.
 */
export async function runFeeder(
  config: FeederConfig,
  {
    print,
    signal,
    random = Math.random,
  }: { print: (event: FeederEvent) => void; signal: AbortSignal; random?: () => number },
): Promise<'stopped' | 'key_refused'> {
  // The demo lives at the pace of the real calendar: days pass for it as they do for the person who looks at it.
  const now = () => wallTimeAt(new Date(), 'America/Denver')
  const file = openPracticeFile(join(config.stateDir, 'practice.sqlite'), () =>
    createPractice(demoShape(config.seed, now())),
  )
  const state = openState(join(config.stateDir, 'agent.sqlite'), config)
  try {
    const living = livingPractice(file.stored.practice, file.stored.eventsSoFar)
    const locations = living.practice.locations.size
    print({ event: 'practice.opened', locations, eventsSoFar: living.eventsSoFar() })
    const report = (event: AgentEvent) => {
      if (isPrinted(event)) print(event)
    }
    const connector = simulatedConnector(living)
    const client = ingestClient(config)
    const deps: AgentDeps = {
      connector,
      client,
      state,
      limits: uploadLimits,
      sleep,
      random,
      nowMs: Date.now,
      report,
      signal,
    }

    let isSynced = false
    let failures = 0
    const heard: Heard = { contact: null }
    while (!signal.aborted) {
      for (let n = 0; isSynced && failures === 0 && n < eventsPerCycle; n++) moveOn(living, file, now(), print)
      const outcome = await runCycle(deps, { heard })
      if (outcome.result === 'key_refused') return 'key_refused'
      if (outcome.result === 'stopped') break
      if (outcome.result === 'complete' && !isSynced) print({ event: 'synced', locations })
      isSynced ||= outcome.result === 'complete'
      failures = outcome.result === 'complete' ? 0 : failures + 1
      await sleep(
        pauseMs(config.intervalMs, failures, outcome.result === 'failed' ? outcome.retryAfterMs : null, random),
        signal,
      )
    }
    print({ event: 'feeder.stopped' })
    return 'stopped'
  } finally {
    state.close()
    file.close()
  }
}

/** On disk before it is sent: what the server knows has happened, also after a crash. */
function moveOn(living: LivingPractice, file: PracticeFile, until: string, print: (event: FeederEvent) => void): void {
  const event = living.moveOn(until)
  file.keep(event, living.eventsSoFar())
  print({ event: 'practice.changed', eventNumber: living.eventsSoFar(), name: event.name })
}

function isPrinted(event: AgentEvent): event is Extract<AgentEvent, { event: (typeof agentEvents)[number] }> {
  return agentEvents.some((name) => name === event.event)
}

/** Twice as long after each failure, up to half a minute and never less than the server asked for. */
function pauseMs(intervalMs: number, failures: number, askedMs: number | null, random: () => number): number {
  if (failures === 0) return intervalMs
  const growing = Math.min(pauseMaxMs, intervalMs * 2 ** failures)
  return Math.max(askedMs ?? 0, growing * (0.5 + random() / 2))
}
