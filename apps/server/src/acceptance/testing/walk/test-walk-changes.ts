/** What happens in an office of `testFamily` between two cycles; `n` chooses the row and the value. */
type Change = (n: number) => string

const row = (n: number, rows: number) => 1 + (n % rows)

export const edits: readonly Change[] = [
  (n) => `update patient set FName = 'Name ${n}' where PatNum = ${row(n, 6)}`,
  (n) => `update patient set ClinicNum = ${row(n, 2)} where PatNum = ${row(n, 6)}`,
  (n) => `update procedurelog set ProcFee = ${n} where ProcNum = ${row(n, 6)}`,
  (n) => `update procedurelog set ProcStatus = 2, DateComplete = '2026-11-20' where ProcNum = ${row(n, 3)}`,
  (n) => `update appointment set AptStatus = ${[1, 2, 5][n % 3]} where AptNum = ${row(n, 3)}`,
  (n) => `update carrier set CarrierName = 'Carrier ${n}' where CarrierNum = 1`,
  (n) => `update feesched set Description = 'Schedule ${n}' where FeeSchedNum = ${row(n, 2)}`,
  (n) => `update fee set Amount = ${n} where FeeNum = ${row(n, 2)}`,
  (n) => `update adjustment set AdjAmt = ${n} where AdjNum = ${row(n, 2)}`,
  (n) => `update claimproc set InsPayAmt = ${n} where ClaimProcNum = 1`,
  (n) =>
    `insert into patient (FName, LName, Guarantor, ClinicNum, PriProv) values ('New', 'N${n}', 1, ${row(n, 2)}, 1)`,
  (n) => `insert into procedurelog (PatNum, ProcDate, ProcFee, ProcStatus, ClinicNum, CodeNum, ProvNum)
            values (${row(n, 6)}, '2026-11-20', ${n}, 2, ${row(n, 2)}, 1, 1)`,
  (n) => `insert into adjustment (AdjDate, AdjAmt, PatNum, AdjType, ProvNum, ClinicNum)
            values ('2026-11-20', ${n}, ${row(n, 6)}, 10, 1, ${row(n, 2)})`,
  (n) => `insert into paysplit (SplitAmt, PatNum, PayNum, ProvNum, DatePay, ClinicNum)
            values (${n}, ${row(n, 6)}, 1, 1, '2026-11-20', ${row(n, 2)})`,
  (n) => `insert into appointment (PatNum, AptStatus, Pattern, ProvNum, AptDateTime, ClinicNum)
            values (${row(n, 6)}, 1, '/XX/', 1, '2026-12-0${row(n, 9)} 09:00:00', ${row(n, 2)})`,
  (n) => `insert into insplan (GroupName, EmployerNum, CarrierNum, FeeSched) values ('Plan ${n}', 1, 1, ${row(n, 2)})`,
  () => `insert ignore into clinic (ClinicNum, Description) values (2, 'South')`,
  () => `insert ignore into clinic (ClinicNum, Description) values (3, 'East')`,
]

export const removals: readonly Change[] = [
  (n) => `delete from adjustment order by AdjNum desc limit ${row(n, 2)}`,
  (n) => `delete from paysplit where SplitNum = ${row(n, 6)}`,
  () => 'delete from paysplit order by SplitNum desc limit 1',
  (n) => `delete from appointment where AptNum = ${row(n, 6)}`,
  () => 'delete from appointment order by AptNum desc limit 2',
  (n) => `delete from claimproc where ClaimProcNum = ${row(n, 5)}`,
  (n) => `delete from refattach where RefAttachNum = ${row(n, 4)}`,
  () => 'delete from insplan order by PlanNum desc limit 1',
  (n) => `delete from fee where FeeNum = ${row(n, 2)}`,
  (n) => `delete from patplan where PatPlanNum = ${row(n, 6)}`,
  () => 'delete from clinic where ClinicNum = 2',
  (n) => `update patient set PatStatus = 4 where PatNum = ${row(n, 6)}`,
  (n) => `update procedurelog set ProcStatus = 6 where ProcNum = ${row(n, 6)}`,
]
