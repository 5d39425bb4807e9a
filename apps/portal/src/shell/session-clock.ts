const warningMs = 60_000

/** The phase of a session: active, ending within a minute, or over; because of inactivity (`idle`) or its greatest length (`lifetime`). */
export type SessionPhase =
  | { phase: 'active' }
  | { phase: 'ending' | 'over'; because: 'idle' | 'lifetime'; secondsLeft: number }

/** All in milliseconds since 1970, but `idleMs`. Whichever end comes first counts. */
export function sessionPhase(clock: { now: number; activeAt: number; idleMs: number; endsAt: number }): SessionPhase {
  const idleEnd = clock.activeAt + clock.idleMs
  const because = idleEnd < clock.endsAt ? 'idle' : 'lifetime'
  const leftMs = Math.min(idleEnd, clock.endsAt) - clock.now
  if (leftMs > warningMs) return { phase: 'active' }
  return { phase: leftMs > 0 ? 'ending' : 'over', because, secondsLeft: Math.max(0, Math.ceil(leftMs / 1000)) }
}
