import Tinypool from 'tinypool'
import type { PasswordStrength } from './password-strength-thread.ts'

/**
 * Estimates how hard a password is to guess; `words` are those that belong to the person. It takes half a second where it is the first for a
 * while, some 20 ms otherwise, and runs beside the event loop.
 */
export function estimateStrength(password: string, words: string[]): Promise<PasswordStrength> {
  return pool.run({ password, words })
}

/**
 * A thread, because ranking 240,000 common words takes 300 ms at once and 80 MB. It starts with the first password. Three seconds after the last
 * one it ends, which frees its memory.
 */
const pool = new Tinypool({
  filename: new URL('password-strength-thread.ts', import.meta.url).href,
  minThreads: 0,
  maxThreads: 1,
  idleTimeout: 3_000,
  // The lists take 50 MB. The young generation takes up to 70 MB more where it is not bounded.
  resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 },
})
