import { hashPassword, verifyPassword } from 'better-auth/crypto'
import pLimit from 'p-limit'

/**
 * Two at a time in a process. Each takes 32 MB, some 50 ms and one of libuv's four threads, which also compress pages: callers who try many
 * passwords at once would take them all, and 128 MB.
 */
const twoAtOnce = pLimit(2)

export type PasswordHash = {
  hash: (password: string) => Promise<string>
  verify: (proof: { hash: string; password: string }) => Promise<boolean>
}

/** What is kept of a password, and its proof: better-auth's scrypt. */
export const passwordHash: PasswordHash = {
  hash: (password: string) => twoAtOnce(() => hashPassword(password)),
  verify: (proof: { hash: string; password: string }) => twoAtOnce(() => verifyPassword(proof)),
}
