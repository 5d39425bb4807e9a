import type { World } from '../world/practice.ts'
import { startDirectus } from './directus.ts'
import type { Peer } from './peer.ts'
import { startPostgraphile } from './postgraphile.ts'

/** Starts the peers that are installed. One that does not start is named and left out: the others are measured. */
export async function startPeers(world: World, say: (text: string) => void): Promise<Peer[]> {
  const peers: Peer[] = []
  for (const [who, start] of [
    ['PostGraphile', startPostgraphile],
    ['Directus', startDirectus],
  ] as const) {
    try {
      const peer = await start(world)
      if (peer) peers.push(peer)
      say(peer ? `${who} has started` : `${who} is not installed: see bench/README.md`)
    } catch (error) {
      say(`${who} did not start: ${error instanceof Error ? error.message : error}`)
    }
  }
  return peers
}
