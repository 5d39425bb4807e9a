import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ChangeKind, changeKinds, datasetNames, getDataset } from '@bridgework/contract'
import { withTransaction } from '../../../platform/database/pool.ts'
import type { TestScope, TestVendor, TestWorld } from '../../../testing/test-world.ts'
import { createLastContacts } from '../../agents/agent-contact.ts'
import { createWebhookAccess } from '../attempt.ts'
import { createEndpoint } from '../endpoint.ts'
import { createWebhookSender, type WebhookContext } from '../sender.ts'

export type Received = {
  path: string
  headers: IncomingMessage['headers']
  text: string
  body: {
    type: ChangeKind | 'test'
    timestamp: string
    sequence: number
    epoch: string
    data: { id: string; type: string; attributes: Record<string, unknown> }
  }
}
type Answer = (response: ServerResponse, message: Received) => unknown

/** A vendor's server on loopback. Answers 204 until the test sets another answer. */
export async function someReceiver(t: TestScope) {
  const received: Received[] = []
  const state: { answer: Answer; connections: number } = {
    answer: (response) => response.writeHead(204).end(),
    connections: 0,
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const message = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) }
    received.push(message)
    state.answer(response, message)
  })
  server.on('connection', () => {
    state.connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    state,
    answer: (next: Answer) => {
      state.answer = next
    },
    /** What was received of this row. */
    of: (id: string) => received.filter(({ body }) => body.data.id === id),
  }
}

/** What a sender of this world's database works with. `timeoutMs`: how long an endpoint may take. */
export function senderContext(world: TestWorld, options: { timeoutMs?: number; allowPrivate?: boolean } = {}) {
  const now = () => new Date()
  return {
    ...{ pool: world.pool, secretKey: world.secretKey, log: world.log, now },
    access: createWebhookAccess({ allowPrivate: true, ...options }),
    previewDatasets: new Set(datasetNames.filter((name) => getDataset(name).preview)),
    lastContactOf: createLastContacts({ pool: world.pool, now }),
  } satisfies WebhookContext
}

/** A sender that looks every few milliseconds, until the test ends. */
export function startSender(t: TestScope, context: WebhookContext) {
  const sender = createWebhookSender(context, { everyMs: 25 })
  sender.start()
  t.after(() => sender.stop())
  return sender
}

export async function addEndpoint(
  { pool, secretKey }: TestWorld,
  { companyId }: TestVendor,
  url: string,
  types: readonly ChangeKind[] = changeKinds,
) {
  return await withTransaction(pool, (client) =>
    createEndpoint(client, secretKey, { companyId, url, types, allowPrivate: true }),
  )
}

/** As if everything that waits were due. */
export async function makeDue({ ownerPool }: TestWorld): Promise<void> {
  await ownerPool.query(`update webhook_endpoint set due_at = now() - interval '1 second'`)
  await ownerPool.query(`update webhook_delivery set due_at = now() - interval '1 second'`)
}
