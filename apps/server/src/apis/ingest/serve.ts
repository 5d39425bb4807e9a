import { type IngestAnswers, type IngestRouteName, ingestRoutes } from '@bridgework/contract/ingest'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type IngestBody, openBody } from './lines/body.ts'
import type { LargeBodies } from './lines/large-bodies.ts'

type Options = Pick<RouteOptions, 'bodyLimit' | 'config' | 'onRequest'>

/** Registers a route of the contract's table. What does not answer in its shape does not compile. */
export function serve<Name extends IngestRouteName>(
  app: FastifyInstance,
  name: Name,
  options: Options,
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<IngestAnswers[Name]>,
): void {
  const { method, path } = ingestRoutes[name]
  app.route({ ...options, method, url: path, handler: answer })
}

/** Registers a route that reads its body while it arrives. */
export function serveBody<Name extends IngestRouteName>(
  app: FastifyInstance,
  name: Name,
  { largeBodies, ...options }: Options & { largeBodies: LargeBodies },
  answer: (request: FastifyRequest, body: IngestBody) => Promise<IngestAnswers[Name]>,
): void {
  serve(app, name, options, async (request) => {
    const body = openBody(request, largeBodies)
    try {
      return await answer(request, body)
    } finally {
      body.end()
    }
  })
}
