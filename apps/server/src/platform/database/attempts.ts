/** How work that failed waits before its next attempt: `first`, then twice as long each time, at most `longest`. Intervals of PostgreSQL. */
export type Pauses = { first: string; longest: string }

/** SQL for `next_attempt_at` of a row that is attempted now: from its `attempts` before this one. */
export function nextAttemptAt(clock: string, pauses: Pauses): string {
  return `${clock} + ${pause(pauses, 'attempts')}`
}

/**
 * SQL for rows whose next attempt is due, over their columns `next_attempt_at` and `attempts`. So is what lies further ahead than twice the pause that
 * was set: then the clock went back, and the row would wait until it has caught up. A new row is due within the first pause.
 */
export function isAttemptDue(clock: string, pauses: Pauses): string {
  return `(next_attempt_at <= ${clock} or next_attempt_at > ${clock} + 2 * ${pause(pauses, 'attempts - 1')})`
}

function pause({ first, longest }: Pauses, attempts: string): string {
  return `least(interval '${longest}', interval '${first}' * 2 ^ least(${attempts}, 20))`
}
