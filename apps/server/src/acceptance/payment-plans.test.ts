import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { loadPractice } from '@bridgework/practice-simulator/test-whole-practice'
import { balancesByFormula, balancesOf, payPlansVersions } from './testing/test-balances.ts'
import { someOffice } from './testing/test-office.ts'
import { everywhere } from './testing/test-seen.ts'
import { vendorCopy } from './testing/test-vendor-copy.ts'

test('whichever way a practice counts payment plans, a vendor’s ledger adds up to its balances, to the cent', async (t) => {
  const { database, day } = await loadPractice({ after })
  await addOddPlans(database)
  await checkEachVersion(t, database, day)
})

/** What is rare: a plan that tracks insurance, with a payment of the insurer towards it, and dynamic plans. */
async function addOddPlans(database: TestDatabase): Promise<void> {
  const procedures = (status: number) =>
    `(select ProcNum from procedurelog where ProcStatus = ${status} and ProcFee > 0 order by ProcNum limit 3)`
  for (const sql of [
    `insert into payplan (PayPlanNum, PatNum, Guarantor, PlanNum, CompletedAmt)
     select 99000003, min(PatNum), min(Guarantor), (select min(PlanNum) from insplan), 120.5 from patient
      union select 99000004, max(PatNum), max(Guarantor), 0, 77.7 from patient`,
    `insert into payplancharge (PayPlanNum, PatNum, Guarantor, ChargeType, Principal, Interest, ChargeDate)
     select PayPlanNum, PatNum, Guarantor, n, 25, 1.5, '2020-01-01' from payplan join (select 0 as n union select 1) kinds
      where PayPlanNum in (99000003, 99000004)`,
    'update claimproc set PayPlanNum = 99000003 where Status = 1 and InsPayAmt > 0 order by ClaimProcNum limit 1',
    'update paysplit set PayPlanNum = 99000004 where SplitAmt > 0 and UnearnedType = 0 order by SplitNum limit 2',
    `insert into payplan (PayPlanNum, PatNum, Guarantor, IsDynamic, DynamicPayPlanTPOption)
     values (99000001, 0, 0, 1, 1), (99000002, 0, 0, 1, 2)`,
    `insert into payplanlink (PayPlanNum, LinkType, FKey) select 99000001, 2, p.ProcNum from ${procedures(2)} p`,
    `insert into payplanlink (PayPlanNum, LinkType, FKey) select 99000001 + p.ProcNum % 2, 2, p.ProcNum from ${procedures(1)} p`,
    'insert into payplanlink (PayPlanNum, LinkType, FKey) select 99000002, 1, min(AdjNum) from adjustment',
    `insert into payplanlink (PayPlanNum, LinkType, FKey, AmountOverride)
     select 99000002, 2, max(ProcNum), 12.34 from procedurelog where ProcStatus = 2`,
  ]) {
    await database.execute(sql)
  }
}

async function checkEachVersion(t: TestContext, database: TestDatabase, day: string): Promise<void> {
  const office = await someOffice(t, database, { timeZone: 'America/Chicago' })
  const agent = office.agentHere(() => new Date(`${day}T18:00:00Z`))
  const copies = new Map<string, ReturnType<typeof vendorCopy>>()
  const seen = new Set<string>()
  for (const version of payPlansVersions) {
    await database.execute("delete from preference where PrefName = 'PayPlansVersion'")
    await database.execute('insert into preference (PrefName, ValueString) values (?, ?)', ['PayPlansVersion', version])
    assert.equal((await agent.cycle()).result, 'complete')
    for (const [clinic, locationId] of await office.locationIds()) {
      const copy = copies.get(clinic) ?? vendorCopy(office.vendor, locationId, { items: 5000 })
      copies.set(clinic, copy)
      await copy.sync()
    }
    const views = new Map([...copies].map(([clinic, copy]) => [clinic, copy.view()]))
    const balances = balancesOf(everywhere(views, 'ledger_transactions').values())
    assert.deepEqual(balances, await balancesByFormula(database, day, version), `PayPlansVersion ${version}`)
    seen.add(JSON.stringify(balances))
  }
  assert.equal(seen.size, payPlansVersions.length, 'two ways gave the same balances')
}
