import type { AgentEvent, Report } from './agent-event.ts'

export type ProgressMode = 'terminal' | 'lines' | 'json'

/** How often progress is worth a line where lines stay. */
const progressLineEveryMs = 10_000

/**
 * Says what the agent does: on a terminal one line that is written over, with the rate and the time left; elsewhere one
 * line per event, as text or JSON.
 */
export function progressReport(
  mode: ProgressMode,
  deps: { write: (text: string) => void; nowMs: () => number },
): Report {
  let lineIsOpen = false
  let lastProgressMs = 0
  return (event) => {
    const nowMs = deps.nowMs()
    if (event.event === 'dataset.progress') {
      if (mode === 'terminal') {
        deps.write(`\r\u001b[2K${progressText(event, nowMs)}`)
        lineIsOpen = true
        return
      }
      if (nowMs - lastProgressMs < progressLineEveryMs) return
      lastProgressMs = nowMs
    }
    const at = new Date(nowMs).toISOString()
    if (mode === 'json') deps.write(`${JSON.stringify({ at, ...event })}\n`)
    else if (mode === 'lines') deps.write(`${at} ${describe(event, nowMs)}\n`)
    else {
      deps.write(`${lineIsOpen ? '\r\u001b[2K' : ''}${describe(event, nowMs)}\n`)
      lineIsOpen = false
    }
  }
}

function describe(event: AgentEvent, nowMs: number): string {
  switch (event.event) {
    case 'agent.started':
      return `Agent started: ${event.connector} to ${event.server}${event.intervalSeconds === null ? ', one pass' : `, every ${event.intervalSeconds} s`}`
    case 'agent.stopped':
      return 'Agent stopped'
    case 'cycle.began':
      return 'Pass began'
    case 'cycle.finished':
      return `Pass finished in ${seconds(event.durationMs)}: ${count(event.uploaded)} records sent${event.refused > 0 ? `, ${count(event.refused)} REFUSED` : ''}`
    case 'cycle.put_off':
      return `Put off: ${event.what} ${event.todo}`
    case 'cycle.failed':
      return `FAILED: ${event.what} ${event.todo}`
    case 'locations.sent':
      return `${count(event.locations)} locations sent`
    case 'state.reset':
      return 'The remembered state belonged to another server, organization or enrolment; everything is sent again'
    case 'state.behind':
      return `${event.dataset}: the remembered state is older than what the server has; everything is sent again`
    case 'upload.resumed':
      return `Upload ${event.number} was under way; sending it again`
    case 'upload.retried':
      return `Server not ready (${event.because}); trying again in ${seconds(event.waitMs)}`
    case 'dataset.put_off':
      return `${event.dataset} put off: ${event.what} ${event.todo}`
    case 'dataset.failed':
      return `FAILED: ${event.dataset}: ${event.what} ${event.todo}`
    case 'dataset.advice':
      return `${event.dataset}: ${event.what}`
    case 'dataset.reading':
      return `${event.dataset}: reading ${count(event.rows)} records${event.fully === null ? '' : `, all (${event.fully})`}`
    case 'dataset.progress':
      return progressText(event, nowMs)
    case 'dataset.finished':
      return `${event.dataset}: ${count(event.rows)} read, ${count(event.uploaded)} sent in ${seconds(event.durationMs)}`
    case 'location.skipped':
      return `FAILED: the server does not take ${event.dataset} of location ${event.locationId} (${event.because}): ${event.errors}`
    case 'records.hidden':
      return `${event.dataset} of location ${event.locationId}: ${count(event.hidden)} records are gone and hidden`
    case 'removal.held':
      return `${event.dataset} of location ${event.locationId}: ${count(event.missing)} records are gone; a person must confirm it at Bridgework. ${event.errors}`
    case 'record.refused':
      return `REFUSED: record ${event.sourceId} of ${event.dataset}, location ${event.locationId}: ${event.errors}`
  }
}

function progressText(event: AgentEvent & { event: 'dataset.progress' }, nowMs: number): string {
  const elapsedMs = Math.max(1, nowMs - event.startedAtMs)
  const perSecond = (event.rows / elapsedMs) * 1000
  const left = perSecond > 0 && event.rowsTotal > event.rows ? (event.rowsTotal - event.rows) / perSecond : 0
  const ending = left > 0 ? ` · ${Math.ceil(left)} s left` : ''
  return `${event.dataset}  ${count(event.rows)} of ${count(event.rowsTotal)} read · ${count(event.uploaded)} sent · ${count(Math.round(perSecond))}/s${ending}`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
