import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { portalPages } from '@bridgework/contract/portal'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pageHeaders } from './page-headers.ts'

type SendPage = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * Sends the one document that loads the portal, which shows the page of the address. It says whether this is a sandbox, so that no page waits for
 * it. `dir`: where the pages were built.
 */
export function createPageSender({
  dir,
  publicUrl,
  environment,
}: {
  dir: string
  publicUrl: string
  environment: 'sandbox' | 'production'
}): SendPage {
  return async (_request, reply) => {
    const nonce = randomBytes(16).toString('base64')
    // Read every time: the pages may be built anew under a server that runs.
    const page = await readFile(join(dir, 'index.html'), 'utf8').catch(() => null)
    if (page === null) return reply.code(503).type('text/plain; charset=utf-8').send(notBuilt)
    return reply
      .headers(pageHeaders(nonce, publicUrl))
      .type('text/html; charset=utf-8')
      .send(
        page
          .replace(/(<meta name="csp-nonce" content=")/, `$1${nonce}`)
          .replace(/(<meta name="environment" content=")/, `$1${environment}`),
      )
  }
}

/** Whether a person followed a link to an address without a page: not a program, and not a path of an API or of a file. */
export function isPageRequest(request: FastifyRequest): boolean {
  const isOfProgram = /^\/(?:api|ingest|portal|attribution|assets|docs|downloads|\.well-known)(?:[/?]|$)/.test(
    request.url,
  )
  return request.method === 'GET' && acceptsHtml(request) && !isOfProgram
}

/**
 * Serves the portal: its files under /assets, whose names change with their content, the program that checks an export of disclosures, and at
 * each address of a page the one document that loads them. At `/` a program that asks for no HTML gets `about` instead. `dir`: where the pages were built.
 */
export async function registerPortalPages(
  app: FastifyInstance,
  { dir, sendPage, about }: { dir: string; sendPage: SendPage; about: object },
): Promise<void> {
  await app.register(fastifyStatic, {
    root: join(dir, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply) => void reply.header('Cache-Control', 'public, max-age=31536000, immutable'),
  })
  app.get('/favicon.svg', async (_request, reply) =>
    reply
      .headers({ 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=86400' })
      .send(await readFile(join(dir, 'favicon.svg'))),
  )
  app.get('/verify-disclosures.mjs', async (_request, reply) =>
    reply
      .headers({ 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-cache' })
      .send(await readFile(join(dir, 'verify-disclosures.mjs'))),
  )
  for (const path of portalPages) {
    app.get(path, async (request, reply) => {
      reply.header('Vary', 'Accept')
      return path === '/' && !acceptsHtml(request) ? about : await sendPage(request, reply)
    })
  }
}

const notBuilt = 'The portal’s pages have not been built: start the server with "npm start", which builds them.\n'

function acceptsHtml(request: FastifyRequest): boolean {
  return (request.headers.accept ?? '').includes('text/html')
}
