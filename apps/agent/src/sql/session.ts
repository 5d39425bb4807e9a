/** Rows as texts, as the database writes them; `columns` in the order of each row's cells. */
export type Chunk = { readonly columns: readonly string[]; readonly rows: readonly (readonly (string | null)[])[] }

/** A part of what a statement gives. `where` and `order` name its columns as `quoted` writes them. */
export type Query = {
  readonly select: string
  /** The part of the mapping that asks, as messages name it; without it, the question is about all. */
  readonly table?: string
  /** Null: every column. */
  readonly columns?: readonly string[]
  readonly where?: string
  readonly order?: readonly string[]
  /** How many rows are wanted at most; the engine may give more. Left out: all rows. */
  readonly rowsMax?: number
}

/** One connection that only reads. What it throws is a `SourceProblem`. */
export type SqlSession = {
  /** The engine with its version. */
  readonly version: string
  /** True: all that is read stands as it stood when the session began. */
  readonly hasSnapshot: boolean
  /** The protocol of its encryption, null: it is not encrypted. */
  readonly encryption: string | null
  /** What this account may do besides reading, in the engine's words; null: nothing. */
  readonly mayWrite: string | null
  /** False: the engine cannot tell all that this account may do. */
  readonly rightsAreKnown: boolean
  /** The statements that make an account which can only read. */
  readonly readerStatements: string
  /** The database's clock as the session began. */
  readonly now: Date
  quoted(column: string): string
  /** Both texts with a blank between them, in SQL; where one is null, the other alone. */
  joined(first: string, last: string): string
  /** `of`: the column of a statement's rows that is compared with it. */
  literal(text: string, of?: { readonly select: string; readonly column: string }): string
  /** What a column of times is compared with. `text` is like 2026-11-30T08:15:00. */
  timeLiteral(text: string): string
  /** What a column of versions is compared with. */
  versionLiteral(text: string): string
  /** A version below which no transaction still writes, where the engine tells; null: it does not. */
  settledVersion(): Promise<string | null>
  /** In chunks of at most 1,000 rows; the first one comes even when it has no rows. One query at a time. */
  read(query: Query): AsyncIterable<Chunk>
  /** The columns of all tables, as `readCatalog` has them, where no statement gives them. */
  catalog?(): AsyncIterable<Chunk>
  end(): Promise<void>
}

export const rowsPerChunk = 1000

/** The query in SQL. `list` are its columns, as the engine is to give them. `hasLimit`: the engine knows `limit`. */
export function sqlOf({ select, where, order = [], rowsMax }: Query, list = '*', hasLimit = false): string {
  const limit = hasLimit && rowsMax !== undefined ? ` limit ${rowsMax}` : ''
  const by = `${order.length === 0 ? '' : ` order by ${order.join(', ')}`}${limit}`
  // A comment at the end of the mapping's statement ends with its line.
  return `select ${list} from (${select}\n) source${where === undefined ? '' : ` where ${where}`}${by}`
}

/** `joined` of standard SQL. */
export const joinedBySql = (first: string, last: string) =>
  `trim(coalesce(${first}, '') || ' ' || coalesce(${last}, ''))`

/** The first value of the first row; null: there is no row, or no value. */
export async function firstValue(session: SqlSession, select: string, table?: string): Promise<string | null> {
  let value: string | null = null
  const query = table === undefined ? { select } : { select, table }
  for await (const { rows } of session.read(query)) value ??= rows[0]?.[0] ?? null
  return value
}
