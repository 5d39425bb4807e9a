import type { Pool } from 'pg'

/** A pool, or the client of a transaction that the caller has opened. */
export type Queryable = Pick<Pool, 'query'>
