import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port for a server that must be reached before it is there, or be back at the same address after a kill. Below the ports that a system hands
 * out by itself (Linux: from 32768, others: from 49152): no listener that asks for any port, and no outgoing connection, gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
