import assert from 'node:assert/strict'
import type { Change, Find } from '../test-change.ts'
import { seen } from '../test-seen.ts'

/** Payments, claims, and what falls due or ends by the day alone. */
export async function moneyOfAYear(find: Find): Promise<Change[]> {
  const procedures = await find.keys(
    `select p.ProcNum from procedurelog p join patient t on t.PatNum = p.PatNum and t.PatStatus = 0
      where p.ProcStatus = 2 and p.ClinicNum = 1 order by p.ProcNum desc`,
  )
  const [one = '', other = ''] = procedures
  const split = await find.one(
    'select SplitNum from paysplit where SplitAmt > 0 and UnearnedType = 0 order by SplitNum',
  )
  const linked = await find.one(
    `select PayPlanLinkNum, FKey, cast(7.58 - ProcFee * (UnitQty + BaseUnits) as decimal(19, 2)) as rest
       from payplanlink join procedurelog on ProcNum = FKey where LinkType = 2`,
  )
  const claim = await find.one(
    `select c.ClaimNum from claimproc c join procedurelog p on p.ProcNum = c.ProcNum and p.ProcStatus = 2
      where c.Status = 0 and c.ClaimNum <> 0 and c.InsPayEst > 0 order by c.ClaimNum`,
  )
  const claimed = await find.keys(
    `select ClaimProcNum from claimproc where ClaimNum = ${claim.ClaimNum} and Status = 0`,
  )
  const ofClaim = await find.keys(`select ProcNum from claimproc where ClaimNum = ${claim.ClaimNum} and Status = 0`)
  const due = (from: string, to: string) =>
    find.keys(
      `select concat('ppcharge:', g.PayPlanChargeNum) from payplancharge g join payplan l on l.PayPlanNum = g.PayPlanNum
        where g.ChargeDate > '${from}' and g.ChargeDate <= '${to}' and (g.ChargeType = 1 or l.PlanNum = 0)`,
    )
  const covered = await find.one(
    `select s.InsSubNum, p.PatNum from inssub s join patplan p on p.InsSubNum = s.InsSubNum and p.Ordinal = 1
       join patient t on t.PatNum = p.PatNum
      where s.DateTerm > '2090-01-01' and s.PlanNum in (select PlanNum from insplan)
        and (select count(*) from patplan o where o.InsSubNum = s.InsSubNum) = 1
      order by s.InsSubNum`,
  )
  const patient = covered.PatNum ?? ''
  const december = await due('2026-11-30', '2026-12-01')
  assert.ok(december.length > 0)
  const lines = (key: string, amount: string, part: string) =>
    `insert into paysplit (SplitNum, PayNum, PatNum, ProvNum, ClinicNum, ProcNum, SplitAmt, DatePay)
     select ${key}, 900001, PatNum, ProvNum, ClinicNum, ProcNum, ${amount}, '2026-11-29' from procedurelog where ProcNum = ${part}`
  return [
    {
      what: 'a payment for two procedures, and nothing for a third',
      sql: [
        `insert into payment (PayNum, PatNum, PayType, PayDate, PayAmt, CheckNum)
         select 900001, PatNum, (select min(DefNum) from definition where Category = 10), '2026-11-29', 30.3, ' 4711 '
           from procedurelog where ProcNum = ${one}`,
        lines('900001', '10.10', one),
        lines('900002', '20.20', other),
        lines('900003', '0', other),
      ],
      day: '2026-11-29',
      expected: { ledger_transactions: ['split:900001', 'split:900002', 'split:900003'] },
      check: (views) => {
        const { amount, reference_number, treatment } = seen(views, 'ledger_transactions', 'split:900001')
        assert.deepEqual([amount, reference_number, treatment], ['-10.10', '4711', one])
      },
    },
    {
      what: 'another number on that check',
      sql: ["update payment set CheckNum = '4712' where PayNum = 900001"],
      expected: { ledger_transactions: ['split:900001', 'split:900002', 'split:900003'] },
    },
    {
      what: 'splits that are deleted, a new one and an old one',
      sql: [`delete from paysplit where SplitNum in (900002, ${split.SplitNum})`],
      expected: { ledger_transactions: ['split:900002', `split:${split.SplitNum}`] },
      check: (views) => assert.equal(seen(views, 'ledger_transactions', 'split:900002').is_hidden, true),
    },
    {
      what: 'a payment outside the plan for what is on a dynamic payment plan, which is worth so much less',
      sql: [lines('900004', '7.58', linked.FKey ?? '')],
      expected: { ledger_transactions: ['split:900004', `pplink:${linked.PayPlanLinkNum}`] },
      check: (views) => {
        const { amount, treatment } = seen(views, 'ledger_transactions', `pplink:${linked.PayPlanLinkNum}`)
        assert.deepEqual([amount, treatment], [linked.rest, linked.FKey])
      },
    },
    {
      what: 'a claim that is received, paid and written off',
      sql: [
        `update claim set ClaimStatus = 'R', DateReceived = '2026-11-29' where ClaimNum = ${claim.ClaimNum}`,
        `update claimproc set Status = 1, InsPayAmt = 7.70, WriteOff = 1.10, DateCP = '2026-11-29'
          where ClaimProcNum in (${claimed.join(', ')})`,
      ],
      expected: {
        treatments: ofClaim,
        ledger_transactions: claimed.flatMap((key) => [
          `claimproc:${key}:insurance_payment`,
          `claimproc:${key}:write_off`,
        ]),
      },
    },
    {
      what: 'the insurer’s check, entered for it with its number',
      sql: [
        "insert into claimpayment (ClaimPaymentNum, CheckNum, CheckDate, CheckAmt) values (900001, 'EFT-77', '2026-11-29', 7.7)",
        `update claimproc set ClaimPaymentNum = 900001 where ClaimProcNum in (${claimed.join(', ')})`,
      ],
      expected: { ledger_transactions: claimed.map((key) => `claimproc:${key}:insurance_payment`) },
      check: (views) => {
        const reference = (part: string) =>
          seen(views, 'ledger_transactions', `claimproc:${claimed[0]}:${part}`).reference_number
        assert.deepEqual([reference('insurance_payment'), reference('write_off')], ['EFT-77', null])
      },
    },
    {
      what: 'and another number on it',
      sql: ["update claimpayment set CheckNum = 'EFT-78' where ClaimPaymentNum = 900001"],
      expected: { ledger_transactions: claimed.map((key) => `claimproc:${key}:insurance_payment`) },
    },
    {
      what: 'the claim sent once more: nothing was paid after all',
      sql: [
        `update claimproc set Status = 0, InsPayAmt = 0, WriteOff = 0 where ClaimProcNum in (${claimed.join(', ')})`,
      ],
      expected: {
        treatments: ofClaim,
        ledger_transactions: claimed.flatMap((key) => [
          `claimproc:${key}:insurance_payment`,
          `claimproc:${key}:write_off`,
        ]),
      },
    },
    {
      what: 'insurance that will end in the next summer',
      sql: [`update inssub set DateTerm = '2027-06-30' where InsSubNum = ${covered.InsSubNum}`],
    },
    { what: 'the eve of the day on which payment plans fall due', day: '2026-11-30' },
    {
      what: 'that day, with no row changed',
      day: '2026-12-01',
      expected: { ledger_transactions: december, patients: [] },
    },
    {
      what: 'a clock that is set back to the eve: what was due is not',
      day: '2026-11-30',
      expected: { ledger_transactions: december, patients: [] },
      check: (views) => {
        for (const key of december) assert.equal(seen(views, 'ledger_transactions', key).is_hidden, true)
      },
    },
    {
      what: 'months later: every line that fell due since',
      day: '2027-06-30',
      expected: { ledger_transactions: await due('2026-11-30', '2027-06-30') },
      check: (views) => assert.ok(seen(views, 'patients', patient).primary_insurance_plan),
    },
    {
      what: 'the day after the insurance ended',
      day: '2027-07-01',
      expected: { patients: [patient] },
      check: (views) => assert.equal(seen(views, 'patients', patient).primary_insurance_plan, null),
    },
    { what: 'the end of the year', day: '2027-11-20', expected: { ledger_transactions: [] } },
  ]
}
