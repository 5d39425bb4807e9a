import { aboutError, type ProblemCode, problems } from '@bridgework/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { databaseErrorCode, isDatabaseUnavailable } from '../database/unavailable.ts'
import { codeOf } from '../errors/error-code.ts'
import { Problem } from '../errors/problem.ts'
import type { Log } from '../log/log-event.ts'

/** A problem on the wire, written by the error handler, the router or the HTTP parser. */
export type ProblemAnswer = { status: number; headers: Record<string, string>; body: string }

/**
 * Turns whatever was thrown below a route into the one error shape. A Problem is answered by its code, an error of Fastify's own by our code
 * for it, a database that is away with 503; anything else is a bug: 500 with nothing of it in the answer, and in the log only its class and
 * the line of our code that threw, because messages hold values.
 */
export function createErrorHandler(deps: { log: Log }) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const problem = problemOf(error)
    if (problem.code === 'internal') {
      const failure = problem.cause ?? error
      deps.log({ event: 'request.failed', requestId: request.id, route: routeOf(request), ...describe(failure) })
    }
    request.logNotes.code = problem.code
    request.logNotes.because = problem.because
    request.logNotes.broken = problem.broken
    const { status, headers, body } = writeProblem(problem, request.id)
    reply.code(status).headers(headers).send(body)
  }
}

/** The route's pattern, for the log: the path itself may name a patient's record. */
export function routeOf(request: FastifyRequest): string {
  return request.logNotes.route ?? request.routeOptions.url ?? '(unknown)'
}

/**
 * Status, headers and body of a problem: 401 says how to authenticate, 429 and 503 when to try again, and after 413 the connection ends,
 * because the rest of the body may still be on its way. A link leads to what the guides say of the code.
 */
export function writeProblem(problem: Problem, requestId: string): ProblemAnswer {
  const { code, errors, members } = problem
  const { status } = problems[code]
  const retryAfterSeconds = problem.retryAfterSeconds ?? defaultRetryAfterSeconds[status]
  const headers: Record<string, string> = {
    'Content-Type': 'application/json; charset=utf-8',
    Link: `<${aboutError(code)}>; rel="help"`,
    ...(status === 401 && { 'WWW-Authenticate': challenges[code] ?? 'Bearer' }),
    ...(status === 413 && { Connection: 'close' }),
    ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
  }
  const body = {
    errors,
    // spec: Errors. This 429 has exactly the members that are listed there.
    ...(code !== 'sync_slots_exceeded' && { code, request_id: requestId }),
    ...members,
    ...(status === 429 && { retry_after_seconds: retryAfterSeconds }),
  }
  return { status, headers, body: JSON.stringify(body) }
}

const defaultRetryAfterSeconds: Partial<Record<number, number>> = { 429: 1, 503: 2 }

// RFC 6750 3.1: no error code for a request that carried no credentials.
const challenges: Partial<Record<ProblemCode, string>> = { token_invalid: 'Bearer error="invalid_token"' }

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  const code = codeOf(error)
  const known = code === undefined ? undefined : ofFastify[code]
  if (known) return new Problem(known, { because: code ?? '' })
  if (code === 'FST_ERR_VALIDATION') {
    const part = (error as { validationContext?: unknown }).validationContext
    return new Problem(part === 'body' ? 'field_invalid' : 'parameter_invalid')
  }
  if (isDatabaseUnavailable(error))
    return new Problem('unavailable', { because: `database: ${databaseErrorCode(error)}` })
  // The caller went away while its body was arriving: nobody reads this answer.
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE')
    return new Problem('request_malformed', { because: 'aborted' })
  return new Problem('internal', { cause: error })
}

const ofFastify: Record<string, ProblemCode> = {
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body_malformed',
  FST_ERR_CTP_INVALID_JSON_BODY: 'body_malformed',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'content_type_unsupported',
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'content_type_unsupported',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'request_malformed',
  FST_ERR_BAD_URL: 'request_malformed',
  FST_ERR_MAX_PARAM_LENGTH: 'uri_too_long',
  FST_ERR_NOT_FOUND: 'route_unknown',
  // A name that no file can have: too long, or with a zero byte.
  FST_STATIC_FORBIDDEN_PATH: 'route_unknown',
}

/** An error's class and code, and the first line of our code in its stack. The message is cut away first: it could spell a stack line. */
function describe(error: unknown): { error: string; line: string } {
  if (!(error instanceof Error)) return { error: typeof error, line: 'unknown' }
  const code = codeOf(error)
  const frames = framesOf(error)
  const ours = frames.find((line) => !line.includes('node_modules') && !line.includes('node:'))
  const line = /\/((?:apps|packages)\/[\w./-]+:\d+):\d+\)?$/.exec(ours ?? '')?.[1] ?? 'unknown'
  return { error: code === undefined ? error.constructor.name : `${error.constructor.name} ${code}`, line }
}

function framesOf(error: Error): string[] {
  const stack = error.stack ?? ''
  const end = stack.indexOf(error.message) + error.message.length
  return stack.includes(error.message)
    ? stack
        .slice(end)
        .split('\n')
        .filter((line) => /^\s+at /.test(line))
    : []
}
