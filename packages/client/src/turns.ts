/** The last of the work that was begun for each key. */
export type Turns<Key> = {
  get: (key: Key) => Promise<unknown> | undefined
  set: (key: Key, turn: Promise<unknown>) => unknown
}

/** Runs `work` when all that was begun before it for the same key has ended, well or badly. */
export function inTurn<Key, T>(turns: Turns<Key>, key: Key, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(key) ?? Promise.resolve()).then(work, work)
  turns.set(
    key,
    turn.catch(() => {}),
  )
  return turn
}
