import assert from 'node:assert/strict'
import type { TestDatabase } from '@bridgework/agent/test-mariadb'
import { everywhere, type Views } from './test-known-facts.ts'
import type { Came, Name } from './test-vendor-copy.ts'
import { careOfAYear } from './test-year-of-care.ts'
import { moneyOfAYear } from './test-year-of-money.ts'
import { namesOfAYear } from './test-year-of-names.ts'
import { peopleOfAYear } from './test-year-of-people.ts'

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

/** What happens to the practice of 600 patients in the year that follows its data, in the order in which it happens. */
export async function changesOfAYear(database: TestDatabase): Promise<Change[]> {
  const find = finder(database)
  return [
    ...(await peopleOfAYear(find)),
    ...(await careOfAYear(find)),
    ...(await moneyOfAYear(find)),
    ...(await namesOfAYear(find)),
  ]
}

function finder(database: TestDatabase) {
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

/** One record, wherever a vendor sees it. */
export function seen(views: Views, name: Name, key: string): Record<string, unknown> {
  return everywhere(views, name).get(key) ?? assert.fail(`${name} ${key} is not there`)
}
