import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ChangeRow } from './changes-resource.ts'

/** A message of a webhook. Further types may be added. */
export type WebhookMessage = {
  /** The same for each attempt at the same message. */
  id: string
  type: ChangeRow['type'] | 'test'
  timestamp: string
  /** Counts the webhook's messages. One that is left out, and does not come a little later: read `/changes`. 0: a test. */
  sequence: number
  /** Another one than before: the service was restored, and you read everything again. */
  epoch: string
  data: ChangeRow | { id: string; type: 'test'; attributes: Record<string, never> }
}

/** A message that must not be used. The text says why; it may be logged. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export type VerifyWebhookOptions = {
  /** The webhook's secret, `whsec_…`; several during a rotation. */
  secret: string | readonly string[]
  headers: WebhookHeaders
  /** The body exactly as it came: parsed and written again it is another text. */
  body: string | Uint8Array
  /** How old a message may be, and how far ahead: 300 seconds when left out. */
  toleranceSeconds?: number
  now?: () => Date
}

/**
 * Checks that a message comes from Bridgework and is not an old one, and gives what it says. As Standard Webhooks 1.0 has it: one of the signatures
 * must be by one of the secrets. Throws WebhookVerificationError; answer 400 then.
 */
export function verifyWebhook(options: VerifyWebhookOptions): WebhookMessage {
  const { secret, headers, body, toleranceSeconds = 300, now = () => new Date() } = options
  const [id, timestamp, signature] = (['id', 'timestamp', 'signature'] as const).map((name) =>
    headerOf(headers, `webhook-${name}`),
  )
  if (!id || !timestamp || !signature) throw new WebhookVerificationError('A webhook header is missing.')
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a number of seconds.')
  if (Math.abs(now().getTime() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('The message is too old, or from the future. Check your clock.')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const sent = signature
    .split(' ')
    .flatMap((each) => (each.startsWith('v1,') ? [Buffer.from(each.slice(3), 'base64')] : []))
  const expected = (typeof secret === 'string' ? [secret] : secret).map((each) =>
    createHmac('sha256', keyOf(each)).update(`${id}.${timestamp}.`).update(body).digest(),
  )
  if (!expected.some((own) => sent.some((each) => each.length === own.length && timingSafeEqual(each, own))))
    throw new WebhookVerificationError(
      'No signature is by this secret. Check the secret, and that the body is as it came.',
    )
  const message = parse(text)
  return { ...message, id }
}

/** The headers of a message, as the service signs it. */
export function signWebhook(secret: string, { id, body, now }: { id: string; body: string; now: Date }) {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  // An empty key would let anyone sign.
  if (key.length < 16) throw new WebhookVerificationError('The secret is not one of a webhook: it begins with whsec_.')
  return key
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : found?.[0]
}

function parse(text: string): Omit<WebhookMessage, 'id'> {
  try {
    const message: unknown = JSON.parse(text)
    // The signature says that the service wrote it.
    if (typeof message === 'object' && message !== null) return message as Omit<WebhookMessage, 'id'>
  } catch {
    // Told below.
  }
  throw new WebhookVerificationError('The body is not JSON.')
}
