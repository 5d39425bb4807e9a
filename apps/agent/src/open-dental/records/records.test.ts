import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, beforeEach, describe, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { type TestCopy, testCopy } from '../testing/test-copy.ts'
import { testFamily } from '../testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })

describe('an Open Dental practice with people', () => {
  let practice: Awaited<ReturnType<typeof testFamily>>

  beforeEach(async () => {
    practice = await testFamily(mariaDb)
  })

  async function read(
    t: { after(work: () => Promise<void>): void },
    { withNotes = false, ...options }: { timeZone?: string; withNotes?: boolean } = {},
  ): Promise<(location: string, dataset: string, id: string) => Record<string, unknown> | undefined> {
    const copy: TestCopy = await testCopy({ after: (work) => t.after(work) }, practice.settings, {
      now: () => new Date('2026-11-20T12:00:00Z'),
      ...options,
    })
    await copy.run()
    if (withNotes) {
      await copy.server.grantNotes()
      await copy.run()
    }
    return (location, dataset, id) => copy.visible(location, dataset).get(id)
  }

  test('gives a patient with names resolved, and nothing for "no date" and "no reference"', async (t) => {
    await practice.execute("update patient set Title = ' Ms. ' where PatNum = 1")
    const at = await read(t)
    assert.deepEqual(at('1', 'patients', '1'), {
      title: 'Ms.',
      first_name: 'Ann',
      middle_name: null,
      last_name: 'Alder',
      preferred_name: null,
      date_of_birth: '1980-02-29',
      gender: 'male',
      status: 'active',
      status_raw: 'Patient',
      email: null,
      mobile_phone: null,
      home_phone: null,
      work_phone: null,
      address_line_1: null,
      address_line_2: null,
      city: null,
      state: null,
      postal_code: null,
      country: null,
      chart_number: null,
      guarantor_source_id: '1',
      primary_provider_name: 'Mia Sample',
      billing_type: 'Standard account',
      preferred_language: null,
      preferred_contact_method: null,
      first_visit_on: null,
      fee_schedule_source_id: '1',
      primary_insurance_plan_source_id: '1',
      secondary_insurance_plan_source_id: '2',
      balance: { total: '12.01', insurance_estimate: '0.00', as_of: null },
      merged_into_source_id: null,
      is_hidden: false,
    })
    const cid = at('1', 'patients', '3')
    // A provider without a name goes by the abbreviation; a fee schedule that is not there is none.
    assert.deepEqual([cid?.primary_provider_name, cid?.fee_schedule_source_id], ['HYG', null])
    assert.equal(at('1', 'patients', '2')?.date_of_birth, null)
    // A cover that ended, and one whose subscription is gone.
    assert.equal(at('2', 'patients', '5')?.primary_insurance_plan_source_id, null)
    assert.equal(at('1', 'patients', '6')?.primary_insurance_plan_source_id, null)
  })

  test('lists a patient wherever a record refers to them, and nowhere else', async (t) => {
    const at = await read(t)
    const places = (id: string) => ['1', '2'].filter((location) => at(location, 'patients', id) !== undefined)
    // Ann referred Eve, who is registered in the south.
    assert.deepEqual(['1', '2', '3', '4', '5', '6'].map(places), [['1', '2'], ['1'], ['1'], ['2'], ['2'], ['1']])
  })

  test('gives a patient’s state, merged and deleted ones too', async (t) => {
    await practice.execute(
      `update patient set PatStatus = 4, Gender = 1 where PatNum = 4; update patient set PatStatus = 3, Gender = 9, PreferContactMethod = 8 where PatNum = 6;
       insert into patientlink set PatNumFrom = 6, PatNumTo = 4, LinkType = 1; insert into patientlink set PatNumFrom = 2, PatNumTo = 1, LinkType = 2`,
    )
    const at = await read(t)
    const state = (location: string, id: string) => {
      const patient = at(location, 'patients', id)
      return [patient?.status, patient?.status_raw, patient?.is_hidden, patient?.merged_into_source_id, patient?.gender]
    }
    assert.deepEqual(state('1', '4'), ['archived', 'Deleted', true, null, 'female'])
    assert.deepEqual(state('1', '6'), ['merged', 'Archived', false, '4', 'unknown'])
    assert.equal(at('1', 'patients', '6')?.preferred_contact_method, 'sms')
    // A clone is no merge.
    assert.deepEqual(state('1', '2'), ['active', 'Patient', false, null, 'male'])
  })

  test('gives a visit with its times as instants and on the wall, its treatments and their fees', async (t) => {
    await practice.execute(
      "update appointment set Confirmed = 22, Note = ' bring x-rays ', IsNewPatient = 1, Op = 1, DateTimeArrived = '2026-12-01 00:00:00', SecDateTEntry = '2026-11-20 08:05:00' where AptNum = 2",
    )
    const at = await read(t, { timeZone: 'America/Chicago', withNotes: true })
    assert.deepEqual(at('1', 'appointments', '2'), {
      patient_source_id: '2',
      provider_name: 'Mia Sample',
      hygienist_name: null,
      operatory_name: 'Op 1',
      appointment_type: null,
      status: 'confirmed',
      status_raw: 'Scheduled, Confirmed by text',
      starts_at: '2026-12-01T16:00:00.000Z',
      ends_at: '2026-12-01T16:40:00.000Z',
      local_starts_at: '2026-12-01T10:00:00',
      time_zone: 'America/Chicago',
      duration_minutes: 40,
      is_new_patient: true,
      is_hygiene: false,
      is_block: false,
      // Midnight stands for "not set".
      arrived_at: null,
      seated_at: null,
      dismissed_at: null,
      treatment_source_ids: ['2'],
      scheduled_production: '180.00',
      note: 'bring x-rays',
      created_at: '2026-11-20T14:05:00.000Z',
      is_hidden: false,
    })
    // A row of before the column has the year 1.
    assert.equal(at('1', 'appointments', '1')?.created_at, null)
    // Summer time, and the group note that is no treatment.
    const done = at('1', 'appointments', '1')
    assert.deepEqual([done?.starts_at, done?.treatment_source_ids], ['2026-10-01T14:00:00.000Z', ['1']])
    const planned = at('2', 'appointments', '4')
    assert.deepEqual(
      [planned?.status, planned?.starts_at, planned?.ends_at, planned?.treatment_source_ids],
      ['planned', null, null, ['3']],
    )
    const block = at('1', 'appointments', '5')
    assert.deepEqual([block?.is_block, block?.status, block?.patient_source_id], [true, 'scheduled', null])
  })

  test('gives what became of a visit: on the way, missed, cancelled or broken', async (t) => {
    await practice.execute(
      `insert into appointment (AptNum, AptStatus, PatNum, ClinicNum, Confirmed, DateTimeArrived, DateTimeSeated) values
         (11, 1, 1, 1, 21, '0001-01-01', '0001-01-01'), (12, 1, 1, 1, 22, '2026-11-20 09:01:00', '0001-01-01'),
         (13, 1, 1, 1, 22, '2026-11-20 09:01:00', '2026-11-20 09:09:00'), (14, 5, 1, 1, 0, '0001-01-01', '0001-01-01'),
         (15, 5, 1, 1, 0, '0001-01-01', '0001-01-01'), (16, 3, 1, 1, 0, '0001-01-01', '0001-01-01'), (17, 2, 1, 1, 0, '0001-01-01', '2026-11-20 09:09:00'),
         (18, 8, 1, 1, 0, '0001-01-01', '0001-01-01'), (19, 4, 1, 1, 0, '0001-01-01', '0001-01-01');
       insert into histappointment (HistApptNum, AptNum, HistApptAction, HistDateTStamp) values
         (1, 14, 3, '2026-11-01 09:00:00'), (2, 14, 2, '2026-11-02 09:00:00'), (3, 15, 2, '2026-11-01 09:00:00'), (4, 15, 3, '2026-11-02 09:00:00')`,
    )
    const at = await read(t)
    const status = (id: number) => at('1', 'appointments', String(id))?.status
    assert.deepEqual([11, 12, 13, 14, 15, 16, 17, 18, 19].map(status), [
      'scheduled',
      'arrived',
      'in_chair',
      'no_show',
      'cancelled',
      'unscheduled',
      'completed',
      'completed',
      'scheduled',
    ])
    assert.equal(at('2', 'appointments', '3')?.status, 'broken')
    assert.equal(at('1', 'appointments', '12')?.arrived_at, '2026-11-20T09:01:00.000Z')
  })

  test('gives planned work with what insurance is expected to pay, and done work with its day', async (t) => {
    const at = await read(t)
    assert.deepEqual(at('1', 'treatments', '2'), {
      patient_source_id: '2',
      provider_name: 'Mia Sample',
      appointment_source_id: '2',
      procedure_code: 'D2391',
      description: 'Filling',
      status: 'scheduled',
      status_raw: 'TP',
      area: 'surface',
      teeth: ['3'],
      surfaces: 'MO',
      quantity: 1,
      fee: '180.00',
      discount: '10.00',
      // 90 of the one plan; of the other 15 by override, not 40.
      insurance_estimate: '105.00',
      patient_estimate: '45.00',
      priority: 'Next visit',
      planned_on: '2026-09-01',
      completed_on: null,
      note: null,
      is_hidden: false,
    })
    const planned = at('2', 'treatments', '3')
    assert.deepEqual(
      [planned?.status, planned?.teeth, planned?.quantity, planned?.patient_estimate, planned?.appointment_source_id],
      ['planned', ['2', '3', '4'], 1, null, null],
    )
    const done = at('2', 'treatments', '4')
    assert.deepEqual(
      [done?.status, done?.fee, done?.quantity, done?.completed_on, done?.insurance_estimate, done?.patient_estimate],
      ['completed', '120.50', 2, '2026-08-02', '48.00', '70.75'],
    )
    assert.equal(at('1', 'treatments', '6'), undefined)
  })

  test('gives the account’s lines that count, signed, with their guarantor', async (t) => {
    await practice.execute("update procedurelog set SecDateEntry = '2026-10-01 09:30:00' where ProcNum = 1")
    const at = await read(t, { timeZone: 'America/Chicago' })
    assert.deepEqual(at('1', 'ledger_transactions', 'proc:1'), {
      transaction_type: 'charge',
      transaction_type_raw: 'Procedure',
      amount: '100.10',
      transaction_on: '2026-10-01',
      entered_at: '2026-10-01T14:30:00.000Z',
      patient_source_id: '1',
      guarantor_source_id: '1',
      provider_name: 'Mia Sample',
      treatment_source_id: '1',
      procedure_code: 'D0120',
      claim_source_id: null,
      insurance_plan_source_id: null,
      payment_method: null,
      payment_method_raw: null,
      adjustment_type: null,
      reference_number: null,
      description: null,
      allocations: [],
      is_hidden: false,
    })
    const line = (location: string, id: string) => {
      const found = at(location, 'ledger_transactions', id)
      return found && [found.transaction_type, found.amount, found.payment_method, found.reference_number]
    }
    assert.deepEqual(line('1', 'adj:1'), ['adjustment', '-20.10', null, null])
    assert.equal(at('1', 'ledger_transactions', 'adj:1')?.adjustment_type, 'Courtesy')
    assert.deepEqual(line('1', 'split:1'), ['patient_payment', '-20.00', 'check', '1044'])
    assert.deepEqual(at('1', 'ledger_transactions', 'split:1')?.allocations, [
      { treatment_source_id: '1', amount: '-20.00' },
    ])
    assert.equal(line('1', 'split:2'), undefined, 'a hidden prepayment')
    assert.deepEqual(line('1', 'split:3'), ['transfer', '-7.00', null, null])
    assert.deepEqual(line('2', 'split:5'), ['refund', '5.00', 'card', null])
    assert.deepEqual(line('2', 'split:6'), ['patient_payment', '-3.00', 'card', null])
    assert.deepEqual(line('1', 'claimproc:1:insurance_payment'), ['insurance_payment', '-30.00', 'insurance', 'EFT 77'])
    assert.deepEqual(line('1', 'claimproc:1:write_off'), ['write_off', '-10.00', null, null])
    // A payment that is on no check.
    assert.deepEqual(line('2', 'claimproc:5:insurance_payment'), ['insurance_payment', '-8.00', 'insurance', null])
    assert.equal(line('2', 'claimproc:5:write_off'), undefined, 'an amount of nothing')
    assert.equal(line('2', 'claimproc:4:insurance_payment'), undefined, 'a claim that was sent')
    assert.deepEqual(line('1', 'ppcharge:1'), ['payment_plan', '-40.00', null, null])
    assert.deepEqual(line('1', 'ppcharge:2'), ['payment_plan', '20.50', null, null])
    assert.equal(line('1', 'ppcharge:3'), undefined, 'not due yet')
    assert.equal(line('2', 'ppcharge:4'), undefined, 'the debit of a plan that tracks insurance')
  })

  test('counts an insurer’s payment only for done work, without "no date" as its day, and not twice by a payment plan', async (t) => {
    await practice.execute(
      `update claimproc set DateCP = '0001-01-01', ClaimNum = 0, PlanNum = 0 where ClaimProcNum = 1; update claimproc set PayPlanNum = 2 where ClaimProcNum = 5;
       insert into claimproc (ClaimProcNum, ProcNum, PatNum, Status, InsPayAmt, WriteOff, ClinicNum) values (20, 2, 2, 1, 5, 5, 1), (21, 0, 2, 4, 6, 0, 1), (22, 1, 1, 9, 7, 7, 1)`,
    )
    const at = await read(t)
    const paid = at('1', 'ledger_transactions', 'claimproc:1:insurance_payment')
    assert.deepEqual([paid?.transaction_on, paid?.claim_source_id, paid?.insurance_plan_source_id], [null, null, null])
    const amounts = ['5', '20', '21', '22'].map(
      (id) =>
        ['1', '2']
          .map((location) => at(location, 'ledger_transactions', `claimproc:${id}:insurance_payment`))
          .find(Boolean)?.amount,
    )
    assert.deepEqual(amounts, [undefined, undefined, '-6.00', undefined])
  })

  test('gives referrals with their source, the first one as primary, and none for a source that is gone', async (t) => {
    const at = await read(t)
    assert.deepEqual(at('1', 'patient_referrals', '3'), {
      patient_source_id: '2',
      direction: 'outgoing',
      source_type: 'provider',
      source_name: 'Olga Ortho',
      referring_patient_source_id: null,
      referring_provider: { name: 'Olga Ortho', specialty: 'Orthodontics', npi: '1234567890' },
      campaign: null,
      attribution_role: null,
      rank: 3,
      referred_on: '2026-09-01',
      status: 'scheduled',
      treatment_source_id: '2',
      note: null,
      is_hidden: false,
    })
    const kind = (location: string, id: string) => {
      const referral = at(location, 'patient_referrals', id)
      return [
        referral?.source_type,
        referral?.source_name,
        referral?.attribution_role,
        referral?.referring_patient_source_id,
      ]
    }
    assert.deepEqual(kind('2', '1'), ['patient', 'Ann Alder', 'primary', '1'])
    assert.deepEqual(kind('2', '2'), ['marketing', 'Radio ad', 'secondary', null])
    assert.deepEqual(kind('1', '4'), [null, null, 'primary', null])
  })

  test('has one location when clinics are off, whatever its rows say', async (t) => {
    await practice.setPreference('EasyNoClinics', '1')
    const at = await read(t)
    assert.ok(at('0', 'patients', '4'))
    assert.ok(at('0', 'ledger_transactions', 'split:5'))
  })

  test('puts a row of a clinic that is gone into headquarters', async (t) => {
    await practice.execute('update adjustment set ClinicNum = 77 where AdjNum = 2')
    const at = await read(t)
    assert.ok(at('0', 'ledger_transactions', 'adj:2'))
    assert.ok(at('0', 'patients', '4'))
  })

  test('whose keys are random is read by changes all the same', async (t) => {
    const key = '9223372036854775806'
    await practice.execute(
      `update appointment set AptNum = ${key} where AptNum = 6; update procedurelog set ProcNum = ${key} where ProcNum = 5;
       update claimproc set ClaimProcNum = ${key}, ProcNum = ${key} where ClaimProcNum = 5; update paysplit set SplitNum = ${key} where SplitNum = 6;
       update patient set PatNum = ${key}, Guarantor = ${key} where PatNum = 6; update appointment set PatNum = ${key} where AptNum = ${key}`,
    )
    await practice.ageAll()
    const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now: () => new Date() })
    await copy.run()
    assert.equal(copy.visible('1', 'appointments').get(key)?.patient_source_id, key)
    assert.ok(copy.visible('2', 'ledger_transactions').has(`claimproc:${key}:insurance_payment`))
    await practice.remove('appointment', 'AptNum', key)
    await practice.remove('claimproc', 'ClaimProcNum', key)
    await practice.remove('paysplit', 'SplitNum', key)
    const events = await copy.run()
    assert.ok(!copy.visible('1', 'appointments').has(key))
    assert.ok(!copy.visible('2', 'ledger_transactions').has(`claimproc:${key}:insurance_payment`))
    assert.ok(!copy.visible('2', 'ledger_transactions').has(`split:${key}`))
    assert.deepEqual(
      events.filter((event) => event.event === 'dataset.reading' && event.fully !== null),
      [],
    )
  })

  test('of another version, older or newer, is read all the same', async (t) => {
    await practice.execute(
      `alter table patplan drop column SecDateTEdit, drop column SecDateTEntry; alter table procedurelog drop key DateTStampPN, drop column DiscountPlanAmt;
       alter table payplancharge drop column IsOffset; alter table histappointment drop key HistDateTStamp; alter table referral drop column BusinessName;
       alter table appointment add IsMirrored tinyint not null; alter table appointment modify ProcDescript text;
       alter table procedurelog add NoBillIns tinyint not null; alter table payplan add SheetDefNum bigint not null;
       drop table payplanlink`,
    )
    const at = await read(t)
    assert.equal(at('1', 'patients', '1')?.secondary_insurance_plan_source_id, '2')
    assert.equal(at('1', 'treatments', '2')?.insurance_estimate, '105.00')
  })

  test('is read the same whatever the server’s SQL mode', async (t) => {
    const usual = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now: () => new Date() })
    await usual.run()
    for (const mode of ['ANSI', 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ONLY_FULL_GROUP_BY', 'TRADITIONAL']) {
      await mariaDb.execute('set global sql_mode = ?', [mode])
      const copy = await testCopy({ after: (work) => t.after(work) }, practice.settings, { now: () => new Date() })
      await copy.run()
      await copy.run()
      assert.deepEqual(copy.everything(), usual.everything())
    }
    await mariaDb.execute("set global sql_mode = ''")
  })

  test('is never asked for a social security number', async (t) => {
    await mariaDb.execute("set global log_output = 'TABLE', global general_log = 1")
    await read(t)
    await mariaDb.execute('set global general_log = 0')
    const statements = await mariaDb.execute('select convert(argument using utf8) as sql_text from mysql.general_log')
    const asked = statements.map((row) => String(row.sql_text)).filter((sql) => /^\s*select/i.test(sql))
    assert.ok(asked.some((sql) => sql.includes('from patient')))
    assert.deepEqual(
      asked.filter((sql) => /ssn|\*\s*from|\.\*/i.test(sql)),
      [],
    )
    const folder = new URL('..', import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    assert.ok(files.includes('database/connection.ts'))
    for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))) {
      assert.doesNotMatch(readFileSync(new URL(file, folder), 'utf8'), /\bssn\b|select \*/i, file)
    }
  })
})
