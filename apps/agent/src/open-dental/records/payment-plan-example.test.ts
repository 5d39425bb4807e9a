import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'
import { sumOfMoney } from './values.ts'

const page = new URL('../../../../../docs/decisions/payment-plans.md', import.meta.url)

test('the worked example of payment plans is what the agent sends, to the cent', async (t) => {
  const mariaDb = await startTestMariaDb(t)
  const rows = (await readFile(page, 'utf8'))
    .split('\n')
    .filter((line) => /^\| \d{4}-/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  assert.equal(rows.length, 4)
  for (const [day = '', crown, option, ...amounts] of rows) {
    const practice = await testFamily(mariaDb)
    const isDone = crown === 'done'
    await practice.execute(
      `insert into patient (PatNum, FName, Guarantor, ClinicNum) values (7, 'Gil', 7, 1);
       insert into procedurelog (ProcNum, PatNum, ProcDate, ProcFee, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty) values
         (70, 7, '2026-11-10', 1200, ${isDone ? 2 : 1}, 1, 1, 3, 1);
       insert into claimproc (ClaimProcNum, ProcNum, PatNum, Status, InsPayEst, InsEstTotal, WriteOffEst, InsEstTotalOverride, WriteOffEstOverride, InsPayAmt, WriteOff, ClinicNum)
         values (70, 70, 7, ${isDone ? 1 : 6}, 480, 480, 100, -1, -1, ${isDone ? 475.2 : 0}, ${isDone ? 100 : 0}, 1);
       insert into payplan (PayPlanNum, PatNum, Guarantor, IsDynamic, DynamicPayPlanTPOption) values (70, 7, 7, 1, ${option});
       insert into payplanlink (PayPlanLinkNum, PayPlanNum, LinkType, FKey, AmountOverride, SecDateTEntry) values (70, 70, 2, 70, 0, '2026-11-10');
       insert into payplancharge (PayPlanChargeNum, PayPlanNum, Guarantor, PatNum, ChargeDate, Principal, ProvNum, ClinicNum, ChargeType) values
         (70, 70, 7, 7, '2026-11-15', 310, 1, 1, 0), (71, 70, 7, 7, '2026-12-15', 310, 1, 1, 0)`,
    )
    const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, {
      now: () => new Date(`${day}T12:00:00Z`),
    })
    await copy.run()
    const lines = [...copy.visible('1', 'ledger_transactions')].filter(([, line]) => line.guarantor_source_id === '7')
    const sum = (...ids: string[]) => {
      const found = lines.filter(([id]) => ids.includes(id)).map(([, line]) => String(line.amount))
      return found.length === 0 ? '' : sumOfMoney(...found)
    }
    const sent = [
      sum('proc:70'),
      sum('claimproc:70:insurance_payment'),
      sum('claimproc:70:write_off'),
      sum('pplink:70'),
      sum('ppcharge:70', 'ppcharge:71'),
      sumOfMoney(...lines.map(([, line]) => String(line.amount))),
    ]
    assert.deepEqual(sent, amounts, `${day}, ${crown}, option ${option}`)
  }
})
