import type { Context } from './context.ts'

export type Progress = {
  /** How many of how many records, of one thing among several. */
  update: (name: string, done: number, total: number) => void
  end: () => void
}

/** A bar with rate and time left on a terminal, a line every ten seconds elsewhere, nothing with --json. On stderr: data has stdout. */
export function showProgress({ stderr, json }: Pick<Context, 'stderr' | 'json'>): Progress {
  const parts = new Map<string, { done: number; total: number }>()
  const beganAt = performance.now()
  let shownAt = beganAt
  let isShown = false
  const isTerminal = stderr.isTTY === true
  const show = () => {
    let [done, total] = [0, 0]
    for (const part of parts.values()) {
      done += part.done
      total += Math.max(part.total, part.done)
    }
    const text = lineOf(done, total, (performance.now() - beganAt) / 1000)
    if (isTerminal) stderr.write(`\r\u001b[K${text.slice(0, (stderr.columns ?? 80) - 1)}`)
    else stderr.write(`${text}\n`)
    isShown = true
    shownAt = performance.now()
  }
  return {
    update(name, done, total) {
      parts.set(name, { done, total })
      if (!json && performance.now() - shownAt >= (isTerminal ? 100 : 10_000)) show()
    },
    end() {
      if (isTerminal && isShown) stderr.write('\r\u001b[K')
    },
  }
}

function lineOf(done: number, total: number, seconds: number): string {
  const share = total === 0 ? 1 : done / total
  const filled = Math.round(share * 20)
  const rate = seconds > 0 ? done / seconds : 0
  const left = rate > 0 ? ` ${clock((total - done) / rate)} left` : ''
  const numbers = `${grouped(done)}/${grouped(total)} records, ${grouped(Math.round(rate))}/s,${left}`
  return `[${'#'.repeat(filled)}${'-'.repeat(20 - filled)}] ${String(Math.floor(share * 100)).padStart(3)} % ${numbers}`
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds)
  const minutes = String(Math.floor(whole / 60) % 60).padStart(whole >= 3600 ? 2 : 1, '0')
  const hours = whole >= 3600 ? `${Math.floor(whole / 3600)}:` : ''
  return `${hours}${minutes}:${String(whole % 60).padStart(2, '0')}`
}

export function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',')
}
