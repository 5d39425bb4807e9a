import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { type Change, finder } from '../test-change.ts'
import { careOfAYear } from './test-year-of-care.ts'
import { moneyOfAYear } from './test-year-of-money.ts'
import { namesOfAYear } from './test-year-of-names.ts'
import { peopleOfAYear } from './test-year-of-people.ts'

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
