import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'
import type { TestScope } from '../../../testing/test-world.ts'

/** A name server on loopback. `texts`: the TXT record of a name; `addresses`: those of a name; 'silent': it does not answer. */
export async function someNameServer(t: TestScope) {
  const texts = new Map<string, string>()
  const addresses = new Map<string, string[] | 'silent'>()
  /** Name and type (1: A, 16: TXT, 28: AAAA) of each question. */
  const asked: string[] = []
  const server = createSocket('udp4')
  server.on('message', (query, from) => {
    const name = nameIn(query)
    const type = query.readUInt16BE(12 + name.length + 2)
    asked.push(`${name} ${type}`)
    const known = type === 16 ? texts.get(name) : addresses.get(name)
    if (known === 'silent') return
    const data = typeof known === 'string' ? [textOf(known)] : known?.map(bytesOf)
    const records = data?.filter(({ length }) => type === 16 || length === (type === 1 ? 4 : 16))
    server.send(answerTo(query, name, type, records), from.port, from.address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => void server.close())
  return { texts, addresses, asked, address: `127.0.0.1:${server.address().port}` }
}

/** RFC 1035: the name of the question, which follows the header of 12 bytes. */
function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at]; at += 1 + (query[at] ?? 0)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  }
  return labels.join('.')
}

/** `records`: what the name has of this type; undefined: there is no such name (NXDOMAIN). */
function answerTo(query: Buffer, name: string, type: number, records: Buffer[] | undefined): Buffer {
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  // An answer, recursion available.
  header.writeUInt16BE(records === undefined ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records?.length ?? 0, 6)
  const answers = (records ?? []).map((data) => {
    const fixed = Buffer.alloc(12)
    fixed.writeUInt16BE(0xc00c, 0)
    fixed.writeUInt16BE(type, 2)
    fixed.writeUInt16BE(1, 4)
    fixed.writeUInt16BE(data.length, 10)
    return Buffer.concat([fixed, data])
  })
  return Buffer.concat([header, query.subarray(12, 12 + name.length + 2 + 4), ...answers])
}

function textOf(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
}

function bytesOf(address: string): Buffer {
  return Buffer.from(ipaddr.parse(address).toByteArray())
}
