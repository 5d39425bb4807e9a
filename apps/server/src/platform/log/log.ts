import type { Log, LogEvent } from './log-event.ts'

/** The events that a person should read. */
export const importantEvents = [
  'server.warning',
  'database.died',
  'database.unavailable',
  'request.failed',
  'disclosure.failed',
  'record.foreign_reference',
  'segments.broken',
  'removal.held',
  'task.failed',
] as const satisfies readonly LogEvent['event'][]

const important: ReadonlySet<LogEvent['event']> = new Set(importantEvents)

/** Writes events as lines of JSON. `important` leaves out routine events that need no action. */
export function createLog(level: 'all' | 'important', write: (line: string) => void): Log {
  return (event) => {
    if (level === 'important' && !isImportant(event)) return
    // Not copied beside its time: every request has a line.
    write(`{"at":"${new Date().toISOString()}",${JSON.stringify(event).slice(1)}\n`)
  }
}

/** Whether a person should read it. */
export function isImportant({ event }: LogEvent): boolean {
  return important.has(event)
}

/**
 * Collects the lines of one turn of the event loop and writes them together after it: a write of its own for each costs a small answer as much as
 * sending it. `flush` writes what waits, at once: a process calls it when it exits.
 */
export function createLineWriter(write: (lines: string) => unknown): {
  add: (line: string) => void
  flush: () => void
} {
  let waiting = ''
  const flush = () => {
    const lines = waiting
    waiting = ''
    if (lines !== '') write(lines)
  }
  return {
    add(line) {
      if (waiting === '') setImmediate(flush)
      waiting += line
    },
    flush,
  }
}
