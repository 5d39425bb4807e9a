export type Pump = {
  /** Begins to work off what waits, unless that is under way. */
  start: () => void
  /** Resolves when nothing is under way. */
  idle: () => Promise<void>
}

/**
 * Calls `step` again and again while `hasWork` says so, one call at a time. It begins after the current turn of the event loop, so that
 * what arrives together goes together. `step` must not reject.
 */
export function createPump(hasWork: () => boolean, step: () => Promise<void>): Pump {
  let running: Promise<void> | undefined
  const run = async () => {
    await null
    try {
      while (hasWork()) await step()
    } finally {
      // In the same turn as the last look at what waits, so that nothing is added unseen.
      running = undefined
    }
  }
  return {
    start() {
      running ??= run()
    },
    async idle() {
      while (running) await running
    },
  }
}
