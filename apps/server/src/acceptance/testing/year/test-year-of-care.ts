import assert from 'node:assert/strict'
import type { Change, Find } from '../test-change.ts'
import { seen } from '../test-seen.ts'

/** Visits are moved, kept, missed and struck out, and what is done at them is planned, completed and deleted. */
export async function careOfAYear(find: Find): Promise<Change[]> {
  const open = await find.keys(
    `select a.AptNum from appointment a
      where a.AptStatus = 1 and a.PatNum <> 0
        and exists (select 1 from procedurelog p where p.AptNum = a.AptNum and p.ProcStatus = 1)
        and not exists (select 1 from procedurelog p where p.AptNum = a.AptNum and p.ProcStatus <> 1)
      order by a.AptNum`,
  )
  const [moved = '', kept = '', missed = '', deleted = '', vanished = '', elsewhere = ''] = open
  const treatmentsOf = (visit: string) => find.keys(`select ProcNum from procedurelog where AptNum = ${visit}`)
  const history = (visit: string, action: number) =>
    `insert into histappointment (AptNum, HistApptAction, HistDateTStamp, PatNum, AptStatus, ClinicNum)
     select AptNum, ${action}, now(), PatNum, AptStatus, ClinicNum from appointment where AptNum = ${visit}`
  const planned = await find.one(
    `select p.ProcNum, p.PatNum, p.ProvNum, p.ClinicNum from procedurelog p
      where p.ProcStatus = 1 and p.AptNum = 0 and p.PlannedAptNum = 0 and p.ProcFee > 0
        and not exists (select 1 from claimproc c where c.ProcNum = p.ProcNum)
        and not exists (select 1 from refattach r where r.ProcNum = p.ProcNum)
      order by p.ProcNum`,
  )
  const proc = planned.ProcNum ?? ''
  const ofProc = `${planned.PatNum}, ${planned.ProvNum}, ${planned.ClinicNum}, ${proc}`
  const doneAt = await treatmentsOf(kept)
  return [
    {
      what: 'a visit that is moved and made longer',
      sql: [
        `update appointment set AptDateTime = '2027-01-11 09:30:00', Pattern = '//XXXX//' where AptNum = ${moved}`,
        history(moved, 1),
      ],
      expected: { appointments: [moved] },
      check: (views) => {
        const { local_starts_at, starts_at, ends_at, duration_minutes } = seen(views, 'appointments', moved)
        assert.deepEqual([local_starts_at, duration_minutes], ['2027-01-11T09:30:00', 40])
        assert.equal(Date.parse(String(ends_at)) - Date.parse(String(starts_at)), 40 * 60_000)
      },
    },
    {
      what: 'a visit that is kept, and what was done at it',
      sql: [
        `update appointment set AptStatus = 2, DateTimeArrived = AptDateTime, DateTimeSeated = AptDateTime, DateTimeDismissed = AptDateTime
          where AptNum = ${kept}`,
        `update procedurelog set ProcStatus = 2, ProcDate = '2026-11-27', DateComplete = '2026-11-27' where AptNum = ${kept}`,
      ],
      day: '2026-11-27',
      expected: {
        appointments: [kept],
        treatments: doneAt,
        ledger_transactions: doneAt.map((key) => `proc:${key}`),
      },
      check: (views) => {
        assert.equal(seen(views, 'appointments', kept).status, 'completed')
        for (const key of doneAt) assert.equal(seen(views, 'treatments', key).status, 'completed')
      },
    },
    {
      what: 'a visit that the patient missed',
      sql: [`update appointment set AptStatus = 5 where AptNum = ${missed}`, history(missed, 2)],
      expected: { appointments: [missed], treatments: await treatmentsOf(missed) },
      check: (views) => assert.equal(seen(views, 'appointments', missed).status, 'no_show'),
    },
    {
      what: 'a visit that is deleted, and its history tells',
      sql: [
        history(deleted, 4),
        `update procedurelog set AptNum = 0 where AptNum = ${deleted}`,
        `delete from appointment where AptNum = ${deleted}`,
      ],
      expected: { appointments: [deleted], treatments: await treatmentsOf(deleted) },
      check: (views) => assert.equal(seen(views, 'appointments', deleted).is_hidden, true),
    },
    {
      what: 'a visit that is deleted without a trace',
      sql: [`delete from appointment where AptNum = ${vanished}`],
      expected: { appointments: [vanished], treatments: await treatmentsOf(vanished) },
      check: (views) => assert.equal(seen(views, 'appointments', vanished).is_hidden, true),
    },
    {
      what: 'a visit that goes to headquarters, where the patient was not known',
      sql: [`update appointment set ClinicNum = 0, Op = 0 where AptNum = ${elsewhere}`],
      expected: { appointments: [elsewhere], patients: [], treatments: [] },
      check: (views) => {
        const { patient } = seen(views, 'appointments', elsewhere)
        assert.ok(views.get('0')?.appointments[elsewhere] && views.get('0')?.patients[String(patient)])
      },
    },
    {
      what: 'a planned procedure that is completed',
      sql: [
        `update procedurelog set ProcStatus = 2, ProcDate = '2026-11-28', DateComplete = '2026-11-28' where ProcNum = ${proc}`,
      ],
      day: '2026-11-28',
      expected: { treatments: [proc], ledger_transactions: [`proc:${proc}`] },
      check: (views) => assert.equal(seen(views, 'treatments', proc).completed_on, '2026-11-28'),
    },
    {
      what: 'what is adjusted, claimed and paid of it',
      sql: [
        `insert into adjustment (AdjNum, PatNum, ProvNum, ClinicNum, ProcNum, AdjDate, AdjAmt)
         values (900001, ${ofProc}, '2026-11-28', -5.25)`,
        `insert into claimproc (ClaimProcNum, PatNum, ProvNum, ClinicNum, ProcNum, Status, InsPayAmt, WriteOff, DateCP)
         values (900001, ${ofProc}, 1, 12.50, 3.3, '2026-11-28')`,
      ],
      expected: {
        treatments: [],
        ledger_transactions: ['adj:900001', 'claimproc:900001:insurance_payment', 'claimproc:900001:write_off'],
      },
      check: (views) => {
        const { amount, treatment, allocations } = seen(views, 'ledger_transactions', 'adj:900001')
        assert.deepEqual([amount, treatment, allocations], ['-5.25', proc, [{ treatment: proc, amount: '-5.25' }]])
      },
    },
    {
      what: 'the procedure deleted, with all that hangs on it',
      sql: [
        `update procedurelog set ProcStatus = 6 where ProcNum = ${proc}`,
        'delete from adjustment where AdjNum = 900001',
        'delete from claimproc where ClaimProcNum = 900001',
      ],
      expected: {
        treatments: [proc],
        ledger_transactions: [
          `proc:${proc}`,
          'adj:900001',
          'claimproc:900001:insurance_payment',
          'claimproc:900001:write_off',
        ],
      },
      check: (views) => {
        assert.equal(seen(views, 'treatments', proc).is_hidden, true)
        assert.equal(seen(views, 'ledger_transactions', `proc:${proc}`).is_hidden, true)
      },
    },
  ]
}
