import type { Queryable } from '../../../platform/database/queryable.ts'
import { makeMonthsOf } from '../months.ts'

/** Makes the tables of all months between two days, for disclosures that a test puts there. */
export async function makeMonthsBetween(owner: Queryable, from: Date, to: Date): Promise<void> {
  const days: string[] = []
  const day = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), 1))
  for (; day <= to; day.setUTCMonth(day.getUTCMonth() + 1)) days.push(day.toISOString().slice(0, 10))
  await makeMonthsOf(owner, days)
}
