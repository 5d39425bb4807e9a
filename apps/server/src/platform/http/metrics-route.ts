import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { Problem } from '../errors/problem.ts'
import type { Metrics } from '../metrics/metrics.ts'

/**
 * Where metrics are, and who gets them. `address`: on a port of their own, and nowhere else. `token`: for callers who send it. Neither: callers on this
 * machine.
 */
export type MetricsSettings = { address: { host: string; port: number } | null; token: string | null }

/**
 * Registers GET /metrics. A caller without the token gets 401; without a token, `isOpen` says whether every caller of this server is let in, or
 * only those on this machine: others get 404, as for a path that does not exist.
 */
export function registerMetrics(
  app: FastifyInstance,
  metrics: Metrics,
  { token, isOpen }: { token: string | null; isOpen: boolean },
): void {
  app.get('/metrics', { config: { isAlwaysServed: true } }, async (request, reply) => {
    if (token !== null) requireToken(request, token)
    else if (!isOpen && !isLoopback(request.clientIp)) throw new Problem('route_unknown')
    return reply.header('Content-Type', metrics.contentType).send(await metrics.render())
  })
}

/** Compares hashes, so that the time depends on neither the length nor a part of the token. Throws Problem metrics_token_invalid. */
function requireToken(request: FastifyRequest, token: string): void {
  const [, given = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  const [left, right] = [given, token].map((text) => createHash('sha256').update(text).digest())
  if (!left || !right || !timingSafeEqual(left, right)) throw new Problem('metrics_token_invalid')
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}
