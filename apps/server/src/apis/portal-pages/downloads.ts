import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

const path = '/downloads/'

/** The client's package as the set-up packed it. */
export type ClientPackage = { url: string; sha256: string }

/** What is handed out under /downloads/: the client's package, and SHA256SUMS. `dir`: where the set-up put both. */
export async function registerDownloads(app: FastifyInstance, dir: string): Promise<void> {
  await app.register(fastifyStatic, {
    root: dir,
    prefix: path,
    decorateReply: false,
    index: false,
    dotfiles: 'ignore',
    cacheControl: false,
    // Until it is published, a name may get other content with the next start.
    setHeaders: (reply) => void reply.header('Cache-Control', 'no-cache'),
  })
}

/** Where the client's package is, and its hash; null where none was packed. */
export async function findClientPackage(dir: string, publicUrl: string): Promise<ClientPackage | null> {
  const sums = await readFile(join(dir, 'SHA256SUMS'), 'utf8').catch(() => '')
  const [, sha256, name] = /^([0-9a-f]{64}) {2}(\S+\.tgz)$/m.exec(sums) ?? []
  return sha256 && name ? { url: `${publicUrl}${path}${name}`, sha256 } : null
}
