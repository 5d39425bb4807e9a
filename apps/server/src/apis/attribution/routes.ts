import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { createPageViewReceiver } from '../../modules/attribution/page-view.ts'
import { attributionScript } from '../../modules/attribution/script.ts'
import { findScriptByKey } from '../../modules/attribution/store.ts'
import type { Log } from '../../platform/log/log-event.ts'

/**
 * HTTP under /attribution, for browsers on practices' websites: GET <key>.js is a location's script, POST <key> its page view. No cookie is
 * read or set, and nothing is asked of a visitor.
 */
export function registerAttribution(
  app: FastifyInstance,
  deps: { pool: Pool; publicUrl: string; now: () => Date; log: Log },
): void {
  const receive = createPageViewReceiver(deps)
  // Whatever a page sends along is not looked at.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, undefined))
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' })
  })

  app.get<{ Params: { script: string } }>('/:script', async (request, reply) => {
    const key = /^([\w-]{22})\.js$/.exec(request.params.script)?.[1]
    const script = key === undefined ? null : await findScriptByKey(deps.pool, key)
    // Also a script that is gone is one: a website that still carries it gets no error but this line, and asks again no sooner.
    const text = script ? attributionScript(deps.publicUrl, script) : '// There is no such attribution script.\n'
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
    reply.headers({
      'Cache-Control': 'public, max-age=300',
      ETag: etag,
      'Content-Type': 'text/javascript; charset=utf-8',
    })
    if (!script) return reply.code(404).send(text)
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text)
  })

  app.post<{ Params: { script: string } }>('/:script', { bodyLimit: 1024 }, async (request, reply) => {
    await receive({ key: request.params.script, origin: request.headers.origin, ip: request.clientIp })
    return reply.code(204).send()
  })
}
