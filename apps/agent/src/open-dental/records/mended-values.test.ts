import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startTestMariaDb, type TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { type MendedValues, noZones } from '../../connector.ts'
import { openDentalConnector } from '../connector.ts'
import { resultsCharset } from '../database/session.ts'
import { testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })
const now = () => new Date('2026-11-20T12:00:00Z')

describe('values that cannot be sent as they are', () => {
  test('what cannot be sent as it stands refuses no record, and is counted by table and column alone', async (t) => {
    const practice = await testFamily(mariaDb)
    const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now })
    await copy.run()
    await copy.server.grantNotes()
    await practice.execute("set sql_mode = 'ALLOW_INVALID_DATES'")
    await practice.execute(
      `update patient set Birthdate = '1990-02-31' where PatNum = 1;
     update patient set Birthdate = '2026-00-10' where PatNum = 2;
     update patient set Birthdate = '0000-00-00' where PatNum = 3;
     update appointment set AptDateTime = '2026-02-30 10:00:00' where AptNum = 1;
     update patient set Birthdate = '0001-01-01' where PatNum = 5;
     update patient set Birthdate = '1066-10-14' where PatNum = 6;
     update patient set DateFirstVisit = '9999-12-31' where PatNum = 6;
     update appointment set AptDateTime = '9999-12-31 23:00:00' where AptNum = 6;
     update appointment set DateTimeArrived = '9999-12-31 23:59:59' where AptNum = 2;
     update fee set Amount = 1e14 where FeeNum = 1;
     update procedurelog set ProcFee = 1e14 where ProcNum = 2`,
    )
    const note = `one\ttwo\r\nthree\rfour ${'\u0000\u0001\u001b\u007f\u0085'}five`
    await practice.execute('update appointment set Note = ? where AptNum = 2', [note])
    await practice.execute('update appointment set Note = ? where AptNum = 3', ['x'.repeat(20_010)])
    await storeInvalidText(practice)

    const events = await copy.run()
    const birthdays = ['1', '2', '3', '4'].map(
      (id) => (copy.visible('1', 'patients').get(id) ?? copy.visible('2', 'patients').get(id))?.date_of_birth,
    )
    assert.deepEqual(birthdays, [null, null, null, '1990-01-01'])
    const [broken, noted] = ['1', '2'].map((id) => copy.visible('1', 'appointments').get(id))
    assert.deepEqual([broken?.starts_at, broken?.ends_at, broken?.local_starts_at], [null, null, null])
    const far = copy.visible('1', 'appointments').get('6')
    assert.deepEqual([far?.starts_at, far?.ends_at, far?.local_starts_at, noted?.arrived_at], [null, null, null, null])
    const old = copy.visible('1', 'patients').get('6')
    assert.deepEqual([old?.date_of_birth, old?.first_visit_on], [null, null])
    assert.equal(noted?.note, 'one\ttwo\nthree\nfour five')
    assert.equal(String(copy.visible('2', 'appointments').get('3')?.note).length, 20_000)
    assert.equal(broken?.appointment_type, 'Pr\ufffdfung')
    const fees = copy.visible('1', 'fee_schedules').get('1')?.fees as { amount: string | null }[]
    assert.deepEqual(
      fees.map((fee) => fee.amount),
      [null],
    )
    const treatment = copy.visible('1', 'treatments').get('2')
    assert.deepEqual([treatment?.fee, treatment?.patient_estimate], [null, null])

    const expected: ({ dataset: string } & MendedValues)[] = [
      { dataset: 'fee_schedules', table: 'fee', column: 'Amount', mended: 'amount_out_of_range', rows: 1 },
      { dataset: 'patients', table: 'patient', column: 'Birthdate', mended: 'date_impossible', rows: 2 },
      { dataset: 'patients', table: 'patient', column: 'Birthdate', mended: 'date_out_of_range', rows: 1 },
      { dataset: 'patients', table: 'patient', column: 'DateFirstVisit', mended: 'date_out_of_range', rows: 1 },
      { dataset: 'appointments', table: 'appointment', column: 'AptDateTime', mended: 'date_impossible', rows: 1 },
      { dataset: 'appointments', table: 'appointment', column: 'AptDateTime', mended: 'date_out_of_range', rows: 1 },
      {
        dataset: 'appointments',
        table: 'appointment',
        column: 'DateTimeArrived',
        mended: 'date_out_of_range',
        rows: 1,
      },
      { dataset: 'appointments', table: 'appointment', column: 'Note', mended: 'control_characters', rows: 1 },
      { dataset: 'appointments', table: 'appointment', column: 'Note', mended: 'note_cut', rows: 1 },
      {
        dataset: 'appointments',
        table: 'appointmenttype',
        column: 'AppointmentTypeName',
        mended: 'text_invalid',
        rows: 1,
      },
      { dataset: 'appointments', table: 'procedurelog', column: 'Fee', mended: 'amount_out_of_range', rows: 1 },
      { dataset: 'treatments', table: 'procedurelog', column: 'ProcFee', mended: 'amount_out_of_range', rows: 1 },
    ]
    const told = events.flatMap((event) => {
      if (event.event !== 'values.mended') return []
      const { event: _, ...rest } = event
      return [rest]
    })
    assert.deepEqual(told, expected)
    // Nothing changed, so nothing is read or told again.
    await practice.ageAll()
    copy.forgetAge()
    await copy.run()
    assert.deepEqual(
      (await copy.run()).filter((event) => event.event === 'values.mended'),
      [],
    )

    const { findings } = await openDentalConnector(practice.settings, 'UTC', now).check(
      noZones,
      new Set(['appointments']),
    )
    const advice = findings.filter((finding) => finding.outcome !== 'good').map((finding) => finding.what)
    assert.deepEqual(
      [...new Set(findings.flatMap(({ outcome, todo }) => (outcome === 'good' ? [] : [todo])))],
      ['Correct it in Open Dental where it matters; the agent sends the rest of these rows as it is.'],
    )
    assert.equal(advice.length, expected.length)
    assert.ok(advice.includes('patients: patient.Birthdate of 2 rows holds a date that does not exist; sent as empty.'))
    assert.ok(advice.every((what) => !/Alder|1990|three/.test(what)))
  })

  test('check says where text that is not valid cannot be counted', async () => {
    const practice = await testFamily(mariaDb)
    await practice.execute(
      'alter table employer convert to character set utf8mb4; alter table carrier convert to character set utf8mb3',
    )
    const { findings } = await openDentalConnector(practice.settings, 'UTC', now).check()
    const advice = findings.find(({ what }) => what.startsWith('The tables use two versions of UTF-8'))
    assert.deepEqual(advice, {
      outcome: 'advice',
      what: 'The tables use two versions of UTF-8, so text that is not valid in its encoding cannot be counted.',
      todo: 'It is sent with "?" in its place.',
    })
  })

  test('an amount too large for a line of an account is never sent as another amount', async (t) => {
    const practice = await testFamily(mariaDb)
    await practice.execute('update adjustment set AdjAmt = 1e14 where AdjNum = 2')
    const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now })
    await assert.rejects(copy.run(), /record\.refused/)
    assert.equal(copy.visible('2', 'ledger_transactions').has('adj:2'), false)
  })

  test('texts are asked for without a conversion that would hide what is not valid', () => {
    assert.deepEqual(resultsCharset(['utf8', 'latin1', null]), { charset: 'utf8', showsInvalidText: true })
    assert.deepEqual(resultsCharset(['utf8mb3', undefined]), { charset: 'utf8mb3', showsInvalidText: true })
    assert.deepEqual(resultsCharset(['utf8mb4', 'latin1']), { charset: 'utf8mb4', showsInvalidText: true })
    assert.deepEqual(resultsCharset(['utf8mb3', 'utf8mb4']), { charset: 'utf8mb4', showsInvalidText: false })
    assert.deepEqual(resultsCharset([]), { charset: 'utf8mb4', showsInvalidText: true })
  })
})

/** As in tables whose encoding was changed under their rows: latin1's bytes in a column of UTF-8. */
async function storeInvalidText(practice: TestDatabase): Promise<void> {
  await practice.execute(
    `alter table appointmenttype engine = MyISAM; create table pristine like appointmenttype;
     alter table appointmenttype modify AppointmentTypeName varchar(765) character set latin1 not null;
     update appointmenttype set AppointmentTypeName = x'5072FC66756E67' where AppointmentTypeNum = 1; flush tables`,
  )
  const folder = join(dirname(mariaDb.socket), 'data', practice.name)
  await copyFile(join(folder, 'pristine.frm'), join(folder, 'appointmenttype.frm'))
  await practice.execute('flush tables; drop table pristine')
}
