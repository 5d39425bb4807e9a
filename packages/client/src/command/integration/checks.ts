import type { Finding } from '../finding.ts'
import type { Changed } from './simulated-practice.ts'
import type { Seen } from './simulated-service.ts'

/** What the check saw of one run of the program. */
export type Run = {
  seen: readonly Seen[]
  /** How it ended, for people: `It ended with exit code 1: fetch failed`. */
  ending: string
  isFailed: boolean
}

const ok = (check: string, text: string): Finding => ({ check, result: 'ok', text })
const problem = (check: string, text: string, advice: string): Finding => ({ check, result: 'problem', text, advice })

/** Requests for records, in their order. */
export function readsOf(seen: readonly Seen[]): Seen[] {
  return seen.filter(({ kind }) => kind === 'list' || kind === 'export')
}

export function datasetsRead({ seen }: Run): string[] {
  return [...new Set(readsOf(seen).flatMap(({ dataset }) => dataset ?? []))]
}

/** spec: Authentication 6. */
export function checkToken(runs: readonly Run[]): Finding {
  const counts = runs.map(({ seen }) => seen.filter(({ kind }) => kind === 'token').length)
  const [most, all] = [Math.max(...counts), counts.reduce((sum, count) => sum + count, 0)]
  if (most <= 1)
    return ok('token', `${all} token requests in ${runs.length} runs: it uses one token for all of its requests.`)
  const requests = runs[counts.indexOf(most)]?.seen.length ?? 0
  const advice =
    'Keep the token until it is refused, or for six hours. An address may send 10 token requests in a minute.'
  return problem('token', `It requested ${most} tokens in one run with ${requests - most} other requests.`, advice)
}

/** A timer may fire a little early. */
const earlyMs = 50

/** `refused`: the requests that were answered with 429 and 503, and for how long to wait. */
export function checkRetryAfter(run: Run, refused: readonly { request: Seen; seconds: number }[]): Finding {
  const check = 'Retry-After'
  const advice = 'After 429 or 503, wait the seconds in Retry-After, then repeat the same request.'
  for (const { request, seconds } of refused) {
    const repeated = run.seen.find(({ atMs, target }) => target === request.target && atMs > request.atMs)
    if (!repeated) {
      const text = `After ${request.status} with Retry-After: ${seconds} it did not repeat ${nameOf(request)}. ${run.ending}`
      return problem(check, text, advice)
    }
    const waitedMs = repeated.atMs - request.atMs
    if (waitedMs < seconds * 1000 - earlyMs) {
      const text = `After ${request.status} with Retry-After: ${seconds} it repeated ${nameOf(request)} after ${inSeconds(waitedMs)} s.`
      return problem(check, text, advice)
    }
  }
  if (run.isFailed) return problem(check, `It waited and repeated, and then failed. ${run.ending}`, advice)
  return ok(check, `It waited as long as ${refused.map(({ request }) => request.status).join(' and ')} asked for.`)
}

/** `visible`: the ids in the copy; null: not known. `lastIds`: the last record of each dataset. */
export function checkLastPage(
  run: Run,
  { visible, lastIds }: { visible: ReadonlySet<string> | null; lastIds: ReadonlyMap<string, string> },
): Finding {
  const check = 'last page'
  const advice = 'Continue with meta.next_after, or meta.next_page, until meta.has_more is false.'
  for (const dataset of datasetsRead(run)) {
    const reads = readsOf(run.seen).filter((each) => each.dataset === dataset)
    if (!reads.some(({ isLastPage }) => isLastPage))
      return problem(check, `It read ${reads.length} pages of ${dataset} and did not request the last one.`, advice)
    const lastId = lastIds.get(dataset) ?? ''
    if (visible && !visible.has(lastId))
      return problem(check, `Its copy of ${dataset} does not have the record ${lastId} of the last page.`, advice)
  }
  return ok(check, `It read ${datasetsRead(run).join(', ')} to the end.`)
}

/** Compares the moments that the second run sent with the watermarks of the first. spec: Delta fetch. */
export function checkWatermark(first: Run, second: Run): Finding {
  const check = 'watermark'
  for (const dataset of datasetsRead(first)) {
    const kept = readsOf(first.seen).find((each) => each.dataset === dataset && each.watermark !== null)?.watermark
    const sent = readsOf(second.seen).filter((each) => each.dataset === dataset)
    const advice = `Keep meta.next_fetch_modified_since of the first page as text, and send it as q[fetch_modified_since].`
    if (sent.length === 0)
      return problem(check, `It did not read ${dataset} again, in which records had changed. ${second.ending}`, advice)
    const other = sent.find(({ since }) => since !== kept)
    if (!other) continue
    if (other.since === null) return problem(check, `It read all of ${dataset} again instead of what changed.`, advice)
    const isCut = Date.parse(other.since) === Date.parse(kept ?? '')
    const because = isCut ? ': it has lost digits, as it does in a Date' : ''
    return problem(
      check,
      `For ${dataset} it sent ${quoted(other.since)} instead of ${quoted(kept ?? '')}${because}.`,
      advice,
    )
  }
  return ok(check, 'It sent the watermark of the first page unchanged.')
}

export function checkRemovals(
  run: Run,
  changed: ReadonlyMap<string, Changed>,
  visible: ReadonlySet<string> | null,
): Finding {
  const check = 'removals'
  if (!visible) return notSeen(check)
  const advice =
    'Show only records whose is_hidden is false, or delete the others. A removed record comes with a delta.'
  for (const dataset of datasetsRead(run)) {
    const { hidden = '', altered = '' } = changed.get(dataset) ?? {}
    if (!visible.has(altered))
      return problem(check, `The list of --visible has no record ${altered} of ${dataset}.`, listAdvice)
    if (visible.has(hidden))
      return problem(check, `The record ${hidden} of ${dataset} was removed, and the copy still shows it.`, advice)
  }
  return ok(check, 'Removed records are not visible in its copy.')
}

/** `cut`: the request whose answer was cut. `runs`: that run, and the next one where it was needed. */
export function checkCut(
  runs: readonly Run[],
  cut: Seen,
  changed: ReadonlyMap<string, Changed>,
  visible: ReadonlySet<string> | null,
): Finding {
  const check = 'cut'
  const advice =
    'An answer that ends early is an error: repeat the request, and move the watermark only when the walk is complete.'
  const later = runs.flatMap(({ seen }) => readsOf(seen)).filter(({ atMs }) => atMs > cut.atMs)
  const isRepeated = ({ dataset, since, status }: Seen) =>
    status === 200 && dataset === cut.dataset && since === cut.since
  const ending = runs.at(-1)?.ending ?? ''
  if (!later.some(isRepeated))
    return problem(check, `It did not repeat ${nameOf(cut)}, whose answer was cut. ${ending}`, advice)
  const added = changed.get(cut.dataset ?? '')?.added ?? ''
  if (visible && !visible.has(added))
    return problem(check, `Its copy has no record ${added}, which was in the answer that was cut.`, advice)
  return ok(check, `It repeated ${runs.length > 1 ? 'in its next run ' : ''}the request whose answer was cut.`)
}

/** More are a loop, also of a program with many requests at a time. */
export const refusedMax = 30

export function checkRefused(run: Run): Finding {
  const check = '401'
  const tokens = run.seen.filter(({ kind }) => kind === 'token').length
  const refused = run.seen.length - tokens
  const advice = 'After a 401, request one new token and repeat once. After a second 401, stop and report it.'
  if (refused > refusedMax || tokens > 2) {
    const text = `It went on although each request was refused: ${refused} requests and ${tokens} token requests.`
    return problem(check, text, advice)
  }
  if (!run.isFailed) return problem(check, 'All requests were refused, and it ended with exit code 0.', advice)
  return ok(check, `It stopped after ${refused} refused requests. ${run.ending}`)
}

export function checkEpoch(
  run: Run,
  restored: ReadonlyMap<string, { lost: string; kept: string }>,
  visible: ReadonlySet<string> | null,
): Finding {
  const check = 'epoch'
  if (!visible) return notSeen(check)
  const advice =
    'When meta.restored_at is set, or meta.epoch is another one, delete the records that no page of the answer has.'
  if (run.isFailed) return problem(check, `It failed after a restore of the service. ${run.ending}`, advice)
  for (const dataset of datasetsRead(run)) {
    const { lost = '', kept = '' } = restored.get(dataset) ?? {}
    if (visible.has(lost)) {
      const text = `The record ${lost} of ${dataset} was lost in a restore of the service, and the copy still shows it.`
      return problem(check, text, advice)
    }
    if (!visible.has(kept)) return problem(check, `Its copy has no record ${kept} of ${dataset} any more.`, advice)
  }
  return ok(check, 'After a restore of the service its copy has what the service has.')
}

const listAdvice = 'Let the command of --visible print the ids of all records that your software shows.'

function notSeen(check: string): Finding {
  const text = 'Not checked: only your copy shows it.'
  return {
    check,
    result: 'note',
    text,
    advice: 'Give --visible a command that prints the ids of the records that your software shows.',
  }
}

function nameOf({ target }: Seen): string {
  return `GET ${quoted(decodeURIComponent(target))}`
}

/** What the program sent is shown as what it is. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 200))
}

function inSeconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
