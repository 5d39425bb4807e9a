import type { TestContext } from 'node:test'
import pg from 'pg'

/** A statement as it was sent, with its values. */
export type Sent = { text: string; values: readonly unknown[] }

/** Notes every statement that reads or writes tables, once for each text, while `work` runs. */
export async function sentStatements(t: TestContext, work: () => Promise<unknown>): Promise<Sent[]> {
  const sent = t.mock.method(pg.Client.prototype, 'query')
  await work()
  const calls = sent.mock.calls.map((call): Sent => {
    const [first, values] = call.arguments as unknown as [unknown, unknown]
    const { text = '', values: own = [] } = typeof first === 'string' ? { text: first } : (first as Partial<Sent>)
    return { text, values: Array.isArray(values) ? values : own }
  })
  sent.mock.restore()
  const readable = calls.filter(({ text }) => /^\s*(with|select|insert|update|delete)\b/i.test(text))
  return [...new Map(readable.map((each) => [each.text, each])).values()]
}

/**
 * How a statement found its rows: the tables that it read through, the most rows that one step of it looked at, and those of which
 * it read rows by conditions that do not name a location.
 */
export type Found = { readThrough: string[]; examined: number; withoutLocation: string[] }

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Cond'?: string
  'Recheck Cond'?: string
  Filter?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}

/** Runs the statement and takes back what it did. A row that can be added once is only planned. */
export async function planOf(pool: pg.Pool, sent: Sent): Promise<Found> {
  const nodes = await explain(pool, 'analyze, timing off', sent).catch((error: { code?: string }) => {
    if (error.code !== '23505') throw error
    return explain(pool, 'analyze off', sent)
  })
  return {
    readThrough: nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? []) : [])),
    examined: Math.max(0, ...nodes.map(examinedBy)),
    withoutLocation: nodes.flatMap(readWithoutLocation),
  }
}

async function explain(pool: pg.Pool, options: string, { text, values }: Sent): Promise<Node[]> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>({
      text: `explain (${options}, format json) ${text}`,
      values: [...values],
    })
    return rows[0] ? nodesOf(rows[0]['QUERY PLAN'][0].Plan) : []
  } finally {
    await client.query('rollback')
    client.release()
  }
}

function examinedBy(node: Node): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return ((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 0)
}

function readWithoutLocation(node: Node): string[] {
  const conditions = [node['Index Cond'], node['Recheck Cond'], node.Filter].join(' ')
  const table = node['Relation Name']
  if (table === undefined || !/Scan/.test(node['Node Type']) || /\blocation_id\b/.test(conditions)) return []
  return [table]
}

function nodesOf(node: Node): Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}
