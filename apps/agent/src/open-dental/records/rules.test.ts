import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })

describe('the rules of Open Dental that decide what a record says', () => {
  let practice: Awaited<ReturnType<typeof testFamily>>

  beforeEach(async () => {
    practice = await testFamily(mariaDb)
  })

  /** A record after a first read, at whichever clinic lists it. */
  async function read(t: { after(work: () => Promise<void>): void }) {
    const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, {
      now: () => new Date('2026-11-20T12:00:00Z'),
    })
    await copy.run()
    return (dataset: string, id: string) => copy.visible('1', dataset).get(id) ?? copy.visible('2', dataset).get(id)
  }

  test('takes the newest merge, and none that a later merge into the patient cancelled', async (t) => {
    // 1 into 2 and back; 3 into 4, then into 5; 6 both ways in one moment.
    await practice.execute(
      `insert into patientlink (PatientLinkNum, PatNumFrom, PatNumTo, LinkType, DateTimeLink) values
         (1, 1, 2, 1, '2025-03-03 09:00:00'), (2, 2, 1, 1, '2025-03-03 09:20:00'), (3, 3, 5, 1, '2025-04-02 09:00:00'),
         (4, 3, 4, 1, '2025-04-01 09:00:00'), (5, 6, 4, 1, '2025-05-01 09:00:00'), (6, 4, 6, 1, '2025-05-01 09:00:00'),
         (7, 5, 5, 1, '2025-06-01 09:00:00')`,
    )
    const at = await read(t)
    const merged = ['1', '2', '3', '4', '5', '6'].map((id) => {
      const patient = at('patients', id)
      return [patient?.status, patient?.merged_into_source_id]
    })
    assert.deepEqual(merged, [
      ['active', null],
      ['merged', '1'],
      ['merged', '5'],
      ['merged', '6'],
      ['active', null],
      ['active', null],
    ])
  })

  test('takes the first two dental plans in the order of their ordinals, and counts medical and ended ones in no other’s place', async (t) => {
    await practice.execute(
      `insert into insplan (PlanNum, IsMedical) values (11, 1), (12, 0), (13, 0), (14, 0);
       insert into inssub (InsSubNum, PlanNum, DateTerm) values (11, 11, '0001-01-01'), (12, 12, '0001-01-01'), (13, 13, '0001-01-01'), (14, 14, '2026-11-01');
       insert into patplan (PatPlanNum, PatNum, Ordinal, InsSubNum) values (11, 3, 1, 11), (12, 3, 4, 12), (13, 3, 2, 13), (14, 3, 5, 14), (15, 5, 2, 11), (16, 6, 2, 14), (17, 6, 3, 12)`,
    )
    const at = await read(t)
    const plans = (id: string) => {
      const patient = at('patients', id)
      return [patient?.primary_insurance_plan_source_id, patient?.secondary_insurance_plan_source_id]
    }
    assert.deepEqual(
      [plans('3'), plans('5'), plans('6')],
      [
        ['13', '12'],
        [null, null],
        // Of three, the first names a subscription that is gone, and the second ended.
        [null, null],
      ],
    )
  })

  test('keeps a visit missed or cancelled while every later row of its history is broken', async (t) => {
    const history = [
      [1, 2, 5, 'missed'],
      [1, 1, 5, 'a note afterwards'],
      [2, 3, 5, 'cancelled'],
      [2, 1, 5, 'a note afterwards'],
      [3, 2, 5, 'missed'],
      [3, 1, 1, 'booked again'],
      [3, 1, 5, 'broken without a code'],
      [4, 2, 1, 'missed, written before the new state'],
      [4, 3, 5, 'cancelled then'],
    ] as const
    await practice.execute('update appointment set AptStatus = 5 where AptNum in (1, 2, 3, 4, 6)')
    for (const [index, [appointment, action, status]] of history.entries()) {
      await practice.execute(
        'insert into histappointment (HistApptNum, HistDateTStamp, HistApptAction, AptNum, AptStatus) values (?, ?, ?, ?, ?)',
        [
          String(index + 1),
          `2026-09-12 10:00:${String(index).padStart(2, '0')}`,
          String(action),
          String(appointment),
          String(status),
        ],
      )
    }
    const at = await read(t)
    const statuses = ['1', '2', '3', '4', '6'].map((id) => at('appointments', id)?.status)
    assert.deepEqual(statuses, ['no_show', 'cancelled', 'broken', 'cancelled', 'broken'])
  })

  test('keeps a visit missed when a note is added to it after it was sent', async (t) => {
    await practice.execute(
      `update appointment set AptStatus = 5 where AptNum = 1;
       insert into histappointment (HistApptNum, HistDateTStamp, HistApptAction, AptNum, AptStatus) values (1, '2026-09-12 10:00:00', 2, 1, 5)`,
    )
    const copy = await testCopy(t, practice.settings, { now: () => new Date('2026-11-20T12:00:00Z') })
    await copy.run()
    await practice.execute(
      `update appointment set Note = 'left a message' where AptNum = 1;
       insert into histappointment (HistApptNum, HistDateTStamp, HistApptAction, AptNum, AptStatus) values (2, now(), 1, 1, 5)`,
    )
    const events = await copy.run()
    assert.equal(copy.visible('1', 'appointments').get('1')?.status, 'no_show')
    const read = events.filter((event) => event.event === 'dataset.finished' && event.dataset === 'appointments')
    assert.ok(
      read.some((event) => 'rows' in event && (event.rows ?? 0) > 0),
      'it was read again',
    )
  })
})
