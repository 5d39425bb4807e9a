import { createHmac, randomBytes } from 'node:crypto'

/** A secret of Standard Webhooks: 256 random bits in base64 behind `whsec_`. */
export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(32).toString('base64')}`
}

/** The headers of Standard Webhooks 1.0 (https://www.standardwebhooks.com), with a signature by each secret. */
export function signedHeaders(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: Date; body: string },
): Record<string, string> {
  const seconds = Math.floor(timestamp.getTime() / 1000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') }
}

const prefix = 'whsec_'
