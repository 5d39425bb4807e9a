import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

const path = '/downloads/'
/** Packages of the client, the agent and the server for AI assistants. Whatever else is in the operator's folder is not handed out. */
const offered = /^bridgework-(?:agent|client|mcp)[-_][\w.+~-]+$/
const sumsName = 'SHA256SUMS'

/** The client's package as the set-up packed it. */
export type ClientPackage = { url: string; sha256: string }

/**
 * What is handed out under /downloads/: these packages, and their hashes in SHA256SUMS. `dirs`: where the set-up put what it packs, and
 * the folder of the operator, with the installers of a release.
 */
export async function registerDownloads(app: FastifyInstance, dirs: readonly string[]): Promise<void> {
  // The guides' addresses, which stay the same from release to release.
  for (const name of ['client', 'mcp'] as const) {
    app.get(`${path}bridgework-${name}.tgz`, async (_request, reply) => {
      const found = await findPackage(dirs[0] ?? '', '', name)
      return found ? reply.header('Cache-Control', 'no-cache').redirect(found.url) : reply.callNotFound()
    })
  }
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
export function findClientPackage(dir: string, publicUrl: string): Promise<ClientPackage | null> {
  return findPackage(dir, publicUrl, 'client')
}

async function findPackage(dir: string, publicUrl: string, of: 'client' | 'mcp'): Promise<ClientPackage | null> {
  const sums = await readFile(join(dir, sumsName), 'utf8').catch(() => '')
  const [, sha256, name] = new RegExp(`^([0-9a-f]{64}) {2}(bridgework-${of}-\\S+\\.tgz)$`, 'm').exec(sums) ?? []
  return sha256 && name ? { url: `${publicUrl}${path}${name}`, sha256 } : null
}

/** The names of the agent's packages that are handed out. */
export async function listAgentPackages(dirs: readonly string[]): Promise<string[]> {
  const names = await Promise.all(dirs.map((dir) => readdir(dir).catch(() => [])))
  return [...new Set(names.flat())].filter((name) => offered.test(name) && name.startsWith('bridgework-agent')).sort()
}
