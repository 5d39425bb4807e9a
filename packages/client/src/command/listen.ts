import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api-error.ts'
import type { Bridgework } from '../bridgework.ts'
import type { ChangeRow } from '../changes-resource.ts'
import { signWebhook } from '../webhook.ts'
import type { Command } from './context.ts'
import { openStateFile, stateFileOf } from './state-file.ts'
import { UsageError } from './usage-error.ts'

/** A message that waits, with the row as it was last seen. */
type Waiting = { row: ChangeRow; epoch: string | null; id: string; sequence: number }

const answeredWithinMs = 15_000
const retryMs = { first: 1_000, max: 30_000 }
/** Between two requests for changes where one failed. */
const pauseMs = 5_000

export const listen: Command = {
  summary: 'send what changes to a server of yours, as a webhook does',
  usage: '--forward <url> [--secret <whsec_…>] [--state <file>]',
  details: [
    'For a server on your own computer, which Bridgework cannot reach: follows the changes and sends each as a signed message. What fails is sent again, as it is then, until it is received.',
    'The first run starts with changes from now on; a later run to the same address continues where the last one stopped. It may send a message again.',
    'Without --secret it makes one, prints it, and uses it in later runs too.',
  ],
  options: {
    forward: { value: 'url', summary: 'where to send messages, such as http://localhost:3000/hook' },
    secret: { value: 'whsec_…', summary: 'what signs messages' },
    state: { value: 'file', summary: 'where it keeps how far it is; beside the credentials when left out' },
    anew: { summary: 'begin now, whatever was kept' },
  },
  argsMax: 0,
  async run({ options, env, client: open, signal, json, write, say }) {
    const url = requireUrl(options.text('forward'))
    // Refuses a secret that is none before anything is asked.
    const given = options.text('secret')
    if (given !== undefined) signWebhook(given, { id: '', body: '', now: new Date() })
    const client = open()
    const { baseUrl } = client
    const file = options.text('state') ?? stateFileOf(env, 'listen', [baseUrl, url])
    const state = await openStateFile(file, { command: 'listen', baseUrl, isAnew: options.flag('anew'), isState })
    // Written below, whole or not at all.
    const kept = state.kept as Kept | null
    const secret = given ?? kept?.secret ?? `whsec_${randomBytes(32).toString('base64')}`
    const waiting = new Map<string, Waiting>()
    let wake = () => {}
    let sequence = kept?.sequence ?? 0
    /** Where the latest page ends, and what was received of all pages before. */
    let [after, received] = [kept?.after, kept?.after]
    const keep = async () => {
      if (waiting.size === 0) received = after
      if (received !== undefined) await state.keep({ after: received, sequence, secret } satisfies Kept)
    }
    const add = async (rows: readonly ChangeRow[], epoch: string | null, next: string) => {
      for (const row of rows) {
        const name = `${row.type} ${row.id}`
        const before = waiting.get(name)
        if (!before) sequence += 1
        waiting.set(name, { row, epoch, id: `msg_${randomUUID()}`, sequence: before?.sequence ?? sequence })
      }
      after = next
      await keep()
      wake()
    }
    say(`Messages go to ${url}. Their secret is ${secret}`)
    const ending = new AbortController()
    const ended = AbortSignal.any([signal, ending.signal])
    ended.addEventListener('abort', () => wake())
    const send = async () => {
      for (let failures = 0; ; ) {
        const [next] = waiting
        if (!next) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          ended.throwIfAborted()
          continue
        }
        const [name, message] = next
        const outcome = await post(url, secret, message, ended)
        if (outcome.isReceived) {
          failures = 0
          if (waiting.get(name) === message) waiting.delete(name)
          await keep()
        } else {
          failures += 1
          // The others come first.
          const latest = waiting.get(name)
          waiting.delete(name)
          if (latest) waiting.set(name, latest)
        }
        await write(lineOf(json, message, outcome.what))
        if (!outcome.isReceived)
          await sleep(Math.min(retryMs.first * 2 ** (failures - 1), retryMs.max), undefined, { signal: ended })
      }
    }
    try {
      return await Promise.race([follow(client, ended, after, add, say), send()])
    } finally {
      ending.abort()
      await state.close()
    }
  },
}

/** What is kept of a run: the cursor up to which everything was received, and what its messages had. */
type Kept = { after: string; sequence: number; secret: string }

function isState({ after, sequence, secret }: Record<string, unknown>): boolean {
  return typeof after === 'string' && Number.isSafeInteger(sequence) && typeof secret === 'string'
}

/** Adds what changes after a cursor, or from now on. After a failure it goes on from where it was. */
async function follow(
  client: Bridgework,
  signal: AbortSignal,
  kept: string | undefined,
  add: (rows: readonly ChangeRow[], epoch: string | null, next: string) => Promise<void>,
  say: (text: string) => void,
): Promise<never> {
  let after = kept
  let hasBegun = kept !== undefined
  if (hasBegun) say('Listening from where the last run stopped. Ctrl-C ends it.')
  for (;;) {
    try {
      for await (const page of client.changes.follow({ signal, ...(after !== undefined && { after }) })) {
        after = page.next
        // What there is at the beginning is no news.
        if (hasBegun) await add(page.news, page.epoch, page.next)
        else if (!page.hasMore) {
          await add([], page.epoch, page.next)
          hasBegun = true
          say('Listening. Ctrl-C ends it.')
        }
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401 || error.status === 404) throw error
      say(error.message)
      await sleep(pauseMs, undefined, { signal })
    }
  }
}

async function post(url: string, secret: string, { row, epoch, id, sequence }: Waiting, signal: AbortSignal) {
  const now = new Date()
  const body = JSON.stringify({ type: row.type, timestamp: now, sequence, epoch, data: row })
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...signWebhook(secret, { id, body, now }) },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(answeredWithinMs)]),
    })
    await answer.body?.cancel()
    return { isReceived: answer.ok, what: String(answer.status) }
  } catch {
    signal.throwIfAborted()
    return { isReceived: false, what: 'no answer' }
  }
}

function lineOf(json: boolean, { row, sequence }: Waiting, answer: string): string {
  if (json) return `${JSON.stringify({ answer, sequence, type: row.type, id: row.id })}\n`
  return `${new Date().toISOString()}  ${answer}  ${row.type} ${row.id}\n`
}

function requireUrl(text: string | undefined): string {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError('--forward must be an address, such as http://localhost:3000/hook.')
  return url.href
}
