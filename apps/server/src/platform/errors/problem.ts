import { type BrokenRule, type ProblemCode, problems } from '@bridgework/contract'

/**
 * A refusal, thrown by any module: a code of the table, and nothing of a transport. The HTTP edge answers it with the table's status, the
 * operator's command line prints its text. What is no Problem is a bug.
 */
export class Problem extends Error {
  readonly code: ProblemCode
  /** For the caller: the table's text, or one that names the parameter or the field. Never holds what an upload or a record says. */
  readonly errors: string
  /** For our log alone. */
  readonly because: string | undefined
  /** For the log of requests that the caller's people read. */
  readonly broken: BrokenRule | undefined
  /** More facts for the caller, by the names that they have in a body. */
  readonly members: Record<string, unknown>
  /** When the same call may succeed. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ProblemCode,
    options: {
      errors?: string
      because?: string
      broken?: BrokenRule
      cause?: unknown
      members?: Record<string, unknown>
      retryAfterSeconds?: number
    } = {},
  ) {
    const errors = options.errors ?? problems[code].errors
    super(errors, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.errors = errors
    this.because = options.because
    this.broken = options.broken
    this.members = options.members ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
