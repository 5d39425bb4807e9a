/** How far a long command is: one line that is written over on a terminal; elsewhere a line now and then. */
export type Progress = {
  show: (done: number, total: number, unit: string) => void
  /** Leaves the line as it is and goes to the next. */
  end: () => void
}

const onTerminalEveryMs = 200
const elsewhereEveryMs = 5000

export function createProgress(options: {
  write: (text: string) => void
  isTerminal: boolean
  nowMs: () => number
}): Progress {
  const { write, isTerminal, nowMs } = options
  let startedAtMs: number | null = null
  let shownAtMs = Number.NEGATIVE_INFINITY
  let widest = 0

  return {
    show(done, total, unit) {
      const now = nowMs()
      startedAtMs ??= now
      const isLast = done >= total
      if (!isLast && now - shownAtMs < (isTerminal ? onTerminalEveryMs : elsewhereEveryMs)) return
      shownAtMs = now
      const text = describe(done, total, unit, now - startedAtMs)
      widest = Math.max(widest, text.length)
      write(isTerminal ? `\r${text.padEnd(widest)}` : `${text}\n`)
    },
    end() {
      if (isTerminal && startedAtMs !== null) write('\n')
      startedAtMs = null
      shownAtMs = Number.NEGATIVE_INFINITY
    },
  }
}

function describe(done: number, total: number, unit: string, elapsedMs: number): string {
  const share = `${Math.floor((done * 100) / Math.max(1, total))} %  ${grouped(done)} of ${grouped(total)} ${unit}`
  if (elapsedMs < 500 || done === 0) return share
  const perSecond = (done * 1000) / elapsedMs
  return `${share}  ${grouped(Math.round(perSecond))}/s  ${duration((total - done) / perSecond)} left`
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}
