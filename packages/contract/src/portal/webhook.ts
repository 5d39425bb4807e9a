import type { ChangeKind } from '../changes.ts'
import type { Done, Instant } from './answer.ts'
import type { Route } from './route-entry.ts'

/** Where a company is told what changed. */
export type Webhook = {
  id: string
  url: string
  types: ChangeKind[]
  created_at: Instant
  /** `failing`: attempts failed since the last success. `stopped`: nothing is sent until a person resumes it. */
  state: 'active' | 'failing' | 'stopped'
  /** `person`: paused. `failing`: five days without a success. `gone`: it answered 410. Null: it is not stopped. */
  stopped_because: 'person' | 'failing' | 'gone' | null
  failing_since: Instant | null
  attempted_at: Instant | null
  /** Messages that wait. */
  pending: number
  /** Until then the secret before signs too; null: there is one secret. */
  previous_secret_until: Instant | null
}

/** An attempt at sending a message. `status` is null where no answer came, and `failure` says why, as the end of a sentence. */
export type WebhookAttempt = {
  id: string
  message_id: string
  /** Null: a test. */
  sequence: string | null
  type: string
  row_id: string
  attempted_at: Instant
  duration_ms: number
  is_received: boolean
  status: number | null
  failure: string | null
  /** The first 1,024 bytes of the answer's body. */
  answer: string | null
}

export type WebhookAnswers = {
  listWebhooks: { data: Webhook[] }
  /** The answer that holds the secret; it cannot be had again. */
  addWebhook: { id: string; secret: string }
  updateWebhook: Done
  rotateWebhookSecret: { id: string; secret: string }
  testWebhook: WebhookAttempt
  pauseWebhook: Done
  resumeWebhook: Done
  removeWebhook: Done
  /** The newest first; `next_before` is null on the last page. */
  listWebhookAttempts: { data: WebhookAttempt[]; next_before: string | null }
  resendWebhook: Done
}

const one = '/companies/:company_id/webhooks/:webhook_id'

/** The routes of a company's webhooks. */
export const webhookRoutes = {
  listWebhooks: { method: 'GET', path: '/companies/:company_id/webhooks', action: 'webhook.read' },
  addWebhook: { method: 'POST', path: '/companies/:company_id/webhooks', action: 'webhook.sign' },
  rotateWebhookSecret: { method: 'POST', path: `${one}/secret`, action: 'webhook.sign' },
  updateWebhook: { method: 'PATCH', path: one, action: 'webhook.change' },
  testWebhook: { method: 'POST', path: `${one}/test`, action: 'webhook.change' },
  pauseWebhook: { method: 'POST', path: `${one}/pause`, action: 'webhook.change' },
  resumeWebhook: { method: 'POST', path: `${one}/resume`, action: 'webhook.change' },
  removeWebhook: { method: 'DELETE', path: one, action: 'webhook.change' },
  listWebhookAttempts: { method: 'GET', path: `${one}/attempts`, action: 'webhook.read', query: ['before'] },
  resendWebhook: { method: 'POST', path: `${one}/attempts/:attempt_id/resend`, action: 'webhook.change' },
} as const satisfies Record<string, Route>
