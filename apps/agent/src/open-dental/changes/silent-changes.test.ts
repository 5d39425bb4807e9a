import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { type TestCopy, testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })

type Family = Awaited<ReturnType<typeof testFamily>>

/** Rows that no record shows; enough that one cycle compares only a part of the tables. */
const ballastRows = 60_000

/** As a program that keeps the stamp, or a row that arrives late: what changes, and which datasets vendors then see otherwise. */
const changes: readonly [what: string, concerned: string, sql: string][] = [
  ['a patient', 'patients', "update patient set FName = 'Doris', DateTStamp = DateTStamp where PatNum = 4"],
  [
    'the guarantor of a patient',
    'patients ledger_transactions',
    'update patient set Guarantor = 6, DateTStamp = DateTStamp where PatNum = 2',
  ],
  ['a cover', 'patients', 'update patplan set InsSubNum = 3, SecDateTEdit = SecDateTEdit where PatPlanNum = 1'],
  ['a subscription', 'patients', 'update inssub set PlanNum = 1, SecDateTEdit = SecDateTEdit where InsSubNum = 3'],
  ['a cover that is dropped', 'patients', 'delete from patplan where PatPlanNum = 3'],
  ['a visit', 'appointments', "update appointment set Note = 'late', DateTStamp = DateTStamp where AptNum = 1"],
  [
    'the history of a visit, whose stamp says when it was written',
    'appointments',
    'update histappointment set HistApptAction = 2 where AptNum = 3',
  ],
  [
    'a treatment that gets another visit',
    'appointments treatments',
    'update procedurelog set AptNum = 6, DateTStamp = DateTStamp where ProcNum = 2',
  ],
  [
    'a fee that was charged',
    'appointments treatments ledger_transactions',
    'update procedurelog set ProcFee = 101, DateTStamp = DateTStamp where ProcNum = 1',
  ],
  [
    'an estimate',
    'treatments',
    'update claimproc set InsEstTotal = 91, SecDateTEdit = SecDateTEdit where ClaimProcNum = 2',
  ],
  ['an estimate that is deleted', 'treatments', 'delete from claimproc where ClaimProcNum = 3'],
  ['an adjustment that is deleted', 'treatments ledger_transactions', 'delete from adjustment where AdjNum = 1'],
  [
    'a payment, of which its splits show the type',
    'ledger_transactions',
    'update payment set PayType = 69, SecDateTEdit = SecDateTEdit where PayNum = 3',
  ],
  ['a split that is deleted', 'ledger_transactions', 'delete from paysplit where SplitNum = 3'],
  [
    'the number of an insurer’s check',
    'ledger_transactions',
    "update claimpayment set CheckNum = 'EFT 78', SecDateTEdit = SecDateTEdit where ClaimPaymentNum = 1",
  ],
  [
    'a line of a payment plan',
    'ledger_transactions',
    'update payplancharge set Principal = 21, SecDateTEdit = SecDateTEdit where PayPlanChargeNum = 2',
  ],
  [
    'a source of referrals',
    'patient_referrals',
    "update referral set LName = 'Flyer', DateTStamp = DateTStamp where ReferralNum = 3",
  ],
  [
    'a referral',
    'patient_referrals',
    "update refattach set Note = 'n', DateTStamp = DateTStamp where RefAttachNum = 3",
  ],
  ['the first referral, deleted', 'patients patient_referrals', 'delete from refattach where RefAttachNum = 1'],
  ['a plan', 'insurance_plans', "update insplan set GroupName = 'New', SecDateTEdit = SecDateTEdit where PlanNum = 2"],
  [
    'a fee schedule',
    'fee_schedules',
    "update feesched set Description = 'New', SecDateTEdit = SecDateTEdit where FeeSchedNum = 2",
  ],
  ['a fee', 'fee_schedules', 'update fee set Amount = 63, SecDateTEdit = SecDateTEdit where FeeNum = 1'],
  ['a fee that is blanked', 'fee_schedules', 'delete from fee where FeeNum = 2'],
]

describe('what changes without a stamp is sent within an hour', () => {
  const cleanups: (() => Promise<void>)[] = []
  const later = { after: (work: () => Promise<void>) => void cleanups.unshift(work) }
  const clock = { now: new Date('2026-11-20T12:00:00Z') }
  let practice: Family
  let copy: TestCopy

  before(async () => {
    practice = await testFamily(mariaDb)
    await practice.execute(
      `insert into histappointment (HistApptNum, AptNum, HistApptAction, HistDateTStamp, DateTStamp)
       select seq, if(seq = 17, 3, 1000000 + seq), 3, '2026-01-02 03:04:05', '2026-01-02 03:04:05' from seq_1_to_${ballastRows}`,
    )
    copy = await testCopy(later, practice.settings, { now: () => clock.now })
    await copy.run()
    await copy.server.grantNotes()
    await copy.run()
  })

  after(async () => {
    for (const work of cleanups) await work()
  })

  /** The datasets that vendors see otherwise than before. */
  async function changedBy(work: () => Promise<unknown>): Promise<string> {
    const earlier = copy.everything()
    await work()
    const now = copy.everything()
    const different = Object.keys(now).filter((key) => JSON.stringify(now[key]) !== JSON.stringify(earlier[key]))
    return [...new Set(different.map((key) => key.split(' ')[1]))].sort().join(' ')
  }

  async function anHourLater(): Promise<void> {
    clock.now = new Date(clock.now.getTime() + 60 * 60 * 1000)
    const events = await copy.run()
    assert.deepEqual(
      events.filter((event) => event.event === 'dataset.reading' && event.fully !== null),
      [],
    )
  }

  for (const [what, concerned, sql] of changes) {
    test(what, async () => {
      await practice.execute(sql)
      assert.equal(await changedBy(anHourLater), concerned.split(' ').sort().join(' '))
      assert.equal(await changedBy(anHourLater), '')
    })
  }

  test('a transaction that is committed an hour after its rows were stamped', async () => {
    await practice.execute('alter table paysplit engine = InnoDB')
    await anHourLater()
    const office = await practice.connect()
    await office.query('set timestamp = unix_timestamp() - 3600; start transaction')
    await office.query('update paysplit set SplitAmt = 8 where SplitNum = 5')
    await office.query('set timestamp = default')
    assert.equal(await changedBy(anHourLater), '')
    await office.query('commit')
    assert.equal(await changedBy(anHourLater), 'ledger_transactions')
  })

  test('and then the copy is what a first read would give', async (t) => {
    const fresh = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now: () => clock.now })
    await fresh.run()
    await fresh.server.grantNotes()
    await fresh.run()
    assert.deepEqual(copy.everything(), fresh.everything())
  })
})
