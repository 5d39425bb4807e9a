import { once } from 'node:events'
import { connect, createServer } from 'node:net'

export type UploadCounter = { url: string; close: () => Promise<void> }

/**
 * Stands between an agent and the server and calls `onUpload` when an upload of records goes by, with its number. Hands every byte on as it
 * is, and breaks both connections when one breaks.
 */
export async function startUploadCounter(serverUrl: string, onUpload: (count: number) => void): Promise<UploadCounter> {
  const { hostname, port } = new URL(serverUrl)
  let count = 0
  const proxy = createServer((client) => {
    const server = connect({ host: hostname, port: Number(port) })
    client.on('data', (bytes) => {
      if (!/^POST \S+\/records HTTP/.test(bytes.toString('latin1', 0, 200))) return
      count += 1
      onUpload(count)
    })
    client.pipe(server).pipe(client)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
