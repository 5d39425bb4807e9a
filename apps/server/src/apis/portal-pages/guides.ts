import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { pageHeaders } from './page-headers.ts'

/**
 * Serves the guides, as they were built into `dir`: /guides is the first page, /guides/NAME another one, and NAME.md its Markdown. A browser keeps a
 * page and asks whether it has changed; files under /guides/assets have names that change with their content. /llms.txt lists all of it for assistants.
 */
export async function registerGuides(
  app: FastifyInstance,
  { dir, publicUrl }: { dir: string; publicUrl: string },
): Promise<void> {
  const headers = pageHeaders(null, publicUrl)
  await app.register(fastifyStatic, {
    root: join(dir, 'assets'),
    prefix: '/guides/assets/',
    decorateReply: false,
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply) => void reply.header('Cache-Control', 'public, max-age=31536000, immutable'),
  })
  await app.register(async (guides) => {
    await guides.register(fastifyStatic, {
      root: join(dir, 'pages'),
      serve: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: (reply) => void reply.headers({ ...headers, 'Cache-Control': 'no-cache' }),
    })
    const send = (reply: FastifyReply, name: string) => {
      const [, page, markdown] = /^([a-z\d-]{1,80}(?:\/[a-z\d-]{1,80})?)(\.md)?$/.exec(name) ?? []
      return page ? reply.sendFile(`${page}${markdown ?? '.html'}`) : reply.callNotFound()
    }
    guides.get('/guides', (_request, reply) => send(reply, 'index'))
    guides.get<{ Params: { '*': string } }>('/guides/*', (request, reply) =>
      send(reply, request.params['*'] || 'index'),
    )
  })
  app.get('/llms.txt', async (_request, reply) => {
    // Read every time: the guides may be built anew under a server that runs.
    const text = await readFile(join(dir, 'llms.txt'), 'utf8').catch(() => null)
    if (text === null) return reply.callNotFound()
    return reply
      .headers({ 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-cache' })
      .send(text.replaceAll('](/', `](${publicUrl}/`))
  })
}
