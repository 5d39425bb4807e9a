import type { AgentEvent, Report } from './agent-event.ts'
import type { MendedValues } from './connector.ts'

export type ProgressMode = 'terminal' | 'lines' | 'json'

/** How often progress gets a line where lines stay. */
const progressLineEveryMs = 10_000

/**
 * Prints what the agent does: on a terminal one line that is overwritten, with the rate and the time left; elsewhere one
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
    else if (mode === 'lines') deps.write(`${at} ${eventText(event, nowMs)}\n`)
    else {
      deps.write(`${lineIsOpen ? '\r\u001b[2K' : ''}${eventText(event, nowMs)}\n`)
      lineIsOpen = false
    }
  }
}

/** The event as a line of the log. */
export function eventText(event: AgentEvent, nowMs: number): string {
  switch (event.event) {
    case 'agent.started':
      return `Agent started: ${event.connector} to ${event.server}, ${event.intervalSeconds === null ? 'one cycle' : `a cycle every ${event.intervalSeconds} s`}`
    case 'agent.stopped':
      return 'Agent stopped'
    case 'status.unavailable':
      return `The status page is not shown: port ${event.port} cannot be used (${event.because}). Choose another "status_port" in the settings`
    case 'update.downloading':
      return `Version ${event.version} of the agent is available. Downloading ${count(event.bytes)} bytes`
    case 'update.installed':
      return `Version ${event.version} of the agent is downloaded and verified. It is started now`
    case 'update.postponed':
      return `Version ${event.version} of the agent is not installed yet: ${event.what} The agent tries again in an hour`
    case 'update.refused':
      return `REFUSED: version ${event.version} of the agent: ${event.what}`
    case 'update.rolled_back':
      return `ROLLED BACK: version ${event.version} of the agent did not report to Bridgework. It is not tried again`
    case 'cycle.began':
      return 'Cycle started'
    case 'cycle.finished':
      return `Cycle finished in ${seconds(event.durationMs)}: ${count(event.uploaded)} records sent${event.refused > 0 ? `, ${count(event.refused)} REFUSED` : ''}`
    case 'cycle.put_off':
      return `Postponed: ${event.what} ${event.todo}`
    case 'cycle.failed':
      return `FAILED: ${event.what} ${event.todo}`
    case 'source.advice':
      return event.what
    case 'source.busy':
      return 'The database server is busy with the office’s work. The agent pauses between batches'
    case 'locations.sent':
      return `${count(event.locations)} locations sent`
    case 'state.reset':
      return 'The state file is of another server, organization or enrolment. Sending everything again'
    case 'state.set_aside':
      return `The state file was damaged. It is at ${event.path} now; everything is compared and sent where it differs`
    case 'state.behind':
      return event.because === 'service_restored'
        ? 'The service was restored from a backup, or another agent wrote in between; everything is compared and sent where it differs'
        : 'The agent’s state is older than what the service has; everything is compared and sent where it differs'
    case 'upload.resumed':
      return `Upload ${event.number} was interrupted. Sending it again`
    case 'upload.retried':
      return `Server not ready (${event.because}). Retrying in ${seconds(event.waitMs)}`
    case 'dataset.put_off':
      return `${event.dataset} postponed: ${event.what} ${event.todo}`
    case 'dataset.failed':
      return `FAILED: ${event.dataset}: ${event.what} ${event.todo}`
    case 'dataset.advice':
      return `${event.dataset}: ${event.what}`
    case 'values.mended':
      return `${event.dataset}: ${mendedText(event)}`
    case 'dataset.reading':
      return `${event.dataset}: reading ${event.fully === null ? '' : 'all '}${event.rows === null ? '' : `${count(event.rows)} `}rows${event.fully === null ? '' : ` (${event.fully})`}`
    case 'dataset.progress':
      return progressText(event, nowMs)
    case 'dataset.finished':
      return `${event.dataset}: ${count(event.rows)} read, ${count(event.uploaded)} sent in ${seconds(event.durationMs)}`
    case 'location.written_by_other':
      return `REFUSED: ${event.what} ${event.todo}`
    case 'location.skipped':
      return `FAILED: the server refuses ${event.dataset} of location ${event.locationId} (${event.because}): ${event.errors}`
    case 'records.hidden':
      return `${event.dataset} of location ${event.locationId}: ${count(event.hidden)} records were removed in the source; they are hidden now`
    case 'records.mistrusted':
      return `${event.dataset} of location ${event.locationId}: the server lost or changed ${count(event.records)} records; they are sent again`
    case 'removal.held':
      return `${event.dataset} of location ${event.locationId}: ${count(event.missing)} records are missing in the source. Review the removal in the portal. ${event.errors}`
    case 'record.refused':
      return `REFUSED: record ${event.sourceId} of ${event.dataset}, location ${event.locationId}: ${event.errors}`
  }
}

const mendings: Readonly<Record<MendedValues['mended'], string>> = {
  date_impossible: 'a date that does not exist; sent as empty',
  date_out_of_range: 'a date before 1880 or after 2199; sent as empty',
  amount_out_of_range: 'an amount of more than 13 digits; not sent',
  note_cut: 'a text longer than 20,000 characters; cut',
  text_invalid: 'text that is not valid in its encoding; sent with replacement characters',
  control_characters: 'control characters; removed',
}

/** Which column holds what could not be sent as it is. */
export function mendedText({ table, column, mended, rows }: MendedValues): string {
  return `${table}.${column} of ${count(rows)} ${rows === 1 ? 'row' : 'rows'} holds ${mendings[mended]}`
}

function progressText(event: AgentEvent & { event: 'dataset.progress' }, nowMs: number): string {
  const elapsedMs = Math.max(1, nowMs - event.startedAtMs)
  const perSecond = (event.rows / elapsedMs) * 1000
  const rowsLeft = event.rowsTotal === null ? 0 : event.rowsTotal - event.rows
  const left = perSecond > 0 ? rowsLeft / perSecond : 0
  const paused = event.pausedMs > 0 ? ` · paused ${Math.ceil(event.pausedMs / 1000)} s for the office` : ''
  const ending = left > 0 ? ` · ${Math.ceil(left)} s left` : ''
  return `${event.dataset}  ${count(event.rows)}${event.rowsTotal === null ? '' : ` of ${count(event.rowsTotal)}`} read · ${count(event.uploaded)} sent · ${count(Math.round(perSecond))}/s${ending}${paused}`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
