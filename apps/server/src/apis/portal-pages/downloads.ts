import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

const path = '/downloads/'
/** Packages of the client and of the agent. Whatever else is in the operator's folder is not handed out. */
const offered = /^bridgework-(?:agent|client)[-_][\w.+~-]+$/
const sumsName = 'SHA256SUMS'

/** The client's package as the set-up packed it. */
export type ClientPackage = { url: string; sha256: string }

/**
 * What is handed out under /downloads/: packages of client and agent, and their hashes in SHA256SUMS. `dirs`: where the set-up put what it packs, and
 * the folder of the operator, with the installers of a release.
 */
export async function registerDownloads(app: FastifyInstance, dirs: readonly string[]): Promise<void> {
  // The guides' address of the client, which stays the same from release to release.
  app.get(`${path}bridgework-client.tgz`, async (_request, reply) => {
    const client = await findClientPackage(dirs[0] ?? '', '')
    return client ? reply.header('Cache-Control', 'no-cache').redirect(client.url) : reply.callNotFound()
  })
  app.get(`${path}${sumsName}`, async (_request, reply) => {
    const texts = await Promise.all(dirs.map((dir) => readFile(join(dir, sumsName), 'utf8').catch(() => '')))
    const lines = texts.flatMap((text) => text.split('\n')).filter((line) => offered.test(line.split('  ')[1] ?? ''))
    return reply
      .headers({ 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' })
      .send([...new Set(lines)].map((line) => `${line}\n`).join(''))
  })
  await app.register(fastifyStatic, {
    root: [...dirs],
    prefix: path,
    decorateReply: false,
    index: false,
    dotfiles: 'ignore',
    allowedPath: (name) => offered.test(name.replace(/^\//, '')),
    cacheControl: false,
    // Until it is published, a name may get other content with the next start.
    setHeaders: (reply) => void reply.header('Cache-Control', 'no-cache'),
  })
}

/** Where the client's package is, and its hash; null where none was packed. */
export async function findClientPackage(dir: string, publicUrl: string): Promise<ClientPackage | null> {
  const sums = await readFile(join(dir, sumsName), 'utf8').catch(() => '')
  const [, sha256, name] = /^([0-9a-f]{64}) {2}(bridgework-client-\S+\.tgz)$/m.exec(sums) ?? []
  return sha256 && name ? { url: `${publicUrl}${path}${name}`, sha256 } : null
}

/** The names of the agent's packages that are handed out. */
export async function listAgentPackages(dirs: readonly string[]): Promise<string[]> {
  const names = await Promise.all(dirs.map((dir) => readdir(dir).catch(() => [])))
  return [...new Set(names.flat())].filter((name) => offered.test(name) && name.startsWith('bridgework-agent')).sort()
}
