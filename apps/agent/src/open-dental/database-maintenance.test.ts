import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { firstReadOf, testCopy } from './testing/test-copy.ts'
import { testFamily } from './testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })

type Fault = {
  /** The check of Open Dental's database maintenance that finds it. */
  check: string
  sql: string
  dataset: string
  id: string
  served: Record<string, unknown>
}

/** Faults that real databases have, and what is served of them (docs/decisions/database-maintenance.md). None of them meets the rows of another. */
const faults: Fault[] = [
  {
    check: 'AppointmentsNoPattern',
    sql: "update appointment set Pattern = '' where AptNum = 6",
    dataset: 'appointments',
    id: '6',
    served: { duration_minutes: 0, ends_at: '2026-12-02T12:00:00.000Z' },
  },
  {
    check: 'AppointmentsEndingOnDifferentDay',
    sql: "update appointment set AptDateTime = '2026-12-01 23:30:00' where AptNum = 2",
    dataset: 'appointments',
    id: '2',
    served: { local_starts_at: '2026-12-01T23:30:00', ends_at: '2026-12-02T00:10:00.000Z' },
  },
  {
    check: 'ProcedurelogAttachedToWrongAppts',
    sql: `insert into procedurelog (ProcNum, PatNum, AptNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty, ProcFee)
            values (101, 6, 1, 1, 1, 1, 1, 1, 10)`,
    dataset: 'appointments',
    id: '1',
    served: { treatment_source_ids: ['1', '101'], scheduled_production: '110.10' },
  },
  {
    check: 'ProcedurelogAttachedToApptWithProcStatusDeleted',
    sql: `insert into procedurelog (ProcNum, PatNum, AptNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty)
            values (102, 6, 6, 6, 1, 1, 1, 1)`,
    dataset: 'appointments',
    id: '6',
    served: { treatment_source_ids: [], scheduled_production: null },
  },
  {
    check: 'AppointmentScheduledWithCompletedProcs',
    sql: `insert into appointment (AptNum, PatNum, AptStatus, Pattern, AptDateTime, ClinicNum) values (103, 6, 1, '/', '2026-12-03 09:00:00', 1);
          insert into procedurelog (ProcNum, PatNum, AptNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty) values (103, 6, 103, 2, 1, 1, 1, 1)`,
    dataset: 'appointments',
    id: '103',
    served: { status: 'scheduled', treatment_source_ids: ['103'] },
  },
  {
    check: 'GroupNoteWithInvalidAptNum',
    sql: 'update procedurelog set AptNum = 6 where ProcNum = 6',
    dataset: 'appointments',
    id: '6',
    served: { treatment_source_ids: [] },
  },
  {
    check: 'ProcedurelogWithInvalidAptNum',
    sql: `insert into procedurelog (ProcNum, PatNum, AptNum, PlannedAptNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty)
            values (104, 6, 9999, 9999, 1, 1, 1, 1, 1)`,
    dataset: 'treatments',
    id: '104',
    served: { appointment_source_id: '9999', status: 'planned' },
  },
  {
    check: 'ProcedurelogCodeNumInvalid',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty) values (105, 6, 1, 1, 1, 9999, 1)`,
    dataset: 'treatments',
    id: '105',
    served: { procedure_code: null, description: null, area: null },
  },
  {
    check: 'ProcedurelogWithInvalidProvNum',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty) values (106, 6, 1, 9999, 1, 1, 1)`,
    dataset: 'treatments',
    id: '106',
    served: { provider_name: null, procedure_code: 'D0120' },
  },
  {
    check: 'ProcedurelogUnitQtyZero',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty, BaseUnits, ProcFee)
            values (107, 6, 1, 1, 1, 1, 0, 0, 55)`,
    dataset: 'treatments',
    id: '107',
    served: { quantity: 1, fee: '55.00' },
  },
  {
    check: 'ProcedurelogUnitQtyZero, completed: the account multiplies by nothing, as the program’s aging does',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProcDate, ProvNum, ClinicNum, CodeNum, UnitQty, BaseUnits, ProcFee)
            values (108, 6, 2, '2026-10-01', 1, 1, 1, 0, 0, 55)`,
    dataset: 'ledger_transactions',
    id: 'proc:108',
    served: { amount: '0.00', transaction_type: 'charge' },
  },
  {
    check: 'ProcedurelogToothNums, ProcedurelogFixInvalidToothranges',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty, ToothNum, ToothRange) values (109, 6, 1, 1, 1, 1, 1, '', '14,ABC, 121')`,
    dataset: 'treatments',
    id: '109',
    served: { teeth: ['14', 'ABC', '121'] },
  },
  {
    check: 'ProcedurelogWithInvalidClinicNum, ClinicNumMissingInvalid, TablesWithClinicNumNegative',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty) values (110, 6, 1, 1, -1, 1, 1)`,
    dataset: 'treatments',
    id: '110',
    served: { procedure_code: 'D0120' },
  },
  {
    check: 'ClaimProcEstNoBillIns',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty, ProcFee) values (111, 6, 1, 1, 1, 1, 1, 80);
          insert into claimproc (ClaimProcNum, ProcNum, PatNum, ProvNum, Status, NoBillIns, InsPayEst, InsEstTotal, InsEstTotalOverride, WriteOffEst, WriteOffEstOverride, ClinicNum)
            values (111, 111, 6, 1, 6, 1, 40, 40, -1, -1, -1, 1)`,
    dataset: 'treatments',
    id: '111',
    served: { insurance_estimate: null },
  },
  {
    check: 'ClaimProcEstWithInsPaidAmt',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty, ProcFee) values (112, 6, 1, 1, 1, 1, 1, 80);
          insert into claimproc (ClaimProcNum, ProcNum, PatNum, ProvNum, Status, InsPayAmt, InsPayEst, InsEstTotal, InsEstTotalOverride, WriteOffEst, WriteOffEstOverride, ClinicNum)
            values (112, 112, 6, 1, 6, 7, 40, 40, -1, -1, -1, 1)`,
    dataset: 'treatments',
    id: '112',
    served: { insurance_estimate: '40.00', patient_estimate: '40.00' },
  },
  {
    check: 'ProcedurelogNotCompletedAttachedToReceivedClaimprocOrPaySplitOrAdj',
    sql: `insert into procedurelog (ProcNum, PatNum, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty, ProcFee) values (113, 6, 1, 1, 1, 1, 1, 80);
          insert into claimproc (ClaimProcNum, ProcNum, PatNum, ProvNum, Status, InsPayAmt, DateCP, ClinicNum) values (113, 113, 6, 1, 1, 9, '2026-10-01', 1);
          insert into adjustment (AdjNum, AdjDate, AdjAmt, PatNum, AdjType, ProcNum, ClinicNum) values (113, '2026-10-02', -3, 6, 10, 113, 1)`,
    dataset: 'ledger_transactions',
    id: 'adj:113',
    served: { amount: '-3.00', treatment_source_id: '113' },
  },
  {
    check: 'ClaimProcDateNotMatchPayment: the line has its own date, by which the program ages it',
    sql: "update claimpayment set CheckDate = '2026-11-11' where ClaimPaymentNum = 1",
    dataset: 'ledger_transactions',
    id: 'claimproc:1:insurance_payment',
    served: { transaction_on: '2026-10-20' },
  },
  {
    check: 'ClaimProcWithInvalidClaimPaymentNum, ClaimProcWithInvalidClaimNum, ClaimProcWithInvalidProvNum',
    sql: 'update claimproc set ClaimPaymentNum = 9999, ClaimNum = 9999, ProvNum = 9999 where ClaimProcNum = 5',
    dataset: 'ledger_transactions',
    id: 'claimproc:5:insurance_payment',
    served: { amount: '-8.00', reference_number: null, claim_source_id: '9999', provider_name: null },
  },
  {
    check: 'PaySplitWithInvalidPayNum',
    sql: `insert into paysplit (SplitNum, SplitAmt, PatNum, PayNum, ProvNum, DatePay, ClinicNum) values (114, 12, 6, 9999, 1, '2026-10-03', 1)`,
    dataset: 'ledger_transactions',
    id: 'split:114',
    served: { amount: '-12.00', transaction_type: 'patient_payment', payment_method: null, payment_method_raw: null },
  },
  {
    check: 'PaySplitAttachedToDeletedProc',
    sql: `insert into paysplit (SplitNum, SplitAmt, PatNum, PayNum, ProvNum, DatePay, ProcNum, ClinicNum) values (115, 4, 6, 1, 1, '2026-10-03', 102, 1)`,
    dataset: 'ledger_transactions',
    id: 'split:115',
    served: { amount: '-4.00', treatment_source_id: '102' },
  },
  {
    check: 'TransactionsWithFutureDates: the program’s balance has them too',
    sql: `insert into adjustment (AdjNum, AdjDate, AdjAmt, PatNum, AdjType, ClinicNum) values (116, '2027-10-02', 6, 6, 10, 1)`,
    dataset: 'ledger_transactions',
    id: 'adj:116',
    served: { amount: '6.00', transaction_on: '2027-10-02' },
  },
  {
    check: 'DecimalValues',
    sql: `insert into adjustment (AdjNum, AdjDate, AdjAmt, PatNum, AdjType, ClinicNum) values (117, '2026-10-02', 0.0000001, 6, 10, 1)`,
    dataset: 'ledger_transactions',
    id: 'adj:117',
    served: { amount: '0.00' },
  },
  {
    check: 'PatientMissing',
    sql: `insert into adjustment (AdjNum, AdjDate, AdjAmt, PatNum, AdjType, ClinicNum) values (118, '2026-10-02', 6, 9999, 10, 1)`,
    dataset: 'ledger_transactions',
    id: 'adj:118',
    served: { amount: '6.00', patient_source_id: '9999', guarantor_source_id: null },
  },
  {
    check: 'an adjustment whose type is a definition of another list',
    sql: `insert into adjustment (AdjNum, AdjDate, AdjAmt, PatNum, AdjType, ClinicNum) values (119, '2026-10-02', 6, 6, 40, 1)`,
    dataset: 'ledger_transactions',
    id: 'adj:119',
    served: { adjustment_type: null },
  },
  {
    check: 'BillingTypesInvalid: a number of another list has no name in the program either',
    sql: 'update patient set BillingType = 10 where PatNum = 2',
    dataset: 'patients',
    id: '2',
    served: { billing_type: null },
  },
  {
    check: 'BillingTypesInvalid: a number of no definition',
    sql: 'update patient set BillingType = 9999 where PatNum = 3',
    dataset: 'patients',
    id: '3',
    served: { billing_type: null },
  },
  {
    check: 'PatientBadGuarantor, PatientPriProvMissing',
    sql: 'update patient set Guarantor = 9999, PriProv = 9999 where PatNum = 6',
    dataset: 'patients',
    id: '6',
    served: { guarantor_source_id: '9999', primary_provider_name: null, status: 'active' },
  },
  {
    check: 'PatientUnDeleteWithBalance, PatientDeletedWithClinicNumSet',
    sql: "insert into patient (PatNum, FName, LName, Guarantor, ClinicNum, PatStatus, EstBalance) values (120, 'Gone', 'Elm', 120, 1, 4, 33)",
    dataset: 'patients',
    id: '120',
    served: { is_hidden: true, balance: { total: '33.00', insurance_estimate: '0.00', as_of: null } },
  },
  {
    check: 'PatPlanDeleteWithInvalidInsSubNum',
    sql: 'insert into patplan (PatPlanNum, PatNum, Ordinal, InsSubNum) values (121, 2, 2, 9998)',
    dataset: 'patients',
    id: '2',
    served: { primary_insurance_plan_source_id: '2', secondary_insurance_plan_source_id: null },
  },
  {
    check: 'InsPlanInvalidCarrier',
    sql: 'update insplan set CarrierNum = -5 where PlanNum = 2',
    dataset: 'insurance_plans',
    id: '2',
    served: { carrier_name: null, payer_id: null },
  },
  {
    check: 'FeeDeleteForInvalidProc, FeeDeleteDuplicates',
    sql: 'insert into fee (FeeNum, FeeSched, CodeNum, Amount) values (122, 2, 9999, 5), (123, 2, 2, 81)',
    dataset: 'fee_schedules',
    id: '2',
    served: {
      fees: ['80.00', '81.00'].map((amount) => ({
        procedure_code: 'D0150',
        amount,
        provider_source_id: null,
        effective_on: null,
      })),
    },
  },
  {
    check: 'FeeScheduleHiddenWithPatient',
    sql: 'update feesched set IsHidden = 1 where FeeSchedNum = 1',
    dataset: 'patients',
    id: '1',
    served: { fee_schedule_source_id: '1' },
  },
  {
    check: 'RefAttachDeleteWithInvalidReferral',
    sql: 'update refattach set ItemOrder = 1 where RefAttachNum = 2',
    dataset: 'patient_referrals',
    id: '4',
    served: { source_type: null, source_name: null, attribution_role: 'primary' },
  },
  {
    check: 'RefAttachesWithDuplicateOrder: the older one is the first',
    sql: 'select 1',
    dataset: 'patient_referrals',
    id: '2',
    served: { attribution_role: 'secondary', rank: 1 },
  },
]

test('what is served of the faults that Open Dental’s database maintenance knows', async (t) => {
  const practice = await testFamily(mariaDb)
  for (const { sql } of faults) await practice.execute(sql)
  const now = () => new Date('2026-11-20T12:00:00Z')
  const read = await firstReadOf(practice.settings, now)
  const find = (dataset: string, id: string) =>
    Object.keys(read)
      .filter((key) => key.endsWith(` ${dataset}`))
      .map((key) => read[key]?.[id] as Record<string, unknown> | undefined)
      .find((record) => record !== undefined)
  const wrong = faults.flatMap(({ check, dataset, id, served }) => {
    const record = find(dataset, id)
    const actual = record && Object.fromEntries(Object.keys(served).map((name) => [name, record[name]]))
    return JSON.stringify(actual) === JSON.stringify(served) ? [] : [{ check, actual, served }]
  })
  assert.deepEqual(wrong, [])
  // In the program's balance too, only what was completed is paid for.
  assert.equal(find('ledger_transactions', 'claimproc:113:insurance_payment'), undefined)
  // The service takes every one of these records.
  const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now })
  await copy.run()
})
