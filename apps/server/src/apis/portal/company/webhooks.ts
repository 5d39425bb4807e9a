import type { Webhook, WebhookAttempt } from '@bridgework/contract/portal'
import type { FactsOf } from '../../../modules/audit/in-words.ts'
import { recordAudit } from '../../../modules/audit/store.ts'
import { type Attempt, isReceived, listAttempts, requireAttempt } from '../../../modules/webhooks/attempt.ts'
import { sendAgain } from '../../../modules/webhooks/delivery.ts'
import {
  createEndpoint,
  type Endpoint,
  listEndpoints,
  pauseEndpoint,
  removeEndpoint,
  requireEndpoint,
  resumeEndpoint,
  rotateEndpointSecret,
  setEndpointTypes,
} from '../../../modules/webhooks/endpoint.ts'
import { messageIdOf, sendTest } from '../../../modules/webhooks/sender.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { Queryable } from '../../../platform/database/queryable.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { entryOf } from '../shared/audit.ts'
import type { Call, PortalContext, PortalHandlers } from '../shared/context.ts'

type Name =
  | 'listWebhooks'
  | 'addWebhook'
  | 'rotateWebhookSecret'
  | 'updateWebhook'
  | 'testWebhook'
  | 'pauseWebhook'
  | 'resumeWebhook'
  | 'removeWebhook'
  | 'listWebhookAttempts'
  | 'resendWebhook'

const attemptsShown = 25

/** Where a company is told what changed, and what came of it. */
export const webhookHandlers: PortalHandlers<Name> = {
  listWebhooks: async ({ pool }, { member }) => ({
    data: (await listEndpoints(pool, member.companyId)).map(toWebhook),
  }),

  addWebhook: async ({ pool, secretKey, webhookAccess }, call) => {
    const { url, types } = call.body
    return await withTransaction(pool, async (client) => {
      const added = await createEndpoint(client, secretKey, {
        ...{ companyId: call.member.companyId, url, types },
        allowPrivate: webhookAccess.allowPrivate,
      })
      const facts = { url: added.endpoint.url, change: 'added', types: added.endpoint.types } as const
      await recordAudit(client, entryOf(call, 'webhook.change', facts))
      return { id: added.endpoint.id, secret: added.secret }
    })
  },

  rotateWebhookSecret: ({ pool, secretKey }, call) =>
    change(pool, call, 'new secret', async (client, { id }) => ({
      id,
      secret: await rotateEndpointSecret(client, secretKey, id),
    })),

  updateWebhook: ({ pool }, call) =>
    change(pool, call, 'types', (client, { id }) => setEndpointTypes(client, id, call.body.types).then(done), {
      types: call.body.types,
    }),

  // It is on record before it is sent, because sending can take a while.
  testWebhook: async ({ pool, secretKey, webhookAccess, now }, call) => {
    const id = await change(pool, call, 'tested', async (_, endpoint) => endpoint.id)
    return toAttempt(await sendTest({ pool, secretKey, access: webhookAccess, now }, id))
  },

  pauseWebhook: ({ pool }, call) =>
    change(pool, call, 'paused', (client, { id }) => pauseEndpoint(client, id).then(done)),

  resumeWebhook: ({ pool }, call) =>
    change(pool, call, 'resumed', (client, { id }) => resumeEndpoint(client, id).then(done)),

  removeWebhook: ({ pool }, call) =>
    change(pool, call, 'removed', (client, { id }) => removeEndpoint(client, id).then(done)),

  listWebhookAttempts: async ({ pool }, { member, params, query }) => {
    const before = query.before || null
    if (before !== null && !/^\d{1,18}$/.test(before)) throw new Problem('parameter_invalid')
    const { id } = await requireEndpoint(pool, member.companyId, params.webhook_id ?? '')
    const found = await listAttempts(pool, id, { before, limit: attemptsShown + 1 })
    const data = found.slice(0, attemptsShown)
    return { data: data.map(toAttempt), next_before: found.length > attemptsShown ? (data.at(-1)?.id ?? null) : null }
  },

  resendWebhook: ({ pool }, call) =>
    change(pool, call, 'sent again', async (client, { id }) => {
      const attempt = await requireAttempt(client, id, call.params.attempt_id ?? '')
      // A test is of no row.
      if (attempt.sequence === null) throw new Problem('not_found')
      await sendAgain(client, id, attempt)
      return done()
    }),
}

const done = () => ({ done: true }) as const

/** Does something with the endpoint of the path and puts it on record, all of it or nothing. */
async function change<Answer>(
  pool: PortalContext['pool'],
  call: Pick<Call<Name>, 'member' | 'person' | 'params' | 'ip' | 'requestId'>,
  what: FactsOf<'webhook.change'>['change'],
  act: (client: Queryable, endpoint: Endpoint) => Promise<Answer>,
  facts: Pick<FactsOf<'webhook.change'>, 'types'> = {},
): Promise<Answer> {
  return await withTransaction(pool, async (client) => {
    const endpoint = await requireEndpoint(client, call.member.companyId, call.params.webhook_id ?? '', { hold: true })
    const answer = await act(client, endpoint)
    await recordAudit(client, entryOf(call, 'webhook.change', { url: endpoint.url, change: what, ...facts }))
    return answer
  })
}

function toWebhook(endpoint: Endpoint & { pending: number }): Webhook {
  const { stoppedBecause, failingSince } = endpoint
  return {
    id: endpoint.id,
    url: endpoint.url,
    types: endpoint.types,
    created_at: endpoint.createdAt.toISOString(),
    state: stoppedBecause !== null ? 'stopped' : failingSince !== null ? 'failing' : 'active',
    stopped_because: stoppedBecause,
    failing_since: failingSince?.toISOString() ?? null,
    attempted_at: endpoint.attemptedAt?.toISOString() ?? null,
    pending: endpoint.pending,
    previous_secret_until: endpoint.previousUntil?.toISOString() ?? null,
  }
}

function toAttempt(attempt: Attempt): WebhookAttempt {
  return {
    id: attempt.id,
    message_id: messageIdOf(attempt.messageId),
    sequence: attempt.sequence,
    type: attempt.type,
    row_id: attempt.rowId,
    attempted_at: attempt.attemptedAt.toISOString(),
    duration_ms: attempt.durationMs,
    is_received: isReceived(attempt),
    status: attempt.status,
    failure: attempt.failure,
    answer: attempt.answer,
  }
}
