import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api-error.ts'
import type { Bridgework } from '../bridgework.ts'
import type { ChangeRow } from '../changes-resource.ts'
import { signWebhook } from '../webhook.ts'
import type { Command } from './context.ts'
import { UsageError } from './usage-error.ts'

/** A message that waits, with the row as it was last seen. */
type Waiting = { row: ChangeRow; epoch: string | null; id: string; sequence: number }

const answeredWithinMs = 15_000
const retryMs = { first: 1_000, max: 30_000 }
/** Between two requests for changes where one failed. */
const pauseMs = 5_000

export const listen: Command = {
  summary: 'send what changes to a server of yours, as a webhook does',
  usage: '--forward <url> [--secret <whsec_…>]',
  details: [
    'For a server on your own computer, which Bridgework cannot reach: follows the changes and sends each as a signed message, from now on. What fails is sent again, as it is then, until it is received.',
    'Without --secret it makes one and prints it.',
  ],
  options: {
    forward: { value: 'url', summary: 'where to send messages, such as http://localhost:3000/hook' },
    secret: { value: 'whsec_…', summary: 'what signs messages' },
  },
  argsMax: 0,
  async run({ options, client, signal, json, write, say }) {
    const url = requireUrl(options.text('forward'))
    const secret = options.text('secret') ?? `whsec_${randomBytes(32).toString('base64')}`
    // Refuses a secret that is none before anything is asked.
    signWebhook(secret, { id: '', body: '', now: new Date() })
    const waiting = new Map<string, Waiting>()
    let wake = () => {}
    let sequence = 0
    const add = (rows: readonly ChangeRow[], epoch: string | null) => {
      for (const row of rows) {
        const name = `${row.type} ${row.id}`
        const before = waiting.get(name)
        if (!before) sequence += 1
        waiting.set(name, { row, epoch, id: `msg_${randomUUID()}`, sequence: before?.sequence ?? sequence })
      }
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
      return await Promise.race([follow(client(), ended, add, say), send()])
    } finally {
      ending.abort()
    }
  },
}

/** Adds what changes from now on. After a failure it goes on from where it was. */
async function follow(
  client: Bridgework,
  signal: AbortSignal,
  add: (rows: readonly ChangeRow[], epoch: string | null) => void,
  say: (text: string) => void,
): Promise<never> {
  let after: string | undefined
  let hasBegun = false
  for (;;) {
    try {
      for await (const page of client.changes.follow({ signal, ...(after !== undefined && { after }) })) {
        after = page.next
        // What there is at the beginning is no news.
        if (hasBegun) add(page.news, page.epoch)
        else if (!page.hasMore) {
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
