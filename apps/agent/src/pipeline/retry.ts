import type { Report } from '../agent-event.ts'
import { backoffMs, type Sleep } from '../backoff.ts'
import { IngestProblem, isWorthRetrying } from '../ingest-client.ts'

/** What is left of one cycle's patience: so many further tries, and no waiting past the deadline. */
export type RetryBudget = { attemptsLeft: number; deadlineMs: number }

export type RetryDeps = {
  readonly sleep: Sleep
  readonly random: () => number
  readonly nowMs: () => number
  readonly report: Report
  readonly signal: AbortSignal
}

/** Thrown when the agent was told to stop; whatever was under way is resumed at the next start. */
export class Stopped extends Error {}

/**
 * Sends until it succeeds, the problem is one that waiting does not mend, or the cycle's budget is used up: then the
 * problem is thrown, and with it how long the server asked to be left alone.
 */
export async function withRetries<T>(deps: RetryDeps, budget: RetryBudget, send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    if (deps.signal.aborted) throw new Stopped()
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof IngestProblem) || !isWorthRetrying(error)) throw error
      const waitMs = Math.ceil(backoffMs(attempt, error.retryAfterMs, deps.random))
      if (budget.attemptsLeft <= 0 || deps.nowMs() + waitMs > budget.deadlineMs) throw error
      budget.attemptsLeft -= 1
      deps.report({ event: 'upload.retried', because: error.kind, attempt, waitMs })
      await deps.sleep(waitMs, deps.signal)
    }
  }
}
