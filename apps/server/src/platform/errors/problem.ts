import { type ProblemCode, problems } from '@bridgework/contract'

/**
 * An answer that refuses: thrown anywhere below a route, turned into the one error shape by the error handler. `errors` replaces the
 * table's text where naming the parameter or field helps; it may quote a parameter
 * back to its sender, and never holds what an upload or a record says. `because` is for our log alone.
 */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly errors: string
  readonly headers: Record<string, string>
  readonly because: string | undefined
  /** Members of the body beside `errors`. Given `exact`, the body has these and `errors` and no other. */
  readonly members: Record<string, unknown>
  readonly exact: boolean

  constructor(
    code: ProblemCode,
    options: {
      errors?: string
      headers?: Record<string, string>
      because?: string
      cause?: unknown
      members?: Record<string, unknown>
      exact?: boolean
    } = {},
  ) {
    super(code, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = problems[code].status
    this.errors = options.errors ?? problems[code].errors
    this.headers = options.headers ?? {}
    this.because = options.because
    this.members = options.members ?? {}
    this.exact = options.exact ?? false
  }
}
