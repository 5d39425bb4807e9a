import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Problem } from '../errors/problem.ts'
import type { Log } from '../log/log-event.ts'
import type { LoadWatch } from '../memory/load-watch.ts'
import { acceptJsonBodies } from './body/json-body.ts'
import { refuseMalformed } from './body/malformed-request.ts'
import { createClientAddress, createIsHttps } from './client-address.ts'
import { createClientErrorHandler, refuseAndClose } from './client-error.ts'
import { boundConnections } from './connections.ts'
import { createErrorHandler, routeOf, writeProblem } from './error-handler.ts'
import { LogNotes } from './log-notes.ts'
import { watchRoutes } from './route-table.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long a request of this route may take to arrive, where that is longer than for others. */
    uploadTimeoutMs?: number
    /** Also while the process has too much to do: what tells how it does. */
    isAlwaysServed?: boolean
  }
  interface FastifyRequest {
    /** The caller's address, behind trusted proxies too. */
    readonly clientIp: string
    logNotes: LogNotes
  }
}

export type HttpServerOptions = {
  log: Log
  /** Addresses and CIDR ranges whose X-Forwarded-For counts. */
  trustedProxies: readonly string[]
  /** Refuses new requests while the event loop is late. */
  load?: LoadWatch | undefined
  /**
   * Called before a request that no route answers is refused with 404 or 405, so that an API can refuse with 401 first. `route` is the pattern
   * of a path that is known but not with this method, null for an unknown path.
   */
  beforeRefusal?: (request: FastifyRequest, route: string | null) => Promise<void> | void
  /** Sends a person a page about a path that there is not, with 404; null: the answer is the problem `route_unknown`, as for a program. */
  unknownPage?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | null
  /** Certificate, key and what is spoken with them (`readTlsPair`); absent: plain HTTP. */
  tls?: SecureContextOptions
  /** The service's own address, which a request may name in its first line. */
  publicUrl?: string
  newRequestId?: () => string
  headersTimeoutMs?: number
  /** How long a request may take to arrive, unless its route says otherwise. */
  requestTimeoutMs?: number
  keepAliveTimeoutMs?: number
  /** A connection on which nothing moves for this long is closed, whatever it waits for. */
  idleTimeoutMs?: number
  connectionsMax?: number
  /** Bytes of a body, unless its route says otherwise. */
  bodyBytesMax?: number
}

/**
 * The HTTP edge of the service: every answer, also to what the parser, the router or the framework refuses, has the one error shape and an
 * X-Request-Id; slow and idle callers are closed; one line in the log for each request, with the route's pattern and nothing of the path.
 * Schemas on its routes are documentation: routes parse their input themselves, `request.query` is the raw text (see rawQuery).
 */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const newRequestId = options.newRequestId ?? randomUUID
  const clientAddress = createClientAddress(options.trustedProxies)
  const isHttps = createIsHttps(options.trustedProxies)
  // Slow callers are promised their end within 10 s, also while the machine has much to do.
  const headersTimeout = options.headersTimeoutMs ?? 6_000
  const requestTimeoutMs = options.requestTimeoutMs ?? 12_000
  const clientErrors = createClientErrorHandler({ log: options.log, newRequestId })

  const nodeOptions = {
    headersTimeout,
    connectionsCheckingInterval: Math.min(500, headersTimeout / 4),
    maxHeaderSize: 16 * 1024,
    // Node would answer a missing Host header with an empty 400; we say it in our own shape below.
    requireHostHeader: false,
  }

  const app: FastifyInstance = Fastify({
    logger: false,
    genReqId: () => newRequestId(),
    requestIdHeader: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    bodyLimit: options.bodyBytesMax ?? 16 * 1024,
    requestTimeout: Math.max(requestTimeoutMs, uploadTimeoutMs),
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 65_000,
    connectionTimeout: options.idleTimeoutMs ?? 60_000,
    http: nodeOptions,
    // Fastify's types know another instance for it, which has the same members.
    ...(options.tls && { https: { ...nodeOptions, ...options.tls, handshakeTimeout: headersTimeout } as never }),
    routerOptions: { querystringParser: rawText, maxParamLength: urlLengthMax },
    clientErrorHandler: clientErrors.handleClientError,
    // The router refuses before any hook runs, so what the hooks below do for everyone is done here once more.
    frameworkErrors: (error, request, reply) => {
      const problem = new Problem(error.code === 'FST_ERR_MAX_PARAM_LENGTH' ? 'uri_too_long' : 'request_malformed')
      const { status, headers, body } = writeProblem(problem, request.id)
      options.log({
        event: 'request.answered',
        requestId: request.id,
        method: request.method,
        route: '(unreadable)',
        status,
        durationMs: 0,
        code: problem.code,
      })
      reply.raw
        .writeHead(status, { ...headersOfAll(request.id), ...headers, 'Content-Length': Buffer.byteLength(body) })
        .end(body)
    },
  })
  app.server.on('request', clientErrors.watchRequest)
  // Each of many pipelined requests listens for the end of their one connection.
  for (const event of ['connection', 'secureConnection'])
    app.server.on(event, (socket: Socket) => socket.setMaxListeners(0))
  boundConnections(app.server, options.connectionsMax ?? 10_000, (socket) => {
    // Before the handshake a caller could not read an answer.
    if (options.tls) socket.destroy()
    else refuseAndClose(socket, new Problem('overloaded'), newRequestId())
  })
  app.server.on('connect', (_request, socket) => {
    refuseAndClose(socket as Socket, new Problem('method_not_allowed'), newRequestId(), { Allow: 'GET' })
  })
  // RFC 9110 10.1.1 lets a server ignore an expectation that it does not know; Node would answer 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))

  acceptJsonBodies(app)
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.setErrorHandler(createErrorHandler({ log: options.log }))
  app.setNotFoundHandler(() => {
    throw new Problem('route_unknown')
  })

  // Each request gets its own, below.
  app.decorateRequest('logNotes', null as unknown as LogNotes)
  app.decorateRequest('clientIp', {
    getter(this: FastifyRequest) {
      return clientAddress(this.raw)
    },
  })

  const routes = watchRoutes(app)
  // Not async, as the one below: each promise of a hook is one more for every request.
  app.addHook('onRequest', (request, reply, done) => {
    request.logNotes = new LogNotes()
    const timeoutMs = request.routeOptions.config.uploadTimeoutMs ?? requestTimeoutMs
    if (hasBody(request)) endWhenSlow(app, request, timeoutMs)
    reply.headers(headersOfAll(request.id))
    if (isHttps(request.raw)) reply.header('Strict-Transport-Security', 'max-age=31536000')
    if (options.load?.isLate() && !request.routeOptions.config.isAlwaysServed) {
      throw new Problem('overloaded', { because: 'event loop' })
    }
    refuseMalformed(request.raw, options.publicUrl ?? null)
    if ((request.raw.url ?? '').length > urlLengthMax) throw new Problem('uri_too_long')
    if (!request.is404 && !hasEmptyId(request)) done()
    else refuseUnknown(request, reply).then(() => done(), done)
  })

  /** Before the body is read: what no route takes is not worth receiving. Resolves where a page was sent. */
  const refuseUnknown = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const known = routes.find(request.raw.url ?? '')
    const otherMethods = known !== null && !known.methods.includes(request.method) ? known : null
    if (otherMethods) request.logNotes.route = otherMethods.route
    await options.beforeRefusal?.(request, otherMethods?.route ?? null)
    if (!otherMethods) {
      const page = options.unknownPage?.(request, reply)
      if (!page) throw new Problem('route_unknown')
      await page
      return
    }
    reply.header('Allow', otherMethods.methods.join(', '))
    throw new Problem('method_not_allowed')
  }

  app.addHook('onResponse', (request, reply, done) => {
    const { companyId, keyPairId, isUnproved, locationId, records, agentId, code, because, broken, waitedMs } =
      request.logNotes
    options.log({
      event: 'request.answered',
      requestId: request.id,
      method: request.method,
      route: routeOf(request),
      status: reply.raw.statusCode,
      durationMs: Math.round((reply.elapsedTime - waitedMs) * 10) / 10,
      companyId,
      keyPairId,
      isUnproved,
      locationId,
      records,
      agentId,
      code,
      because,
      broken,
    })
    done()
  })

  return app
}

/** Node has one time-out for all requests, which is the longest; a route's own ends a body that is still arriving, in the same words. */
function endWhenSlow(app: FastifyInstance, request: FastifyRequest, timeoutMs: number): void {
  const timer = setTimeout(() => {
    const error = Object.assign(new Error('the body is too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    if (!request.raw.complete) app.server.emit('clientError', error, request.raw.socket)
  }, timeoutMs)
  request.raw.once('close', () => clearTimeout(timer))
}

/** `/patients/` and `/locations//patients`: the router takes an empty text for an id, and none of our routes may. */
function hasEmptyId(request: FastifyRequest): boolean {
  const params = request.params as Record<string, string>
  for (const name in params) if (params[name] === '' && name !== '*') return true
  return false
}

function hasBody(request: FastifyRequest): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.raw.headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

/** The text after the question mark, undecoded; '' when there is none. */
export function rawQuery(request: FastifyRequest): string {
  // The router's parser below hands the text on, whatever Fastify's types say of a query.
  return request.query as string
}

function rawText(query: string): Record<string, unknown> {
  return query as unknown as Record<string, unknown>
}

function headersOfAll(requestId: string): Record<string, string> {
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' }
}

const urlLengthMax = 8_000

/** An office's uplink may be slow: a full upload, packed, at 256 kbit/s. */
export const uploadTimeoutMs = 120_000
