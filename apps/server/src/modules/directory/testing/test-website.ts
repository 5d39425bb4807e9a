import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOutgoing, type OutgoingOptions } from '../../../platform/outgoing/outgoing.ts'
import { someNameServer } from '../../../platform/outgoing/testing/test-name-server.ts'
import type { TestScope } from '../../../testing/test-world.ts'
import type { ProofAccess } from '../domain-proof.ts'

/** A name server and a website on loopback, which stand for every domain, and how a check reaches them. */
export async function someWebsite(t: TestScope, options: Partial<OutgoingOptions> = {}) {
  const { texts: records, address } = await someNameServer(t)
  const site: { answer: RequestListener; asked: string[] } = {
    answer: (_, response) => void response.writeHead(404).end(),
    asked: [],
  }
  const web = createServer((request, response) => {
    site.asked.push(request.url ?? '')
    site.answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(web, 'listening')
  t.after(async () => {
    web.closeAllConnections()
    await new Promise((resolve) => web.close(resolve))
  })
  const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
  const access: ProofAccess = {
    ...createOutgoing({ allowPrivate: true, timeoutMs: 2_000, nameServers: [address], ...options }),
    originOf: () => origin,
  }
  /** Answers every request of the website with this text. */
  const answerWith = (text: string, status = 200, headers: Record<string, string> = {}) => {
    site.answer = (_, response) => void response.writeHead(status, headers).end(text)
  }
  return { access, records, site, answerWith, origin }
}
