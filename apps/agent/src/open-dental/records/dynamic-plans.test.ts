import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

test('what is on a dynamic payment plan is credited with what is left of it, from its day on, once it is done', async (t) => {
  const practice = await testFamily(await startTestMariaDb({ after }))
  await practice.execute(
    `insert into payplan (PayPlanNum, PatNum, Guarantor, IsDynamic, DynamicPayPlanTPOption) values (3, 1, 1, 1, 1), (4, 4, 4, 1, 2);
     insert into adjustment (AdjNum, AdjDate, AdjAmt, PatNum, ProvNum, ProcNum, ClinicNum) values (3, '2026-10-01', 1, 1, 2, 1, 1), (4, '2026-11-21', 1, 4, 2, 0, 2);
     insert into procedurelog (ProcNum, PatNum, ProcDate, ProcFee, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty) values
       (8, 4, '2026-11-21', 10, 2, 1, 2, 1, 1), (9, 4, '2026-11-20', 10, 2, 1, 2, 1, 3), (10, 4, '2026-11-20', 10, 1, 1, 2, 1, 3);
     insert into claimproc (ClaimProcNum, ProcNum, PatNum, Status, InsPayAmt, InsPayEst, WriteOff, WriteOffEst, InsEstTotalOverride, WriteOffEstOverride, ClinicNum) values
       (30, 9, 4, 6, 90, 8, 90, 0.5, -1, -1, 2), (31, 9, 4, 6, 90, 90, 90, -1, 4, -1, 2), (32, 9, 4, 0, 90, 0, 90, 90, -1, 0.25, 2), (33, 9, 4, 2, 90, 90, 90, 90, 90, 90, 2);
     insert into paysplit (SplitNum, SplitAmt, PatNum, PayNum, ProvNum, DatePay, ProcNum, AdjNum, PayPlanNum, ClinicNum) values
       (20, 1.5, 4, 3, 1, '2026-11-20', 0, 2, 0, 2), (21, 90, 4, 3, 1, '2026-11-20', 0, 2, 4, 2), (22, 90, 1, 1, 1, '2026-11-20', 1, 0, 3, 1);
     insert into payplanlink (PayPlanLinkNum, PayPlanNum, LinkType, FKey, AmountOverride, SecDateTEntry) values
       (1, 3, 2, 1, 0, '2026-11-02 18:30:00'), (2, 3, 2, 2, 0, '2026-11-02'), (3, 3, 2, 2, 7, '2026-11-02'),
       (4, 4, 2, 8, 0, '2026-11-02'), (5, 4, 2, 9, 0, '2026-11-02'), (6, 4, 1, 2, 0, '2026-11-02'), (7, 4, 2, 4, 33.335, '2026-11-02'),
       (8, 4, 2, 888, 5, '2026-11-02'), (9, 999, 2, 1, 5, '2026-11-02'), (10, 4, 2, 10, 5, '2026-11-02'), (11, 4, 1, 4, 5, '2026-11-02')`,
  )
  const credit = await readCredits(t)
  const { transaction_type, amount, transaction_on, entered_at, patient_source_id, ...first } =
    credit('1', 1) ?? assert.fail()
  // 100.10, less 20.10 of the provider's own adjustment, 40 of insurance and 20 paid outside the plan.
  assert.deepEqual([transaction_type, amount, transaction_on], ['payment_plan', '-20.00', '2026-10-01'])
  assert.deepEqual([entered_at, patient_source_id], ['2026-11-03T00:30:00.000Z', '1'])
  assert.deepEqual(
    [first.guarantor_source_id, first.treatment_source_id, first.procedure_code, first.provider_name],
    ['1', '1', 'D0120', 'Mia Sample'],
  )
  for (const [location, id] of [
    ['1', 2],
    ['1', 3],
    ['2', 10],
  ] as const)
    assert.equal(credit(location, id), undefined, 'planned, whichever way its plan counts it')
  for (const id of [4, 11]) assert.equal(credit('2', id), undefined, 'of tomorrow')
  assert.equal(credit('2', 5)?.transaction_on, '2026-11-20')
  assert.equal(credit('2', 6)?.transaction_on, '2026-08-05')
  // Three times 10, less 8 + 0.5 expected, 4 by override, and a write-off of 0.25.
  assert.equal(credit('2', 5)?.amount, '-17.25')
  assert.deepEqual([credit('2', 6)?.amount, credit('2', 6)?.treatment_source_id], ['-3.50', null])
  assert.equal(credit('2', 7)?.amount, '-33.34')
  assert.deepEqual([credit('2', 8), credit('1', 9)], [undefined, undefined], 'what leads nowhere')

  await practice.setPreference('PayPlansVersion', '3')
  assert.ok((await readCredits(t))('2', 6))
  for (const version of ['1', '4']) {
    await practice.setPreference('PayPlansVersion', version)
    assert.equal((await readCredits(t))('2', 6), undefined, version)
  }

  async function readCredits(t: TestContext) {
    const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, {
      timeZone: 'America/Chicago',
      now: () => new Date('2026-11-20T12:00:00Z'),
    })
    await copy.run()
    return (location: string, id: number) => copy.visible(location, 'ledger_transactions').get(`pplink:${id}`)
  }
})
