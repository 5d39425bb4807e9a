import { createHash, type KeyObject } from 'node:crypto'
import { limits } from '@bridgework/contract'
import { isEarlierRelease, isReleaseVersion } from '@bridgework/contract/release'
import { openRelease, UpdateRefused } from '@bridgework/contract/signed-release'
import { type IngestClient, IngestProblem, type OfferedRelease } from '../ingest-client.ts'
import { type RetryDeps, Stopped, withRetries } from '../pipeline/retry.ts'
import type { Updates } from './updates.ts'

/** Takes the releases that the service offers. */
export type SelfUpdate = {
  /** What the service offered at this contact; null: none. */
  readonly offer: (release: OfferedRelease | null) => void
  /**
   * Downloads, verifies and installs what was offered last, and says which release was rolled back. True: a version is installed, which the
   * launcher starts. Call it between two cycles. Throws only for a bug.
   */
  readonly take: () => Promise<boolean>
}

type SelfUpdateDeps = RetryDeps & {
  readonly client: Pick<IngestClient, 'getReleasePart' | 'reportRelease'>
  readonly publicKey: KeyObject
  readonly updates: Updates
  /** The version that runs. */
  readonly running: string
}

/** After a failed download or a full disk. */
const againAfterMs = 60 * 60_000

const retriesMax = 5
const downloadMaxMs = 10 * 60_000

/**
 * A release that is refused is not downloaded again before the next start of the agent, and one that was rolled back never, unless a person
 * installs it. What was downloaded before the connection broke is kept in memory and not downloaded again.
 */
export function createSelfUpdate(deps: SelfUpdateDeps): SelfUpdate {
  let offered: OfferedRelease | null | undefined
  let download: { sha256: string; parts: Buffer[] } = { sha256: '', parts: [] }
  let notBeforeMs = 0
  const refused = new Set<string>()
  const reported = new Set<string>()

  async function take(): Promise<boolean> {
    const offer = offered
    // Of an answer that is older than the last cycle nothing is taken.
    offered = undefined
    if (offer === undefined) return false
    if (offer && !isReleaseVersion(offer.version)) return refuseUnread()
    const state = deps.updates.read()
    await reportRolledBack(state.refused.at(-1))
    // A version that is installed, or on trial, comes first; until then the launcher alone writes the state.
    if (offer === null || state.next !== null) return false
    if (refused.has(offer.version) || state.refused.includes(offer.version)) return false
    if (deps.nowMs() < notBeforeMs) return false
    try {
      requireTakeable(offer, deps.running)
      const file = await fetchFile(offer)
      if (createHash('sha256').update(file).digest('hex') !== offer.sha256)
        throw new UpdateRefused('The download differs from what was announced.')
      if (openRelease(file, deps.publicKey).version !== offer.version)
        throw new UpdateRefused('The release has another version than was announced.')
      deps.updates.install(file, deps.running)
      deps.report({ event: 'update.installed', version: offer.version })
      return true
    } catch (error) {
      await giveUp(offer.version, error)
      return false
    }
  }

  /** A text of another form than a version's is neither shown nor sent back: nobody knows what it does there. */
  function refuseUnread(): false {
    const version = 'unknown'
    if (!refused.has(version)) {
      deps.report({ event: 'update.refused', version, what: 'The announced version is not of the form 1.2.3.' })
    }
    refused.add(version)
    return false
  }

  async function fetchFile({ version, size, sha256 }: OfferedRelease): Promise<Buffer> {
    if (download.sha256 !== sha256) download = { sha256, parts: [] }
    const { parts } = download
    const budget = { attemptsLeft: retriesMax, deadlineMs: deps.nowMs() + downloadMaxMs }
    deps.report({ event: 'update.downloading', version, bytes: size })
    for (let got = lengthOf(parts); got < size; ) {
      const part = await withRetries(deps, budget, () => deps.client.getReleasePart(version, parts.length))
      got += part.length
      if (part.length === 0 || got > size) throw new UpdateRefused('The download has another size than was announced.')
      parts.push(part)
    }
    return Buffer.concat(parts)
  }

  async function giveUp(version: string, error: unknown): Promise<void> {
    if (error instanceof Stopped) return
    if (error instanceof UpdateRefused) {
      refused.add(version)
      download = { sha256: '', parts: [] }
      deps.report({ event: 'update.refused', version, what: error.message })
      // The service can do without it.
      await deps.client.reportRelease(version, 'refused').catch(passOver)
      return
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : null
    if (!(error instanceof IngestProblem) && code === null) throw error
    notBeforeMs = deps.nowMs() + againAfterMs
    const what = error instanceof IngestProblem ? error.errors : `It cannot be stored (${code}).`
    deps.report({ event: 'update.postponed', version, what })
  }

  /** Once in a run of the agent, where the version is not outdated by a later one. */
  async function reportRolledBack(version: string | undefined): Promise<void> {
    if (version === undefined || reported.has(version) || !isEarlierRelease(deps.running, version)) return
    try {
      await deps.client.reportRelease(version, 'rolled_back')
      reported.add(version)
      deps.report({ event: 'update.rolled_back', version })
    } catch (error) {
      passOver(error)
    }
  }

  return {
    offer: (release) => {
      offered = release
    },
    take,
  }
}

/** What the service says is not trusted: it could want the agent to go back, or to fill its memory. */
function requireTakeable({ version, size }: OfferedRelease, running: string): void {
  if (!isEarlierRelease(running, version)) throw new UpdateRefused(`It is not newer than ${running}, which runs.`)
  if (size < 1 || size > limits.agentReleaseBytesMax)
    throw new UpdateRefused(`It is announced with ${size} bytes; at most ${limits.agentReleaseBytesMax} are taken.`)
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

function passOver(error: unknown): void {
  if (!(error instanceof IngestProblem)) throw error
}
