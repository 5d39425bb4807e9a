import type { DatasetName } from '../../dataset-resource.ts'
import type { Finding } from '../finding.ts'
import {
  checkCut,
  checkEpoch,
  checkLastPage,
  checkRefused,
  checkRemovals,
  checkRetryAfter,
  checkToken,
  checkWatermark,
  datasetsRead,
  type Run,
  refusedMax,
} from './checks.ts'
import { type Ended, runProgram } from './program.ts'
import { createPractice } from './simulated-practice.ts'
import { type Fault, type Seen, startService } from './simulated-service.ts'

export type IntegrationCheck = {
  /** The program that syncs, and its arguments. It ends when its copy is up to date. */
  program: readonly string[]
  /** A line for the shell that prints the ids of the records that the copy shows; null: that is not checked. */
  visible: string | null
  datasets: readonly DatasetName[]
  /** How long one run may take. */
  withinMs: number
  env: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
  onRun: (what: string) => void
}

const retryAfterSeconds = { 429: 2, 503: 1 } as const

/**
 * Runs a vendor's program again and again against a simulated service on this computer, and finds out how it deals with what happens to any sync.
 * Gives eight findings, or one when its first run fails.
 */
export async function checkIntegration(options: IntegrationCheck): Promise<Finding[]> {
  const { program, visible: visibleCommand, withinMs, signal, onRun } = options
  const practice = createPractice(options.datasets)
  const service = await startService(practice)
  const env = { ...options.env, ...settingsOf(service), ...noProxy(options.env) }
  const run = async (what: string, faultOf?: (request: Seen) => Fault | null, stop = signal): Promise<Run> => {
    onRun(what)
    service.beginRun(faultOf)
    const ended = await runProgram(program, { env, withinMs, stop })
    signal.throwIfAborted()
    return { seen: service.seen(), ending: endingOf(ended), isFailed: ended.how !== 'exited' || ended.code !== 0 }
  }
  const readVisible = async (): Promise<ReadonlySet<string> | null> => {
    if (visibleCommand === null) return null
    const ended = await runProgram([visibleCommand], { env, withinMs, stop: signal, isShell: true })
    signal.throwIfAborted()
    if (ended.code !== 0) throw new VisibleError(`The command of --visible failed. ${endingOf(ended)}`)
    return new Set(ended.output.match(/\d+/g))
  }
  try {
    const first = await run('the first copy')
    if (first.isFailed || datasetsRead(first).length === 0) return [notRun(first)]
    const lastIds = new Map(practice.granted.map((each) => [each, practice.recordsOf(each).at(-1)?.id ?? '']))
    const lastPage = checkLastPage(first, { visible: await readVisible(), lastIds })

    const changed = practice.change()
    const second = await run('changes and removals')
    const watermark = checkWatermark(first, second)
    const removals = checkRemovals(first, changed, await readVisible())

    practice.change()
    const refused: { request: Seen; seconds: number }[] = []
    const retried = await run('429 and 503', (request) => {
      const [{ request: earlier } = { request: null }] = refused
      const isDue = request.kind === 'list' || request.kind === 'export'
      if (!isDue || refused.length > 1 || (earlier && earlier.target !== request.target)) return null
      const status = earlier ? 503 : 429
      refused.push({ request, seconds: retryAfterSeconds[status] })
      return { status, retryAfterSeconds: retryAfterSeconds[status] }
    })
    const retryAfter = refused.length === 0 ? notAsked('Retry-After', retried) : checkRetryAfter(retried, refused)

    const cut = await checkOneCut()

    const loop = new AbortController()
    const stop = AbortSignal.any([signal, loop.signal])
    const denied = await run(
      '401',
      () => {
        if (service.seen().length > 2 * refusedMax) loop.abort()
        return { status: 401 }
      },
      stop,
    )

    const restored = practice.restore()
    const last = await run('a restore of the service')
    const epoch = checkEpoch(last, restored, await readVisible())
    const token = checkToken([first, second, retried, ...cut.runs, last])
    return [token, retryAfter, lastPage, watermark, removals, cut.finding, checkRefused(denied), epoch]
  } finally {
    await service.close()
  }

  async function checkOneCut(): Promise<{ finding: Finding; runs: Run[] }> {
    const changed = practice.change()
    const requests: Seen[] = []
    const runs = [
      await run('an answer that is cut', (request) => {
        if (requests.length > 0 || (request.kind !== 'list' && request.kind !== 'export')) return null
        requests.push(request)
        return 'cut'
      }),
    ]
    const [request] = requests
    if (!request) return { finding: notAsked('cut', runs[0]), runs }
    // A program may leave it to its next run.
    if (runs[0]?.isFailed) runs.push(await run('the run after the one with the cut'))
    return { finding: checkCut(runs, request, changed, await readVisible()), runs }
  }
}

/** The command of `--visible` cannot be used; the message says why. */
export class VisibleError extends Error {
  override readonly name = 'VisibleError'
}

function settingsOf({ baseUrl, clientId, clientSecret }: { baseUrl: string; clientId: string; clientSecret: string }) {
  return {
    BRIDGEWORK_BASE_URL: baseUrl,
    BRIDGEWORK_CLIENT_ID: clientId,
    BRIDGEWORK_CLIENT_SECRET: clientSecret,
  }
}

/** A proxy of the network cannot reach this computer's own address. */
function noProxy({ NO_PROXY, no_proxy: given = NO_PROXY }: Readonly<Record<string, string | undefined>>) {
  const names = given ? `${given},127.0.0.1` : '127.0.0.1'
  return { NO_PROXY: names, no_proxy: names }
}

function endingOf({ how, code, lastLine }: Ended): string {
  const said = lastLine === '' ? '.' : `: ${lastLine}`
  if (how === 'timed out') return `It did not end in time and was stopped${said}`
  if (how === 'stopped') return 'It was stopped.'
  return code === null ? `A signal ended it${said}` : `It ended with exit code ${code}${said}`
}

function notRun(first: Run): Finding {
  const advice =
    'Let the program read its address and key pair from BRIDGEWORK_BASE_URL, BRIDGEWORK_CLIENT_ID and BRIDGEWORK_CLIENT_SECRET, and begin with an empty copy.'
  const what = first.isFailed ? 'The first run failed.' : 'The first run read no dataset.'
  return { check: 'first run', result: 'problem', text: `${what} ${first.ending}`, advice }
}

function notAsked(check: string, run: Run | undefined): Finding {
  const text = `It read no dataset, although records had changed. ${run?.ending ?? ''}`
  return { check, result: 'problem', text, advice: 'Each run of the program should bring the copy up to date.' }
}
