/** Answered where there is nothing to tell. */
export type Done = { done: true }

/** A page of a list that has search: `?search=` narrows, `?page=` counts from 1. */
export type Listed<T> = { data: T[]; total: number; page: number; page_size: number }

/** An instant in RFC 3339 with Z. */
export type Instant = string
