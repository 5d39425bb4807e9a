import { hash } from 'node:crypto'
import type { PoolClient, QueryConfig, Submittable } from 'pg'
import { serialize } from 'pg-protocol'
import type { Queryable } from '../queryable.ts'

/** A statement that each connection plans once, under its name. */
export type Prepared = {
  name: string
  text: string
  /** As PostgreSQL reads them; null: NULL. */
  values: readonly (string | null)[]
  /** How long the client waits at most; the pool's usual limit where it is absent. */
  limitMs?: number
}

/** A row's columns as PostgreSQL writes them: `t` and `f`, digits, JSON; null: NULL. */
export type TextRow = readonly (string | null)[]

/**
 * Runs a statement whose columns the caller knows. pg's own way asks at each call what columns there are, makes an object of each row, and
 * looks up a parser for each value. Why: docs/decisions/small-reads.md.
 */
export function askPrepared(db: Queryable, prepared: Prepared): Promise<TextRow[]> {
  const statement = new Statement(prepared)
  const answer: unknown = db.query(statement as unknown as Submittable)
  // A pool gives a promise, whatever its types say of a statement that is not pg's own; a client gives the statement back.
  if (answer !== statement) return answer as Promise<TextRow[]>
  return new Promise((resolve, reject) => {
    statement.onEnd = (error, rows) => (error ? reject(error) : resolve(rows))
  })
}

/**
 * The same client, which plans each statement with values once for a connection and not at each call. For statements that a transaction runs again
 * and again, whose texts the code knows: a connection keeps each text for ever.
 */
export function preparing(client: PoolClient): PoolClient {
  const query = (first: unknown, ...rest: unknown[]) => {
    const [values] = rest
    const config = typeof first === 'string' && Array.isArray(values) ? { text: first, values } : first
    const named = isUnnamed(config) ? { ...config, name: nameOf(config.text) } : config
    return (client.query as (...given: unknown[]) => unknown)(named, ...(config === first ? rest : rest.slice(1)))
  }
  return Object.assign(Object.create(client), { query })
}

function isUnnamed(config: unknown): config is QueryConfig {
  if (typeof config !== 'object' || config === null || 'submit' in config) return false
  const { values, name } = config as QueryConfig
  return name === undefined && values !== undefined
}

function nameOf(text: string): string {
  return `statement.${hash('sha256', text, 'base64url')}`
}

/** PostgreSQL's text of an array of numbers, ids and names: what needs no quotes; null: NULL. Throws for any other. */
export function plainArray(values: readonly (string | number | null)[]): string {
  for (const value of values) {
    if (value !== null && !plain.test(String(value)))
      throw new TypeError(`${JSON.stringify(value)} cannot stand in an array without quotes`)
  }
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** PostgreSQL's text of an array of any texts. */
export function quotedArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** The values of such an array's text. */
export function plainValues(array: string): string[] {
  return array === '{}' ? [] : array.slice(1, -1).split(',')
}

const plain = /^(?!null$)[\w.-]+$/i

/** What of pg's connection a statement uses. */
type Connection = {
  stream: { writable: boolean; write: (bytes: Buffer) => void }
  /** The text of each statement that is prepared, or about to be, by its name. */
  parsedStatements: Record<string, string | undefined>
  submittedNamedStatements: Record<string, string | undefined>
}

const executeAndSync = Buffer.concat([serialize.execute(), serialize.sync()])

type OnEnd = (error: Error | null, rows: TextRow[]) => void

/** As pg's client runs it: it calls each of these when the server's message of that kind arrives. */
class Statement {
  readonly name: string
  readonly text: string
  readonly limitMs: number | undefined
  /** Set by the client: it ends the statement's timer, and gives a pool its answer. */
  callback: OnEnd | undefined
  onEnd: OnEnd | undefined
  readonly values: Prepared['values']
  readonly #rows: TextRow[] = []

  constructor({ name, text, values, limitMs }: Prepared) {
    this.name = name
    this.text = text
    this.limitMs = limitMs
    this.values = values
  }

  submit(connection: Connection): Error | null {
    const { name, text } = this
    const known = connection.parsedStatements[name] ?? connection.submittedNamedStatements[name]
    if (known !== undefined && known !== text) return new Error(`two statements have the name ${name}`)
    // pg writes each message on its own. As one piece they take the stream a third of the time.
    const messages = [serialize.bind({ statement: name, values: [...this.values] }), executeAndSync]
    if (known === undefined) {
      messages.unshift(serialize.parse({ name, text }))
      connection.submittedNamedStatements[name] = text
    }
    if (connection.stream.writable) connection.stream.write(Buffer.concat(messages))
    return null
  }

  handleDataRow({ fields }: { fields: TextRow }): void {
    this.#rows.push(fields)
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#end(error)
  }

  handleReadyForQuery(): void {
    this.#end(null)
  }

  #end(error: Error | null): void {
    this.callback?.(error, this.#rows)
    this.onEnd?.(error, this.#rows)
  }
}
