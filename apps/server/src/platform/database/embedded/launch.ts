import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseStartError } from '../start-error.ts'
import type { Account } from './account.ts'
import { probe } from './connection.ts'
import { clearStale, findRunning, runsCommand } from './orphan.ts'
import {
  adoptPostmaster,
  type Command,
  logSince,
  logSize,
  type Postmaster,
  spawnPostmaster,
  stopPostmaster,
} from './postmaster.ts'

export type Launch = {
  data: string
  socketDir: string
  command: Command
  account: Account
  logFile: string
  /** An address to try: the server is ready when it answers. */
  url: string
  signal: AbortSignal
}

/**
 * Gets a server running on the data directory, whatever state it was left in. The caller holds the data directory's lock, so a server that
 * runs is an orphan: adopted when it is what we would start and answers, else ended and started anew. Throws a DatabaseStartError.
 */
export async function launch(options: Launch): Promise<Postmaster> {
  const orphan = findRunning(options.data)
  if (orphan) {
    const postmaster = adoptPostmaster(orphan.pid)
    const isSame = orphan.socketDir === options.socketDir && runsCommand(orphan.pid, options.data, options.command)
    const hasAnswered = await answersWithin(options.url, 3_000)
    if (isSame && hasAnswered) return postmaster
    // One that is silent will hardly end in an orderly way either.
    await stopPostmaster(postmaster, 'fast', hasAnswered ? undefined : 1_000)
  }
  const until = performance.now() + 10_000
  for (;;) {
    await clearStale(options.data, options.socketDir)
    const logFrom = logSize(options.logFile)
    const postmaster = spawnPostmaster(options.command, options.account, options.logFile)
    if (await becomesReady(postmaster, options)) return postmaster
    const reason = startFailure(logSince(options.logFile, logFrom))
    if (options.signal.aborted) throw new DatabaseStartError('Postgres was stopped while it was starting.')
    // After a kill, locks and shared memory of the dead server may take a moment to go.
    if (!/already exists|still in use|already in use/.test(reason) || performance.now() > until) {
      throw new DatabaseStartError(`Postgres does not start: ${reason}. Read ${options.logFile} for details.`)
    }
    await sleep(300)
  }
}

/** A server that recovers from a crash may take long, and is waited for as long as it lives and nobody stops us. */
async function becomesReady(postmaster: Postmaster, options: Launch): Promise<boolean> {
  let hasExited = false
  postmaster.exited.then(() => {
    hasExited = true
  })
  while (!hasExited) {
    if (options.signal.aborted) {
      await stopPostmaster(postmaster, 'fast')
      return false
    }
    // Two servers cannot share a data directory, so who answers here is the one that was started.
    if ((await probe(options.url)) === 'ready') return !hasExited
    await sleep(25)
  }
  return false
}

/** A server that recovers is given all the time it needs; a silent one only `patienceMs`. */
async function answersWithin(url: string, patienceMs: number): Promise<boolean> {
  let until = performance.now() + patienceMs
  do {
    const state = await probe(url)
    if (state === 'ready') return true
    if (state === 'starting') until = performance.now() + patienceMs
    await sleep(100)
  } while (performance.now() < until)
  return false
}

function startFailure(log: string): string {
  const lines = log.split('\n').filter((line) => /FATAL|PANIC|error|cannot|not found/i.test(line))
  return (
    (lines.at(-1) ?? log.trim().split('\n').at(-1) ?? '').replace(/^.*?(FATAL|PANIC): +/, '') || 'it gave no reason'
  )
}
