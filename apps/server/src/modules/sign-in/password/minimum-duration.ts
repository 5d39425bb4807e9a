import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Runs `work` and answers after 250 ms at the earliest, also when it fails, where how long it takes would tell a stranger whether an e-mail
 * address has an account.
 */
export async function withMinimumDuration<T>(work: () => Promise<T>): Promise<T> {
  const [outcome] = await Promise.allSettled([work(), sleep(250)])
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}
