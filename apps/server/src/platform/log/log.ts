import type { Log, LogEvent } from './log-event.ts'

/** Writes events as lines of JSON. `important` leaves out routine events that need no action. */
export function createLog(level: 'all' | 'important', write: (line: string) => void): Log {
  return (event) => {
    if (level === 'important' && !isImportant(event)) return
    write(`${JSON.stringify({ at: new Date().toISOString(), ...event })}\n`)
  }
}

function isImportant(event: LogEvent): boolean {
  switch (event.event) {
    case 'server.warning':
    case 'database.died':
    case 'database.unavailable':
    case 'request.failed':
    case 'disclosure.failed':
    case 'record.foreign_reference':
    case 'removal.held':
    case 'task.failed':
      return true
    default:
      return false
  }
}
