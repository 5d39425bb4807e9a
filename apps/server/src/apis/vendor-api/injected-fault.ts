import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Fault, parseFault, type VendorFaults } from '../../modules/faults/vendor-faults.ts'
import { Problem } from '../../platform/errors/problem.ts'
import { tokenOf } from './token/authenticate.ts'

/**
 * Lets the faults befall requests that their header X-Sandbox-Fault names, or that their vendor has ordered. In a sandbox alone: a service without
 * `faults` has no such hook.
 */
export function injectFaults(app: FastifyInstance, faults: VendorFaults): void {
  app.addHook('onRequest', async (request, reply) => {
    const fault = faultOf(request, faults)
    if (fault) await befall(fault, request, reply)
  })
}

function faultOf(request: FastifyRequest, faults: VendorFaults): Fault | null {
  const text = request.headers['x-sandbox-fault']?.toString()
  if (text === undefined) return faults.take(tokenOf(request).companyId)
  const fault = parseFault(text)
  if (fault) return fault
  const errors = 'X-Sandbox-Fault must be 429, 503, 401, cut:<bytes> or slow:<milliseconds, at most 30000>.'
  throw new Problem('parameter_invalid', { errors })
}

async function befall(fault: Fault, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (fault.kind === 'cut') return cutAfter(reply.raw, fault.bytes)
  if (fault.kind === 'slow') {
    // A caller who leaves ends the wait.
    const left = new AbortController()
    request.raw.once('close', () => left.abort())
    return await sleep(fault.ms, undefined, { signal: left.signal }).catch(() => {})
  }
  const because = 'ordered in the sandbox'
  if (fault.status === 401) throw new Problem('token_invalid', { because })
  throw new Problem(fault.status === 429 ? 'requests_exceeded' : 'unavailable', { because, retryAfterSeconds: 2 })
}

/** Closes the connection within the body, however the answer is written. */
function cutAfter(response: ServerResponse, bytes: number): void {
  let left = bytes
  const { write, end } = response
  const take = (chunk: unknown): Uint8Array | null => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return null
    const whole = Buffer.from(chunk)
    const part = whole.subarray(0, left)
    left -= whole.length
    return part
  }
  const destroy = () => response.destroy()
  const cut = (part: Uint8Array) => {
    if (part.length > 0) write.call(response, part, 'utf8', destroy)
    else {
      response.flushHeaders()
      setImmediate(destroy)
    }
    return true
  }
  // Both have several forms; what is not cut is passed on as it came.
  response.write = (...given: unknown[]) => {
    const part = take(given[0])
    return part && left < 0 ? cut(part) : Reflect.apply(write, response, given)
  }
  response.end = (...given: unknown[]) => {
    const part = take(given[0])
    if (!part || left >= 0) return Reflect.apply(end, response, given)
    cut(part)
    return response
  }
}
