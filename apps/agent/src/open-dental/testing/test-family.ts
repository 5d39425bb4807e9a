import type { TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { type TestPractice, testPractice } from './test-practice.ts'

/** Tables with a change stamp, and the column that it is in. */
const stamps: Readonly<Record<string, string>> = {
  patient: 'DateTStamp',
  patplan: 'SecDateTEdit',
  inssub: 'SecDateTEdit',
  appointment: 'DateTStamp',
  procedurelog: 'DateTStamp',
  adjustment: 'SecDateTEdit',
  payment: 'SecDateTEdit',
  paysplit: 'SecDateTEdit',
  claimproc: 'SecDateTEdit',
  claimpayment: 'SecDateTEdit',
  payplancharge: 'SecDateTEdit',
  referral: 'DateTStamp',
  refattach: 'DateTStamp',
  provider: 'DateTStamp',
  operatory: 'DateTStamp',
  carrier: 'SecDateTEdit',
  feesched: 'SecDateTEdit',
  fee: 'SecDateTEdit',
  insplan: 'SecDateTEdit',
  procedurecode: 'DateTStamp',
}

/**
 * The small practice with people in it: Ann (1) answers for Ben (2) and Cid (3) at the north clinic, Dora (4) for
 * herself in the south, Eve (5) was sent by Ann. A visit each, planned and done work, claims, payments, a payment plan.
 */
export async function testFamily(mariaDb: TestMariaDb): Promise<TestPractice & { ageAll(): Promise<void> }> {
  const practice = await testPractice(mariaDb)
  await practice.execute(
    `insert into definition (DefNum, Category, ItemName, ItemValue) values
       (40, 4, 'Standard account', ''), (22, 2, 'Confirmed by text', 'c'), (21, 2, 'Unconfirmed', 'u'), (10, 1, 'Courtesy', '-'),
       (69, 10, 'Check', ''), (71, 10, 'Credit card', ''), (29, 29, 'Prepayment', ''), (30, 29, 'Hidden prepayment', 'X'),
       (20, 20, 'Next visit', ''), (35, 35, 'Orthodontics', '');
     insert into provider (ProvNum, FName, LName, Abbr) values (1, 'Mia', 'Sample', 'MS'), (2, '', '', 'HYG');
     insert into operatory (OperatoryNum, OpName) values (1, 'Op 1');
     insert into appointmenttype (AppointmentTypeNum, AppointmentTypeName) values (1, 'Checkup');
     insert into procedurecode (CodeNum, ProcCode, Descript, LaymanTerm, TreatArea) values
       (3, 'D2391', 'Resin one surface', 'Filling', 1), (4, '~GRP~', 'Group note', '', 0);
     insert into patient (PatNum, FName, LName, Guarantor, ClinicNum, PriProv, BillingType, FeeSched, Birthdate, EstBalance) values
       (1, 'Ann', 'Alder', 1, 1, 1, 40, 1, '1980-02-29', 12.005), (2, 'Ben', 'Alder', 1, 1, 1, 40, 0, '0001-01-01', 0),
       (3, 'Cid', 'Alder', 1, 1, 2, 40, 1999, '2015-05-05', 0), (4, 'Dora', 'Birch', 4, 2, 1, 40, 0, '1990-01-01', 0),
       (5, 'Eve', 'Cedar', 5, 2, 1, 40, 0, '1991-01-01', 0), (6, 'Fay', 'Dogwood', 6, 1, 1, 40, 0, '1992-01-01', 0);
     insert into inssub (InsSubNum, PlanNum, Subscriber, DateTerm) values
       (1, 1, 1, '2026-11-25'), (2, 2, 1, '0001-01-01'), (3, 2, 4, '2099-12-31'), (4, 1, 5, '2020-01-01');
     insert into patplan (PatPlanNum, PatNum, Ordinal, InsSubNum) values
       (1, 1, 1, 1), (2, 1, 2, 2), (3, 2, 1, 2), (4, 4, 1, 3), (5, 5, 1, 4), (6, 6, 1, 999);
     insert into appointment (AptNum, PatNum, AptStatus, Pattern, Confirmed, Op, ProvNum, ProvHyg, AptDateTime, ClinicNum, AppointmentTypeNum) values
       (1, 1, 2, '/XX/', 21, 1, 1, 2, '2026-10-01 09:00:00', 1, 1), (2, 2, 1, '//XXXX//', 21, 1, 1, 0, '2026-12-01 10:00:00', 1, 0),
       (3, 4, 5, '/', 21, 0, 1, 0, '2026-11-02 08:00:00', 2, 0), (4, 4, 6, '//', 0, 0, 1, 0, '0001-01-01 00:00:00', 2, 0),
       (5, 0, 7, '////', 0, 0, 1, 0, '2026-12-01 12:00:00', 1, 0), (6, 6, 1, '/', 21, 0, 1, 0, '2026-12-02 12:00:00', 1, 0);
     insert into procedurelog (ProcNum, PatNum, AptNum, PlannedAptNum, ProcDate, ProcFee, ProcStatus, ProvNum, ClinicNum, CodeNum, UnitQty, DateTP, DateComplete, Priority, ToothNum, ToothRange, Surf, Discount) values
       (1, 1, 1, 0, '2026-10-01', 100.10, 2, 1, 1, 1, 1, '2026-09-01', '2026-10-01', 0, '', '', '', 0),
       (2, 2, 2, 0, '2026-09-01', 180, 1, 1, 1, 3, 1, '2026-09-01', '0001-01-01', 20, '3', '', 'MO', 10),
       (3, 4, 0, 4, '2026-09-02', 80, 1, 1, 2, 3, 0, '2026-09-02', '0001-01-01', 0, '', '2,3,4', '', 0),
       (4, 4, 3, 0, '2026-08-02', 60.25, 2, 1, 2, 2, 2, '0001-01-01', '0001-01-01', 0, '', '', '', 0),
       (5, 5, 0, 0, '2026-08-03', 20, 2, 1, 2, 1, 1, '0001-01-01', '2026-08-03', 0, '', '', '', 0),
       (6, 1, 1, 0, '2026-10-01', 0, 3, 1, 1, 4, 1, '0001-01-01', '0001-01-01', 0, '', '', '', 0);
     insert into adjustment (AdjNum, AdjDate, AdjAmt, PatNum, AdjType, ProvNum, ProcNum, ClinicNum) values
       (1, '2026-10-02', -20.10, 1, 10, 1, 1, 1), (2, '2026-08-05', 5, 4, 10, 1, 0, 2);
     insert into payment (PayNum, PayType, PayDate, PayAmt, CheckNum, PatNum) values
       (1, 69, '2026-10-03', 30, '1044', 1), (2, 0, '2026-10-04', 0, '', 1), (3, 71, '2026-10-05', -5, '', 4);
     insert into paysplit (SplitNum, SplitAmt, PatNum, PayNum, ProvNum, DatePay, ProcNum, UnearnedType, ClinicNum) values
       (1, 20, 1, 1, 1, '2026-10-03', 1, 0, 1), (2, 10, 2, 1, 1, '2026-10-03', 0, 30, 1), (3, 7, 1, 2, 1, '2026-10-04', 0, 0, 1),
       (4, -7, 2, 2, 2, '2026-10-04', 0, 0, 1), (5, -5, 4, 3, 1, '2026-10-05', 4, 0, 2), (6, 3, 4, 3, 1, '2026-10-05', 0, 29, 2);
     insert into claimpayment (ClaimPaymentNum, CheckNum, CheckAmt, ClinicNum) values (1, ' EFT 77 ', 38, 1);
     insert into claimproc (ClaimProcNum, ProcNum, ClaimNum, PatNum, ProvNum, Status, InsPayAmt, InsPayEst, WriteOff, PlanNum, DateCP, ClinicNum, InsEstTotal, InsEstTotalOverride, WriteOffEst, WriteOffEstOverride) values
       (1, 1, 1, 1, 1, 1, 30, 30, 10, 1, '2026-10-20', 1, 30, -1, 10, -1),
       (2, 2, 0, 2, 1, 6, 0, 0, 0, 2, '0001-01-01', 1, 90, -1, 20, -1), (3, 2, 0, 2, 1, 6, 0, 0, 0, 2, '0001-01-01', 1, 40, 15, -1, -1),
       (4, 4, 2, 4, 1, 0, 0, 48, 2, 2, '0001-01-01', 2, 0, -1, 1.75, -1), (5, 5, 3, 5, 1, 1, 8, 8, 0, 1, '2026-10-21', 2, 8, -1, -1, -1);
     update claimproc set ClaimPaymentNum = 1 where ClaimProcNum = 1;
     insert into payplan (PayPlanNum, PatNum, Guarantor, PayPlanDate, PlanNum, CompletedAmt) values
       (1, 1, 1, '2026-10-01', 0, 40), (2, 4, 4, '2026-10-01', 2, 0);
     insert into payplancharge (PayPlanChargeNum, PayPlanNum, Guarantor, PatNum, ChargeDate, Principal, Interest, ProvNum, ClinicNum, ChargeType) values
       (1, 1, 1, 1, '2026-10-01', 40, 0, 1, 1, 1), (2, 1, 1, 1, '2026-11-01', 20, 0.5, 1, 1, 0), (3, 1, 1, 1, '2026-12-01', 20, 0.5, 1, 1, 0),
       (4, 2, 4, 4, '2026-10-01', 9, 0, 1, 2, 0);
     insert into referral (ReferralNum, FName, LName, PatNum, IsDoctor, NotPerson, Specialty, NationalProvID) values
       (1, 'Ann', 'Alder', 1, 0, 0, 0, ''), (2, 'Olga', 'Ortho', 0, 1, 0, 35, '1234567890'), (3, '', 'Radio ad', 0, 0, 1, 0, ''), (4, 'Neighbor', '', 0, 0, 0, 0, null);
     insert into refattach (RefAttachNum, ReferralNum, PatNum, ItemOrder, RefDate, RefType, RefToStatus, ProcNum) values
       (1, 1, 5, 1, '2026-08-01', 1, 0, 0), (2, 3, 5, 2, '2026-08-01', 1, 0, 0), (3, 2, 2, 3, '2026-09-01', 0, 2, 2), (4, 999, 6, 1, '0001-01-01', 1, 0, 0)`,
  )
  const family = {
    ...practice,
    /** Makes every row's change a thing of long ago. */
    ageAll: async () => {
      for (const [table, stamp] of Object.entries(stamps)) {
        await practice.execute('update ?? set ?? = ?', [table, stamp, '2026-01-02 03:04:05'])
      }
    },
  }
  await family.ageAll()
  return family
}
