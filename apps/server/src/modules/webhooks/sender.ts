import { randomUUID } from 'node:crypto'
import { type DatasetName, datasetNames, getDataset } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { EndpointId, OrganizationId } from '../../platform/identity/identity.ts'
import type { Log } from '../../platform/log/log-event.ts'
import { createLoop } from '../../platform/loop/loop.ts'
import { listToldCompanies } from '../changes/told-company.ts'
import type { SecretKey } from '../credentials/secret.ts'
import {
  type Attempt,
  addAttempt,
  isReceived,
  type Outcome,
  recordAttempt,
  sendMessage,
  type WebhookAccess,
} from './attempt.ts'
import { claimDeliveries, type Delivery, dropDelivery, numberDelivery, releaseDelivery } from './delivery.ts'
import { findDueEndpoints, type SignedEndpoint, signedEndpoint } from './endpoint.ts'
import { createChangeFeed } from './feed.ts'
import { bodyOf, nameOf, readRows, testBody } from './message.ts'

export type WebhookContext = {
  pool: Pool
  secretKey: SecretKey
  access: WebhookAccess
  previewDatasets: ReadonlySet<DatasetName>
  lastContactOf: (organizationId: OrganizationId) => Promise<Date | null>
  now: () => Date
  log: Log
}

export type WebhookSender = { start: () => void; stop: () => Promise<void> }

/**
 * Attempts at one time. An endpoint that answered within a second last time may have several; every other one, such as a new, a slow or a failing one,
 * has one, and all of these together no more than so many. So what is slow costs only what is slow.
 */
const ofQuick = { total: 32, each: 4 }
const ofOthers = { total: 16, each: 1 }
const quickMs = 1_000

/**
 * Notes what changed, every second, and sends what waits. `when`: whether this process does it. Two at once send each message once, and more than one
 * attempt at a time to one endpoint only between them.
 */
export function createWebhookSender(
  context: WebhookContext,
  options: { everyMs?: number; when?: () => boolean } = {},
): WebhookSender {
  const { everyMs = 1_000, when = () => true } = options
  const { pool, log, previewDatasets } = context
  const datasets = datasetNames.filter((name) => !getDataset(name).preview || previewDatasets.has(name))
  const feed = createChangeFeed({ pool, datasets })
  const quick = new Set<EndpointId>()
  /** How many attempts each endpoint has under way, and in which share they count. */
  const underWay = new Map<EndpointId, number>()
  const attempts = new Set<Promise<void>>()
  const inShare = { quick: 0, others: 0 }
  let isStopping = false
  let isLookWanted = false

  const startShare = async (share: 'quick' | 'others', companyIds: Awaited<ReturnType<typeof listToldCompanies>>) => {
    const { total, each } = share === 'quick' ? ofQuick : ofOthers
    const full = [...underWay].flatMap(([id, count]) => (count >= each ? [id] : []))
    const due = await findDueEndpoints(pool, {
      companyIds,
      only: share === 'quick' ? [...quick] : null,
      except: share === 'quick' ? full : [...full, ...quick],
      limit: total - inShare[share],
    })
    for (const endpoint of due) {
      const free = Math.min(each - (underWay.get(endpoint.id) ?? 0), total - inShare[share])
      if (free <= 0) continue
      for (const delivery of await claimDeliveries(pool, endpoint.id, free)) start(share, endpoint, delivery)
    }
  }
  const start = (share: 'quick' | 'others', endpoint: SignedEndpoint, delivery: Delivery) => {
    const { id } = endpoint
    inShare[share] += 1
    underWay.set(id, (underWay.get(id) ?? 0) + 1)
    const attempt = deliver({ ...context, datasets }, endpoint, delivery)
      .then((outcome) => {
        if (outcome === null) return
        if (isReceived(outcome) && outcome.durationMs < quickMs) quick.add(id)
        else quick.delete(id)
      })
      .catch(() => {
        // The claim ends by itself. What failed is the database or the stop, and both are told elsewhere.
        quick.delete(id)
      })
      .finally(() => {
        inShare[share] -= 1
        const left = (underWay.get(id) ?? 1) - 1
        if (left === 0) underWay.delete(id)
        else underWay.set(id, left)
        attempts.delete(attempt)
        lookAgain()
      })
    attempts.add(attempt)
  }
  const startDue = async () => {
    isLookWanted = false
    if (isStopping || !when()) return
    const companyIds = await listToldCompanies(pool)
    if (companyIds.length === 0) return
    if (quick.size > 0 && inShare.quick < ofQuick.total) await startShare('quick', companyIds)
    if (inShare.others < ofOthers.total) await startShare('others', companyIds)
  }
  const sending = createLoop({ steps: { 'send webhooks': startDue }, everyMs, when, log })
  const noting = createLoop({
    steps: {
      'note changes for webhooks': async () => {
        await feed.look()
        lookAgain()
      },
    },
    ...{ everyMs, when, log },
  })
  /** What is due is looked for as soon as an attempt ends, once for all that end meanwhile. */
  function lookAgain() {
    if (isLookWanted || isStopping) return
    isLookWanted = true
    void sending.run()
  }
  return {
    start() {
      sending.start()
      noting.start()
    },
    async stop() {
      isStopping = true
      await Promise.all([noting.stop(), sending.stop()])
      await Promise.all(attempts)
    },
  }
}

/** Sends one claimed delivery as its row is now. Null: there was nothing to send any more. */
async function deliver(
  context: WebhookContext & { datasets: readonly DatasetName[] },
  endpoint: SignedEndpoint,
  delivery: Delivery,
): Promise<Outcome | null> {
  const { pool, now } = context
  try {
    const row = (await readRows(context, endpoint.companyId, [delivery])).get(nameOf(delivery.type, delivery.rowId))
    if (!row) {
      await dropDelivery(pool, endpoint.id, delivery)
      return null
    }
    const sequence = delivery.sequence ?? (await numberDelivery(pool, endpoint.id, delivery))
    const timestamp = now()
    const message = { id: messageIdOf(delivery.messageId), body: await bodyOf(context, row, sequence, timestamp) }
    const outcome = await sendMessage(context, endpoint, message, timestamp)
    await recordAttempt(pool, endpoint, { ...delivery, sequence }, outcome)
    return outcome
  } catch (error) {
    await releaseDelivery(pool, endpoint.id, delivery).catch(() => {})
    throw error
  }
}

/** Sends a test to an endpoint now, also while it is stopped, and puts it on the endpoint's list. Changes nothing else. */
export async function sendTest(
  context: Pick<WebhookContext, 'pool' | 'secretKey' | 'access' | 'now'>,
  endpointId: EndpointId,
): Promise<Attempt> {
  const { pool, now } = context
  const endpoint = await signedEndpoint(pool, endpointId)
  const [messageId, timestamp] = [randomUUID(), now()]
  const message = { id: messageIdOf(messageId), body: await testBody(pool, timestamp) }
  const outcome = await sendMessage(context, endpoint, message, timestamp)
  return await addAttempt(pool, endpointId, { type: 'test', rowId: 'test', messageId, sequence: null }, outcome)
}

/** As headers show it. */
export function messageIdOf(messageId: string): string {
  return `msg_${messageId}`
}
