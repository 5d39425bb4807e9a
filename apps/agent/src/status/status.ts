import type { AgentEvent, DatasetFailure, Report } from '../agent-event.ts'
import { eventText } from '../progress.ts'

/** How many lines of the log the status keeps. */
const linesMax = 200

type Line = { readonly at: string; readonly text: string }

/** What the agent does and last did, since it started. Made of `AgentEvent`s alone, so no patient can reach it. */
export type AgentStatus = {
  readonly version: string
  readonly startedAt: string
  /** `incomplete`: the last cycle synced some datasets only; `failing`: it failed or was put off. The next one tries again. */
  readonly state: 'starting' | 'working' | 'up_to_date' | 'incomplete' | 'failing' | 'stopped'
  /** What it does at the moment. */
  readonly doing: string | null
  readonly server: string | null
  readonly lastCycle: { readonly at: string; readonly durationMs: number; readonly records: number } | null
  readonly lastUpload: { readonly at: string; readonly dataset: string; readonly records: number } | null
  /** Datasets that the last cycle could not sync. */
  readonly failing: readonly DatasetFailure[]
  readonly lastError: Line | null
  /** What last happened to a release that the service offers. */
  readonly lastUpdate: Line | null
  /** Newest last. */
  readonly log: readonly Line[]
}

/** Listens to what the agent reports, and says at any time how it stands. */
export function createStatus(deps: { version: string; nowMs: () => number }): {
  report: Report
  read: () => AgentStatus
} {
  const now = () => new Date(deps.nowMs()).toISOString()
  const log: Line[] = []
  let status: Omit<AgentStatus, 'log'> = {
    version: deps.version,
    startedAt: now(),
    state: 'starting',
    doing: null,
    server: null,
    lastCycle: null,
    lastUpload: null,
    failing: [],
    lastError: null,
    lastUpdate: null,
  }
  return {
    report: (event) => {
      const line = { at: now(), text: eventText(event, deps.nowMs()) }
      const isPassing = event.event === 'dataset.progress' || event.event === 'dataset.reading'
      if (event.event !== 'dataset.progress') log.push(line)
      if (log.length > linesMax) log.shift()
      status = {
        ...status,
        state: stateAfter(event, status) ?? status.state,
        doing: isPassing ? line.text : event.event === 'cycle.finished' ? null : status.doing,
        ...changesOf(event, line, status),
      }
      if (status.state !== 'working') status = { ...status, doing: null }
    },
    read: () => ({ ...status, log: [...log] }),
  }
}

function stateAfter(
  { event }: AgentEvent,
  { failing }: Pick<AgentStatus, 'failing'>,
): AgentStatus['state'] | undefined {
  if (event === 'cycle.began') return 'working'
  if (event === 'cycle.finished') return failing.length > 0 ? 'incomplete' : 'up_to_date'
  if (event === 'cycle.failed' || event === 'cycle.put_off') return 'failing'
  return event === 'agent.stopped' ? 'stopped' : undefined
}

function changesOf(event: AgentEvent, line: Line, before: Omit<AgentStatus, 'log'>): Partial<AgentStatus> {
  switch (event.event) {
    case 'agent.started':
      return { server: event.server }
    case 'cycle.finished':
      return { lastCycle: { at: line.at, durationMs: event.durationMs, records: event.uploaded } }
    case 'dataset.progress':
    case 'dataset.finished': {
      const { dataset, uploaded } = event
      const isNew = uploaded > 0 && (before.lastUpload?.dataset !== dataset || before.lastUpload.records !== uploaded)
      const failing = before.failing.filter((each) => each.dataset !== dataset)
      return {
        ...(isNew && { lastUpload: { at: line.at, dataset, records: uploaded } }),
        ...(event.event === 'dataset.finished' && { failing }),
      }
    }
    case 'update.downloading':
    case 'update.installed':
    case 'update.postponed':
      return { lastUpdate: line }
    case 'update.refused':
    case 'update.rolled_back':
      return { lastUpdate: line, lastError: line }
    case 'dataset.failed': {
      const { event: _, ...failure } = event
      const others = before.failing.filter((each) => each.dataset !== event.dataset)
      return { lastError: line, failing: [...others, failure] }
    }
    case 'cycle.failed':
    case 'cycle.put_off':
    case 'dataset.put_off':
    case 'location.written_by_other':
    case 'location.skipped':
    case 'record.refused':
      return { lastError: line }
    default:
      return {}
  }
}
