import { isEarlierRelease } from '@bridgework/contract/release'
import type { Updates } from './updates.ts'

/** A running agent. It reports when the service has answered it. */
export type RunningAgent = {
  readonly reported: Promise<void>
  readonly ended: Promise<number>
  readonly stop: () => void
  readonly kill: () => void
}

export type LaunchDeps = {
  /** The release that the package installed. No update changes it, so it is always there to go back to. */
  readonly packaged: { readonly version: string; readonly program: string }
  readonly updates: Updates
  readonly start: (program: string) => RunningAgent
  /** Resolves after this time, or when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly say: (text: string) => void
  /** A person or the system stops the agent. */
  readonly stop: AbortSignal
}

/** A new version that has not reported by then is rolled back. */
export const reportWithinMs = 10 * 60_000

/** A version that ends the computer, or is ended with it, so often without having reported is rolled back, too. */
const startsMax = 3

const lookEveryMs = 5_000
const stopWithinMs = 90_000

type Chosen = { version: string; program: string; isTrial: boolean }

/**
 * Runs the current version of the agent until it ends, and returns its exit code. A next version is tried: it becomes the current one when it
 * reports in time, and otherwise the current one runs again and the next one is refused.
 */
export async function launch(deps: LaunchDeps): Promise<number> {
  const problem = deps.updates.problem()
  if (problem !== null) deps.say(`Installed updates are not used: ${problem}`)
  for (;;) {
    const chosen = choose(deps)
    const agent = deps.start(chosen.program)
    const stop = () => agent.stop()
    deps.stop.addEventListener('abort', stop)
    try {
      const code = chosen.isTrial ? await tryNext(deps, chosen, agent) : await runUntilNext(deps, agent)
      if (code !== null || deps.stop.aborted) return code ?? 0
    } finally {
      deps.stop.removeEventListener('abort', stop)
    }
  }
}

/** The next version, else the current one, else the package's; each only when its release is whole and signed. */
function choose(deps: LaunchDeps): Chosen {
  const { packaged, updates } = deps
  const state = updates.read()
  if (state.next !== null) {
    const program = isEarlierRelease(packaged.version, state.next) ? updates.program(state.next) : null
    if (program === null) refuse(deps, state.next, 'its release is damaged, or older than the package')
    else if (state.starts >= startsMax) refuse(deps, state.next, `it was started ${startsMax} times without a report`)
    else if (written(deps, { ...state, starts: state.starts + 1 })) {
      return { version: state.next, program, isTrial: true }
    }
  }
  if (state.current !== null && isEarlierRelease(packaged.version, state.current)) {
    const program = updates.program(state.current)
    if (program !== null) return { version: state.current, program, isTrial: false }
    deps.say(`Version ${state.current} is damaged. Going on with ${packaged.version} of the package.`)
  }
  return { ...packaged, isTrial: false }
}

/** The exit code; null: go on with what is now the one to run. */
async function tryNext(deps: LaunchDeps, { version }: Chosen, agent: RunningAgent): Promise<number | null> {
  deps.say(`Trying version ${version}. It has 10 minutes to report to Bridgework.`)
  const over = new AbortController()
  const outcome = await Promise.race([
    agent.reported.then(() => 'reported' as const),
    agent.ended,
    deps.sleep(reportWithinMs, over.signal).then(() => 'late' as const),
  ])
  over.abort()
  if (outcome === 'reported') {
    written(deps, { ...deps.updates.read(), current: version, next: null, starts: 0 })
    deps.updates.keep([version])
    deps.say(`Version ${version} reported. It is the current one.`)
    return await runUntilNext(deps, agent)
  }
  if (deps.stop.aborted) return await agent.ended
  if (outcome === 'late') {
    agent.kill()
    await agent.ended
    refuse(deps, version, 'it did not report within 10 minutes')
  } else refuse(deps, version, `it ended with exit code ${outcome} before it reported`)
  return null
}

async function runUntilNext(deps: LaunchDeps, agent: RunningAgent): Promise<number | null> {
  const over = new AbortController()
  const installed = async () => {
    const { next } = deps.updates.read()
    for (;;) {
      await deps.sleep(lookEveryMs, over.signal)
      if (over.signal.aborted) return 'over' as const
      const state = deps.updates.read()
      if (state.next !== null && state.next !== next) return 'next' as const
    }
  }
  const outcome = await Promise.race([agent.ended, installed()])
  over.abort()
  if (outcome !== 'next') return await agent.ended
  agent.stop()
  const late = new AbortController()
  const isLate = await Promise.race([
    agent.ended.then(() => false),
    deps.sleep(stopWithinMs, late.signal).then(() => true),
  ])
  late.abort()
  if (isLate) agent.kill()
  await agent.ended
  return null
}

function refuse(deps: LaunchDeps, version: string, because: string): void {
  const { refused, ...state } = deps.updates.read()
  written(deps, { ...state, next: null, starts: 0, refused: [...refused.filter((each) => each !== version), version] })
  deps.updates.keep([state.current])
  deps.say(
    `ROLLED BACK: version ${version}, because ${because}. Going on with ${state.current ?? deps.packaged.version}.`,
  )
}

/** False where the disk takes nothing more: then nothing new is tried, and what runs goes on. */
function written(deps: LaunchDeps, state: Parameters<Updates['write']>[0]): boolean {
  try {
    deps.updates.write(state)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
    deps.say(`The state of updates cannot be written (${code}).`)
    return false
  }
}
