import { backoffMs } from './backoff.ts'
import type { AgentDeps } from './pipeline/context.ts'
import { type CycleOutcome, type Heard, runCycle } from './pipeline/cycle.ts'

/** How much earlier or later than the interval a cycle may begin, as a share, so that offices spread out. */
const jitterShare = 0.1

/** A launcher that has not stopped this version by then does not: it goes on. */
const launcherWaitMs = 2 * 60_000

/** A refused key may have been a mistake of a person, who takes it back: it is tried again this often. */
const refusedKeyMs = 60 * 60_000

/**
 * Runs cycle after cycle until the signal says to stop. After a failure it waits longer and longer, and at least as long as the server asked for;
 * after a refusal of the key, an hour.
 */
export async function runAgent(
  deps: AgentDeps,
  options: { intervalMs: number; fully?: boolean },
): Promise<CycleOutcome> {
  let failures = 0
  let fully = options.fully === true
  const heard: Heard = { contact: null }
  for (;;) {
    const outcome = await runCycle(deps, { fully, heard })
    if (outcome.result === 'stopped') return outcome
    if (outcome.result === 'complete') fully = false
    // Between two cycles no upload is on its way, and none begins while the launcher looks for the new version and stops this one.
    if (await deps.selfUpdate?.take()) await deps.sleep(launcherWaitMs, deps.signal)
    if (deps.signal.aborted) return { result: 'stopped' }
    failures = outcome.result === 'failed' ? failures + 1 : 0
    const pause = options.intervalMs * (1 - jitterShare + 2 * jitterShare * deps.random())
    if (outcome.result === 'key_refused') await deps.sleep(Math.max(pause, refusedKeyMs), deps.signal)
    else if (outcome.result === 'failed')
      await deps.sleep(pause + backoffMs(failures, outcome.retryAfterMs, deps.random), deps.signal)
    else await waitOrChange(deps, pause)
    if (deps.signal.aborted) return { result: 'stopped' }
  }
}

/** Until the time is up, the source changed or the agent is to stop. */
async function waitOrChange({ sleep, connector, signal }: AgentDeps, waitMs: number): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const waits = [sleep(waitMs, either), ...(connector.untilChanged ? [connector.untilChanged(either)] : [])]
  await Promise.race(waits)
  over.abort()
  await Promise.all(waits)
}
