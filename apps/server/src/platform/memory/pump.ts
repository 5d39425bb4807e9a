export type Pump = {
  /** Begins to work off what waits, unless as many calls as may be are under way. */
  start: () => void
  /** Resolves when nothing is under way. */
  idle: () => Promise<void>
}

/**
 * Calls `step` again and again while `hasWork` says so, at most `atOnce` calls at a time. It begins after the current turn of the event
 * loop, so that what arrives together goes together. `step` must not reject.
 */
export function createPump(hasWork: () => boolean, step: () => Promise<void>, atOnce = 1): Pump {
  const runs = Array.from({ length: atOnce }, (): Promise<void> | null => null)
  const run = async (place: number) => {
    await null
    try {
      while (hasWork()) await step()
    } finally {
      // In the same turn as the last look at what waits, so that nothing is added unseen.
      runs[place] = null
    }
  }
  return {
    start() {
      const place = runs.indexOf(null)
      if (place >= 0) runs[place] = run(place)
    },
    async idle() {
      while (runs.some((each) => each !== null)) await Promise.all(runs)
    },
  }
}
