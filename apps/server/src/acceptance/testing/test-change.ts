import assert from 'node:assert/strict'
import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import type { Views } from './test-seen.ts'
import type { Came } from './test-vendor-copy.ts'

/** One thing that happens to a practice, and what a vendor must see of it. */
export type Change = {
  what: string
  sql?: string[]
  /** The agent's day from then on. */
  day?: string
  /** Records that a vendor must see change somewhere; records of a dataset that is not named must not change anywhere. */
  expected?: Partial<Came>
  check?: (views: Views) => void
}

/** Looks up what a change is about, before any of them. */
export type Find = ReturnType<typeof finder>

/** Queries that the changes of the year share, on this database. */
export function finder(database: TestDatabase) {
  const keys = async (sql: string): Promise<string[]> =>
    (await database.execute(sql)).map((row) => String(Object.values(row)[0]))
  return {
    /** The first column of every row. */
    keys,
    /** The first row, as texts. There must be one. */
    one: async (sql: string): Promise<Record<string, string>> => {
      const [row] = await database.execute(`${sql} limit 1`)
      return Object.fromEntries(Object.entries(row ?? assert.fail(sql)).map(([name, value]) => [name, String(value)]))
    },
    /** All lines that a patient may have in the ledger and a vendor can see. */
    linesOf: async (patient: string): Promise<string[]> =>
      keys(
        `select concat('proc:', ProcNum) from procedurelog where PatNum = ${patient} and ProcStatus = 2
          union select concat('adj:', AdjNum) from adjustment where PatNum = ${patient}
          union select concat('split:', SplitNum) from paysplit where PatNum = ${patient} and UnearnedType = 0`,
      ),
  }
}
