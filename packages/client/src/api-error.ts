import type { ServiceErrorCode } from './generated.ts'

/** What the client itself may have to say, beside the service's own codes. */
export type ClientErrorCode =
  /** No answer: the connection could not be made, or broke, at every attempt. */
  | 'connection_failed'
  /** The service's certificate is not trusted here: a wrong address, or a filter of the network. Not repeated. */
  | 'certificate_untrusted'
  /** No whole answer within the time limit, at every attempt. */
  | 'timeout'
  /** An answer that is not the service's: a proxy's page, for example. */
  | 'answer_invalid'
  /** The service was restored from a backup while a list or an export was read: its pages are not of one whole. */
  | 'epoch_changed'

/** The one error of this client: the service refused, or could not be reached. An aborted call throws its signal's reason instead. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  readonly code: ServiceErrorCode | ClientErrorCode
  /** The service's text for people. */
  readonly errors: string
  /** Give it when you ask for help; null when there was no answer. */
  readonly requestId: string | null
  /** How often the request was tried. */
  readonly attempts: number
  /** The page of the service that explains the code; null when there was no answer, or one of an earlier version. */
  readonly helpUrl: string | null

  constructor(
    details: {
      status: number
      code: ServiceErrorCode | ClientErrorCode
      errors: string
      requestId: string | null
      attempts: number
      helpUrl?: string | null
    },
    options?: ErrorOptions,
  ) {
    super(`${details.errors} (${details.status === 0 ? details.code : `${details.status} ${details.code}`})`, options)
    this.status = details.status
    this.code = details.code
    this.errors = details.errors
    this.requestId = details.requestId
    this.attempts = details.attempts
    this.helpUrl = details.helpUrl ?? null
  }
}

/** Makes the error of a refusal. Anything that is not the service's own JSON becomes `answer_invalid`. */
export function refusalOf(status: number, headers: Headers, text: string, attempts: number, baseUrl: string): ApiError {
  const body = parseObject(text)
  const isOurs = typeof body?.errors === 'string'
  const requestId = headers.get('x-request-id')
  if (!isOurs) {
    const type = headers.get('content-type') ?? 'no content type'
    const errors = `The answer of ${baseUrl} (status ${status}, ${type}) is not from Bridgework. Check that the base URL ends with /api/v1/vendors. If it does, a proxy or the sign-in page of a network has answered.`
    return new ApiError({ status, code: 'answer_invalid', errors, requestId, attempts })
  }
  // The sync slots' 429 has exactly the specification's members, so no code.
  const code = typeof body.code === 'string' ? body.code : status === 429 ? 'sync_slots_exceeded' : 'answer_invalid'
  // A newer service may have codes that this version does not know; they are texts all the same.
  const helpUrl = helpOf(headers, baseUrl)
  return new ApiError({
    status,
    code: code as ServiceErrorCode,
    errors: String(body.errors),
    requestId,
    attempts,
    helpUrl,
  })
}

/** Where the answer's `Link: <…>; rel="help"` leads. */
function helpOf(headers: Headers, baseUrl: string): string | null {
  const [, path] = /<([^>]*)>; rel="help"/.exec(headers.get('link') ?? '') ?? []
  return path !== undefined && URL.canParse(path, baseUrl) ? new URL(path, baseUrl).href : null
}

/** The JSON object of a text, or null. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    // A JSON object's members are what they are; each is checked where it is used.
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
