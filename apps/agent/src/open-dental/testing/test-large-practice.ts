import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'

/**
 * Fills a database with plain rows, made by MariaDB itself: `procedures` procedures, half of them done, with the patients, visits, claims and
 * payments that go with them. Gives how many records an agent must send, over all datasets.
 */
export async function fillLargePractice(database: TestDatabase, procedures: number): Promise<number> {
  const patients = Math.ceil(procedures / 15)
  const visits = Math.ceil(procedures / 3)
  const settings = [
    ['DataBaseVersion', '24.3.10.0'],
    ['ProgramVersion', '24.3.10.0'],
    ['PracticeTitle', 'Large Practice'],
    ['EasyNoClinics', '1'],
  ]
  for (const pair of settings)
    await database.execute('insert into preference (PrefName, ValueString) values (?, ?)', pair)
  for (const sql of [
    "insert into provider (ProvNum, FName, LName) values (1, 'Mia', 'Sample')",
    "insert into procedurecode (CodeNum, ProcCode, Descript) values (1, 'D0120', 'Periodic oral evaluation')",
    `insert into patient (PatNum, FName, LName, Guarantor, PriProv, Address, City)
     select seq, concat('First', seq), concat('Last', seq), seq - seq % 3, 1, concat(seq, ' Example Street'), 'Springfield'
       from seq_1_to_${patients}`,
    `insert into appointment (AptNum, PatNum, AptStatus, Pattern, ProvNum, AptDateTime, Note)
     select seq, 1 + seq % ${patients}, 2, '/XX/', 1, '2026-10-01 09:00:00', 'Bring the last images' from seq_1_to_${visits}`,
    `insert into procedurelog (ProcNum, PatNum, AptNum, ProcDate, ProcFee, ProcStatus, ProvNum, CodeNum, UnitQty)
     select seq, 1 + seq % ${patients}, 1 + seq % ${visits}, '2026-10-01', 100 + seq % 90, 1 + seq % 2, 1, 1, 1 from seq_1_to_${procedures}`,
    `insert into claimproc (ClaimProcNum, ProcNum, PatNum, ProvNum, Status, InsPayAmt, WriteOff, DateCP)
     select ProcNum, ProcNum, PatNum, 1, 1, 30, 10, '2026-10-20' from procedurelog where ProcStatus = 2`,
    "insert into payment (PayNum, PayType, PayDate) values (1, 0, '2026-10-03')",
    `insert into paysplit (SplitNum, SplitAmt, PatNum, PayNum, ProvNum, DatePay, ProcNum)
     select ProcNum, 20, PatNum, 1, 1, '2026-10-03', ProcNum from procedurelog where ProcStatus = 2`,
  ]) {
    await database.execute(sql)
  }
  const done = Math.floor(procedures / 2)
  // Of a done procedure the charge, the payments of patient and insurer, and the write-off.
  return patients + visits + procedures + 4 * done
}
