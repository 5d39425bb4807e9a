import { limits } from '@bridgework/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { smallDeltaMax } from '../../modules/disclosure/small-read.ts'
import type { RequestTurn } from '../../modules/throttle/request-turns.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { rawQuery } from '../../platform/http/server.ts'
import type { VendorApiContext } from './context.ts'
import { since } from './parameters.ts'
import { decodedParts } from './query.ts'
import { tokenOf } from './token/authenticate.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the answer of this route has at most, where that is not a matter of its `items`. */
    answerBytesMax?: number
  }
  interface FastifyRequest {
    /** What `keepBytes` speaks to. */
    turn: RequestTurn | null
  }
}

/**
 * Every request of this instance takes its company's turn before anything is read for it, the database's checks included, and holds it until
 * its answer is sent or its caller has left.
 */
export function requireTurn(
  app: FastifyInstance,
  { requests, load }: Pick<VendorApiContext, 'requests' | 'load'>,
): void {
  app.decorateRequest('turn', null)
  // Not async: most need not wait, and each promise of a hook is one more for every request.
  app.addHook('onRequest', (request, _reply, done) => {
    const bytes = bytesAsked(request)
    requireMemory(load, bytes)
    const begin = (turn: RequestTurn) => {
      // The request's end, not the answer's: an answer that waits behind another on its connection is not informed when the connection closes.
      request.raw.once('close', turn.end)
      request.turn = turn
      if (!request.raw.destroyed) return done()
      turn.end()
      done(new Problem('request_malformed', { because: 'aborted' }))
    }
    const { companyId } = tokenOf(request)
    const turn = requests.takeAtOnce(companyId, bytes)
    if (turn) begin(turn)
    else requests.take(companyId, bytes).then(begin, done)
  })
}

/**
 * To be called before a delta is read that was not read with its permit: it may have that many records. Most have few, so each counts for a quarter of
 * that until it is read: eight whole ones at a time are still few.
 */
export async function widenTurn(
  { load }: Pick<VendorApiContext, 'load'>,
  request: FastifyRequest,
  records: number,
): Promise<void> {
  const bytes = (records * recordBytes) / 4
  requireMemory(load, bytes)
  await request.turn?.widen(bytes)
}

/** Does work in which the request waits, with nothing of its answer in memory, and then waits for its share again. */
export async function withoutTurn(request: FastifyRequest, bytes: number, work: () => Promise<void>): Promise<void> {
  request.turn?.rest()
  const beganAt = performance.now()
  await work()
  request.logNotes.waitedMs += performance.now() - beganAt
  await request.turn?.widen(bytes)
}

/** Says how much of the answer is still in memory, so that others of the company need not wait for a reader that is slow. */
export function keepBytes(request: FastifyRequest, bytes: number): void {
  request.turn?.keep(bytes)
}

/** What the answer may have. The route refuses `items` that it cannot read. */
function bytesAsked(request: FastifyRequest): number {
  const { answerBytesMax } = request.routeOptions.config
  if (answerBytesMax !== undefined) return answerBytesMax
  let [items, isDelta] = [String(limits.pageSizeDefault), false]
  for (const [name, value] of decodedParts(rawQuery(request))) {
    if (name === 'items') items = value ?? ''
    if (name === since.name) isDelta = true
  }
  const records = Math.min(Number(items) || 0, limits.pageSizeMax)
  // A delta is most often empty or has a few records. One that has more says so, by `widenTurn`.
  return recordBytes * (isDelta ? Math.min(records, smallDeltaMax) : records)
}

function requireMemory(load: VendorApiContext['load'], bytes: number): void {
  if (bytes > largeBytes && load.isFull()) throw new Problem('overloaded', { because: 'heap', retryAfterSeconds: 5 })
}

/** An answer that may be larger is refused while there is little memory. */
const largeBytes = 2 ** 20

/** A page of 5,000 records with the widest values in Latin script has 14 MiB. */
export const recordBytes = (14 * 2 ** 20) / limits.pageSizeMax
