import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOutgoingFetch } from '../../platform/http/outgoing-fetch.ts'
import type { TestScope } from '../../test-world.ts'
import type { ProofAccess } from './domain-proof.ts'

/** A name server and a website on loopback, which stand for every domain, and how a check reaches them. */
export async function someWebsite(t: TestScope) {
  /** The TXT record of a name; 'silent': the server does not answer. */
  const records = new Map<string, string>()
  const site: { answer: RequestListener; asked: string[] } = {
    answer: (_, response) => void response.writeHead(404).end(),
    asked: [],
  }
  const names = createSocket('udp4')
  names.on('message', (query, from) => {
    const record = records.get(nameIn(query))
    if (record !== 'silent') names.send(answerTo(query, record), from.port, from.address)
  })
  names.bind(0, '127.0.0.1')
  await once(names, 'listening')
  const web = createServer((request, response) => {
    site.asked.push(request.url ?? '')
    site.answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(web, 'listening')
  t.after(async () => {
    names.close()
    web.closeAllConnections()
    await new Promise((resolve) => web.close(resolve))
  })
  const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
  const resolver = new Resolver({ timeout: 200, tries: 1 })
  resolver.setServers([`127.0.0.1:${names.address().port}`])
  const access: ProofAccess = {
    resolveTxt: (name) => resolver.resolveTxt(name),
    fetch: createOutgoingFetch({ allowPrivate: true }),
    originOf: () => origin,
  }
  /** Answers every request of the website with this text. */
  const answerWith = (text: string, status = 200, headers: Record<string, string> = {}) => {
    site.answer = (_, response) => void response.writeHead(status, headers).end(text)
  }
  return { access, records, site, answerWith, origin }
}

/** RFC 1035: the name of the question, which follows the header of 12 bytes. */
function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at]; at += 1 + (query[at] ?? 0)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  }
  return labels.join('.')
}

function answerTo(query: Buffer, record: string | undefined): Buffer {
  const question = query.subarray(12, 12 + nameIn(query).length + 2 + 4)
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  // An answer, recursion available; NXDOMAIN where the name has no record.
  header.writeUInt16BE(record === undefined ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(record === undefined ? 0 : 1, 6)
  if (record === undefined) return Buffer.concat([header, question])
  const text = Buffer.from(record)
  const fixed = Buffer.alloc(13)
  fixed.writeUInt16BE(0xc00c, 0)
  fixed.writeUInt16BE(16, 2)
  fixed.writeUInt16BE(1, 4)
  fixed.writeUInt16BE(text.length + 1, 10)
  fixed[12] = text.length
  return Buffer.concat([header, question, fixed, text])
}
