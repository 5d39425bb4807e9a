import type { testFamily } from './test-family.ts'

export type Family = Awaited<ReturnType<typeof testFamily>>

/** What happens at the practice, and which datasets vendors then see otherwise. */
export const officeChanges: readonly [
  what: string,
  concerned: string,
  happens: (practice: Family, clock: { now: Date }) => Promise<unknown>,
][] = [
  ['a patient changes a name', 'patients', (p) => p.update('patient', 'PatNum', 4, { FName: 'Doris' })],
  [
    'a visit is missed, and what was scheduled for it is planned again',
    'appointments treatments',
    (p) => p.update('appointment', 'AptNum', 2, { AptStatus: 5 }),
  ],
  ['it is booked again', 'appointments treatments', (p) => p.update('appointment', 'AptNum', 2, { AptStatus: 1 })],
  [
    'planned work gets a visit',
    'appointments treatments',
    async (p) => {
      await p.insert('appointment', { AptNum: 61, PatNum: 4, AptStatus: 1, Pattern: '/', ClinicNum: 2 })
      await p.update('procedurelog', 'ProcNum', 3, { AptNum: 61 })
    },
  ],
  ['that visit is deleted under it', 'appointments treatments', (p) => p.remove('appointment', 'AptNum', 61)],
  ['and the work forgets it', 'treatments', (p) => p.update('procedurelog', 'ProcNum', 3, { AptNum: 0 })],
  [
    'a treatment is adjusted',
    'treatments ledger_transactions',
    (p) => p.insert('adjustment', { AdjNum: 61, AdjAmt: -1, PatNum: 4, ProvNum: 1, ProcNum: 4, ClinicNum: 2 }),
  ],
  ['that adjustment is deleted', 'treatments ledger_transactions', (p) => p.remove('adjustment', 'AdjNum', 61)],
  ['a patient is deleted', 'patients', (p) => p.update('patient', 'PatNum', 6, { PatStatus: 4 })],
  [
    'a provider gets another name',
    'patients appointments treatments ledger_transactions',
    (p) => p.update('provider', 'ProvNum', 1, { LName: 'Muster' }),
  ],
  ['a billing type is renamed', 'patients', (p) => p.update('definition', 'DefNum', 40, { ItemName: 'Usual' })],
  ['a cover is dropped', 'patients', (p) => p.remove('patplan', 'PatPlanNum', 3)],
  ['a cover is added', 'patients', (p) => p.insert('patplan', { PatPlanNum: 9, PatNum: 3, Ordinal: 1, InsSubNum: 2 })],
  ['a subscription is for another plan', 'patients', (p) => p.update('inssub', 'InsSubNum', 2, { PlanNum: 1 })],
  ['a plan becomes a medical one', 'patients', (p) => p.update('insplan', 'PlanNum', 2, { IsMedical: 1 })],
  ['it is dental again', 'patients', (p) => p.update('insplan', 'PlanNum', 2, { IsMedical: 0 })],
  ['a subscription vanishes under its cover', 'patients', (p) => p.remove('inssub', 'InsSubNum', 3)],
  ['a subscription that was missing appears', 'patients', (p) => p.insert('inssub', { InsSubNum: 999, PlanNum: 2 })],
  [
    'a subscription ends with its day',
    'patients',
    async (_p, clock) => {
      clock.now = new Date('2026-11-26T12:00:00Z')
    },
  ],
  ['a fee schedule is deleted', 'fee_schedules patients', (p) => p.remove('feesched', 'FeeSchedNum', 1)],
  [
    'a patient of the south refers one of the north',
    'patients patient_referrals',
    async (p) => {
      await p.insert('referral', { ReferralNum: 20, FName: 'Dora', PatNum: 4 })
      await p.insert('refattach', { RefAttachNum: 20, ReferralNum: 20, PatNum: 3, RefType: 1, ItemOrder: 1 })
    },
  ],
  ['that referral is taken back', 'patients patient_referrals', (p) => p.remove('refattach', 'RefAttachNum', 20)],
  [
    'someone else takes over what is paid by plan',
    'patients ledger_transactions',
    (p) => p.update('payplancharge', 'PayPlanChargeNum', 2, { Guarantor: 4 }),
  ],
  [
    'the first source of a patient is removed',
    'patients patient_referrals',
    (p) => p.remove('refattach', 'RefAttachNum', 1),
  ],
  [
    'a patient is merged into another',
    'patients appointments',
    async (p) => {
      await p.update('patient', 'PatNum', 6, { PatStatus: 3 })
      await p.update('appointment', 'AptNum', 6, { PatNum: 4 })
      await p.insert('patientlink', { PatNumFrom: 6, PatNumTo: 4, LinkType: 1, DateTimeLink: '2001-01-01 00:00:00' })
    },
  ],
  [
    'that merge is undone by one back',
    'patients',
    (p) => p.insert('patientlink', { PatNumFrom: 4, PatNumTo: 6, LinkType: 1, DateTimeLink: '2001-01-02 00:00:00' }),
  ],
  ['the link back is removed', 'patients', (p) => p.remove('patientlink', 'PatNumFrom', 4)],
  [
    'a patient joins another family, and the lines of the account go along',
    'patients ledger_transactions',
    (p) => p.update('patient', 'PatNum', 2, { Guarantor: 6 }),
  ],
  [
    'a patient is registered elsewhere, and the referrals go along',
    'patients patient_referrals',
    (p) => p.update('patient', 'PatNum', 5, { ClinicNum: 1 }),
  ],
  [
    'a visit elsewhere lists patient and guarantor there',
    'patients appointments',
    (p) =>
      p.insert('appointment', {
        AptNum: 50,
        PatNum: 2,
        AptStatus: 1,
        ClinicNum: 2,
        AptDateTime: '2026-12-05 09:00:00',
      }),
  ],
  [
    'that visit is deleted, without a history row',
    'patients appointments',
    (p) => p.remove('appointment', 'AptNum', 50),
  ],
  [
    'a visit is deleted, with its history row',
    'appointments',
    async (p) => {
      await p.remove('appointment', 'AptNum', 6)
      await p.insert('histappointment', {
        HistApptNum: 1,
        AptNum: 6,
        HistApptAction: 4,
        HistDateTStamp: '2026-11-20 12:00:00',
      })
    },
  ],
  ['work is done elsewhere', 'patients treatments', (p) => p.update('procedurelog', 'ProcNum', 2, { ClinicNum: 2 })],
  ['and back again', 'patients treatments', (p) => p.update('procedurelog', 'ProcNum', 2, { ClinicNum: 1 })],
  [
    'a payment is split to another clinic',
    'patients ledger_transactions',
    (p) => p.update('paysplit', 'SplitNum', 4, { ClinicNum: 2 }),
  ],
  ['that split is deleted', 'patients ledger_transactions', (p) => p.remove('paysplit', 'SplitNum', 4)],
  [
    'a treatment moves from one visit to another',
    'appointments treatments',
    (p) => p.update('procedurelog', 'ProcNum', 2, { AptNum: 1 }),
  ],
  [
    'a treatment is taken off its planned visit',
    'appointments',
    (p) => p.update('procedurelog', 'ProcNum', 3, { PlannedAptNum: 0 }),
  ],
  [
    'a treatment’s fee changes',
    'appointments treatments',
    (p) => p.update('procedurelog', 'ProcNum', 2, { ProcFee: 190 }),
  ],
  ['an operatory is renamed', 'appointments', (p) => p.update('operatory', 'OperatoryNum', 1, { OpName: 'Room 1' })],
  [
    'a type of appointment is renamed',
    'appointments',
    (p) => p.update('appointmenttype', 'AppointmentTypeNum', 1, { AppointmentTypeName: 'Recall' }),
  ],
  ['a confirmation is renamed', 'appointments', (p) => p.update('definition', 'DefNum', 21, { ItemName: 'Open' })],
  [
    'a patient arrives',
    'appointments',
    (p) => p.update('appointment', 'AptNum', 2, { DateTimeArrived: '2026-12-01 09:55:00' }),
  ],
  [
    'a visit is found to have been missed, in the history alone',
    'appointments',
    (p) => p.execute('insert into histappointment set AptNum = 3, HistApptAction = 2, HistDateTStamp = now()'),
  ],
  [
    'an estimate is worked out anew',
    'treatments',
    (p) => p.update('claimproc', 'ClaimProcNum', 2, { InsEstTotalOverride: 33.33 }),
  ],
  ['an estimate is deleted', 'treatments', (p) => p.remove('claimproc', 'ClaimProcNum', 3)],
  [
    'an estimate is deleted and one for other work made',
    'treatments',
    async (p) => {
      await p.remove('claimproc', 'ClaimProcNum', 2)
      await p.insert('claimproc', {
        ProcNum: 3,
        PatNum: 4,
        ClinicNum: 2,
        Status: 6,
        InsEstTotal: 1,
        InsEstTotalOverride: -1,
      })
    },
  ],
  ['a priority is renamed', 'treatments', (p) => p.update('definition', 'DefNum', 20, { ItemName: 'Soon' })],
  [
    'a procedure code gets another text',
    'treatments',
    (p) => p.update('procedurecode', 'CodeNum', 3, { LaymanTerm: 'White filling' }),
  ],
  [
    'an insurer’s check gets another number',
    'ledger_transactions',
    (p) => p.update('claimpayment', 'ClaimPaymentNum', 1, { CheckNum: 'EFT 78' }),
  ],
  [
    'planned work is completed',
    'appointments treatments ledger_transactions',
    async (p) => {
      await p.update('appointment', 'AptNum', 2, { AptStatus: 2 })
      await p.update('procedurelog', 'ProcNum', 2, { ProcStatus: 2, DateComplete: '2026-12-01' })
    },
  ],
  [
    'done work is deleted, and what hangs on it',
    'appointments treatments ledger_transactions',
    async (p) => {
      await p.update('procedurelog', 'ProcNum', 1, { ProcStatus: 6, AptNum: 0 })
      await p.remove('adjustment', 'AdjNum', 1)
      await p.remove('claimproc', 'ClaimProcNum', 1)
    },
  ],
  [
    'a claim is received',
    'treatments ledger_transactions',
    (p) => p.update('claimproc', 'ClaimProcNum', 4, { Status: 1, InsPayAmt: 40.5, DateCP: '2026-11-19' }),
  ],
  [
    'and then is no payment after all',
    'ledger_transactions treatments',
    (p) => p.update('claimproc', 'ClaimProcNum', 4, { Status: 2 }),
  ],
  ['an adjustment is deleted', 'ledger_transactions', (p) => p.remove('adjustment', 'AdjNum', 2)],
  [
    'a kind of adjustment is renamed',
    'ledger_transactions',
    async (p) => {
      await p.insert('adjustment', {
        AdjNum: 7,
        AdjDate: '2026-11-01',
        AdjAmt: 1,
        PatNum: 4,
        AdjType: 10,
        ClinicNum: 2,
      })
      await p.update('definition', 'DefNum', 10, { ItemName: 'Goodwill' })
    },
  ],
  [
    'a way of paying is renamed',
    'ledger_transactions',
    (p) => p.update('definition', 'DefNum', 71, { ItemName: 'Cash' }),
  ],
  [
    'a payment turns out to be another',
    'ledger_transactions',
    (p) => p.update('payment', 'PayNum', 3, { PayType: 69 }),
  ],
  [
    'a kind of prepayment is hidden',
    'ledger_transactions',
    (p) => p.update('definition', 'DefNum', 29, { ItemValue: 'X' }),
  ],
  [
    'a line of a payment plan falls due',
    'ledger_transactions',
    async (_p, clock) => {
      clock.now = new Date('2026-12-01T00:00:01Z')
    },
  ],
  [
    'a line of a payment plan is deleted',
    'ledger_transactions',
    (p) => p.remove('payplancharge', 'PayPlanChargeNum', 1),
  ],
  [
    'a payment plan tracks insurance from now on, in a table without a stamp',
    'ledger_transactions',
    (p) => p.update('payplan', 'PayPlanNum', 1, { PlanNum: 2 }),
  ],
  [
    'a treatment is put on a dynamic payment plan, in tables without a stamp',
    'ledger_transactions',
    async (p) => {
      await p.insert('payplan', { PayPlanNum: 3, PatNum: 5, Guarantor: 5, IsDynamic: 1 })
      await p.insert('payplanlink', { PayPlanLinkNum: 1, PayPlanNum: 3, LinkType: 2, FKey: 5 })
    },
  ],
  [
    'insurance pays more for it, and the plan less',
    'ledger_transactions treatments',
    (p) => p.update('claimproc', 'ClaimProcNum', 5, { InsPayAmt: 9.5 }),
  ],
  [
    'its provider is named otherwise',
    'patients appointments treatments ledger_transactions',
    (p) => p.update('provider', 'ProvNum', 1, { LName: 'Example' }),
  ],
  [
    'it is worth an amount of its own to the plan',
    'ledger_transactions',
    (p) => p.update('payplanlink', 'PayPlanLinkNum', 1, { AmountOverride: 5 }),
  ],
  ['it is taken off the plan', 'ledger_transactions', (p) => p.remove('payplanlink', 'PayPlanLinkNum', 1)],
  [
    'the practice counts payment plans another way',
    'ledger_transactions full',
    (p) => p.setPreference('PayPlansVersion', '1'),
  ],
  [
    'and then by what was completed, too',
    'ledger_transactions',
    (p) => p.update('payplan', 'PayPlanNum', 1, { CompletedAmt: 41 }),
  ],
  ['and a plan is deleted', 'ledger_transactions', (p) => p.remove('payplan', 'PayPlanNum', 1)],
  [
    'a source of referrals is renamed',
    'patient_referrals',
    (p) => p.update('referral', 'ReferralNum', 3, { LName: 'Flyer' }),
  ],
  ['a specialty is renamed', 'patient_referrals', (p) => p.update('definition', 'DefNum', 35, { ItemName: 'Braces' })],
  [
    'a source that was missing appears',
    'patient_referrals',
    (p) => p.execute("insert into referral set ReferralNum = 999, LName = 'Late', DateTStamp = '2026-01-02 03:04:05'"),
  ],
]
