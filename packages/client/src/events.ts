/** What the client does, for logs and metrics. No event carries a secret, a token, a query string or a record. */
export type ClientEvent =
  | { event: 'request'; path: string; attempt: number }
  | { event: 'response'; path: string; attempt: number; status: number; durationMs: number; requestId: string | null }
  | { event: 'retry'; path: string; attempt: number; delayMs: number; because: string }
  | { event: 'token'; from: 'store' | 'service'; expiresAt: Date }
  /** The token store could not be read or written: the token is this process's alone. */
  | { event: 'token.store.failed'; because: string }
  | { event: 'limit.learned'; syncType: SyncType; locations: number }

/** The service's word for a request's kind: a whole dataset, or changes alone. */
export type SyncType = 'initial' | 'incremental'
