/** Chance that repeats: the same seed gives the same numbers on every machine. Not for secrets. */
export type Random = {
  /** At least 0, less than 1. */
  next(): number
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number
  pick<T>(choices: readonly T[]): T
  /** True with the given probability. */
  chance(probability: number): boolean
  /** A primary key as a replicated Open Dental office draws it: 10,000 … 2^63−1, in decimal digits. */
  key64(): string
}

/** A generator of its own for each seed: a part that draws more numbers than before disturbs no other part. */
export function createRandom(seed: string): Random {
  let state = hash(seed)

  /** Mulberry32: 32 bits of state, good enough to look lifelike. */
  function next32(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  const next = () => next32() / 2 ** 32
  const whole = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    next,
    whole,
    pick: <T>(choices: readonly T[]): T => {
      const choice = choices[whole(0, choices.length - 1)]
      if (choice === undefined) throw new Error('nothing to pick from')
      return choice
    },
    chance: (probability) => next() < probability,
    key64: () => {
      const bits = ((BigInt(next32()) << 32n) | BigInt(next32())) & (2n ** 63n - 1n)
      return String(bits < 10_000n ? bits + 10_000n : bits)
    },
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193)
  return value | 0
}
