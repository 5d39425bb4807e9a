import assert from 'node:assert/strict'
import type { Change, Find } from '../test-change.ts'
import { seen } from '../test-seen.ts'

/** Patients come, move, change families and are merged; who sent them is noted, corrected and struck out. */
export async function peopleOfAYear(find: Find): Promise<Change[]> {
  // Each alone: in a family of one, with visits, and without a merged patient.
  const alone = await find.keys(
    `select p.PatNum from patient p
      where p.PatStatus = 0 and p.Guarantor = p.PatNum and p.ClinicNum = 1
        and (select count(*) from patient f where f.Guarantor = p.PatNum) = 1
        and not exists (select 1 from patientlink l where p.PatNum in (l.PatNumFrom, l.PatNumTo))
        and exists (select 1 from procedurelog c where c.PatNum = p.PatNum and c.ProcStatus = 2)
        and not exists (select 1 from payplan l where p.PatNum in (l.PatNum, l.Guarantor))
      order by p.PatNum`,
  )
  const [edited = '', deceased = '', moved = '', relative = '', duplicate = '', original = '', away = ''] = alone
  const referral = await find.one(
    `select r.ReferralNum, a.RefAttachNum from referral r join refattach a on a.ReferralNum = r.ReferralNum
      where r.IsDoctor = 1 and r.PatNum = 0 order by r.ReferralNum`,
  )
  const ofDoctor = await find.keys(`select RefAttachNum from refattach where ReferralNum = ${referral.ReferralNum}`)
  const newPatient = '9007199254740993'
  return [
    {
      what: 'a patient’s new name, address and way to be reached',
      sql: [
        `update patient set FName = 'Zoë', Preferred = '  ', City = 'Łódź', WirelessPhone = '555-0199', Email = '', PreferContactMethod = 8
          where PatNum = ${edited}`,
      ],
      expected: { patients: [edited] },
      check: (views) => {
        const { first_name, preferred_name, city, email, preferred_contact_method } = seen(views, 'patients', edited)
        assert.deepEqual(
          [first_name, preferred_name, city, email, preferred_contact_method],
          ['Zoë', null, 'Łódź', null, 'sms'],
        )
      },
    },
    {
      what: 'a note about a patient and a social security number, which vendors do not get',
      sql: [`update patient set AddrNote = 'Call first', SSN = '078051120' where PatNum = ${edited}`],
    },
    {
      what: 'a new patient in the family of another',
      sql: [
        `insert into patient (PatNum, FName, LName, Guarantor, ClinicNum, Birthdate, Gender, PatStatus)
         values (${newPatient}, 'New', 'Patient', ${edited}, 2, '2026-11-01', 2, 6)`,
      ],
      day: '2026-11-24',
      expected: { patients: [newPatient, edited] },
      check: (views) => {
        assert.equal(views.get('2')?.patients[newPatient] !== undefined, true)
        assert.equal(seen(views, 'patients', newPatient).guarantor, edited)
        // The guarantor is where the new patient is.
        assert.equal(views.get('2')?.patients[edited] !== undefined, true)
      },
    },
    {
      what: 'a patient who died',
      sql: [`update patient set PatStatus = 5 where PatNum = ${deceased}`],
      expected: { patients: [deceased] },
    },
    {
      what: 'a patient who moves to another family, and takes the account along',
      sql: [`update patient set Guarantor = ${relative} where PatNum = ${moved}`],
      expected: { patients: [moved], ledger_transactions: await find.linesOf(moved) },
      check: (views) => assert.equal(seen(views, 'patients', moved).guarantor, relative),
    },
    {
      what: 'a patient who changes to another clinic',
      sql: [`update patient set ClinicNum = 2 where PatNum = ${away}`],
      expected: {
        patients: [],
        patient_referrals: await find.keys(`select RefAttachNum from refattach where PatNum = ${away}`),
      },
    },
    {
      what: 'two patients who are one: merged',
      sql: [
        `update patient set PatStatus = 3 where PatNum = ${duplicate}`,
        ...['appointment', 'procedurelog', 'adjustment', 'paysplit', 'payment', 'claimproc', 'claim', 'refattach'].map(
          (table) => `update ${table} set PatNum = ${original} where PatNum = ${duplicate}`,
        ),
        `insert into patientlink (PatNumFrom, PatNumTo, LinkType, DateTimeLink) values (${duplicate}, ${original}, 1, now())`,
      ],
      day: '2026-11-26',
      expected: {
        patients: [duplicate],
        appointments: await find.keys(`select AptNum from appointment where PatNum = ${duplicate}`),
        treatments: await find.keys(
          `select ProcNum from procedurelog where PatNum = ${duplicate}
              and CodeNum not in (select CodeNum from procedurecode where ProcCode = '~GRP~')`,
        ),
        ledger_transactions: await find.linesOf(duplicate),
        patient_referrals: await find.keys(`select RefAttachNum from refattach where PatNum = ${duplicate}`),
      },
      check: (views) => {
        const { status, merged_into } = seen(views, 'patients', duplicate)
        assert.deepEqual([status, merged_into], ['merged', original])
      },
    },
    {
      what: 'a doctor who sent the new patient',
      sql: [
        `insert into refattach (RefAttachNum, ReferralNum, PatNum, ItemOrder, RefDate, RefType)
         values (900001, ${referral.ReferralNum}, ${newPatient}, 1, '2026-11-25', 1)`,
      ],
      expected: { patient_referrals: ['900001'] },
      check: (views) => {
        const { patient, source_type, referred_on } = seen(views, 'patient_referrals', '900001')
        assert.deepEqual([patient, source_type, referred_on], [newPatient, 'provider', '2026-11-25'])
      },
    },
    {
      what: 'a friend who did: a patient of another clinic',
      sql: [
        `insert into referral (ReferralNum, FName, LName, PatNum, IsDoctor) values (900002, 'A', 'Friend', ${alone.at(-1)}, 0)`,
        `insert into refattach (RefAttachNum, ReferralNum, PatNum, ItemOrder, RefDate, RefType)
         values (900002, 900002, ${newPatient}, 0, '0001-01-01', 1)`,
      ],
      expected: { patient_referrals: ['900001', '900002'], patients: [] },
      check: (views) => {
        const [first, second] = [seen(views, 'patient_referrals', '900002'), seen(views, 'patient_referrals', '900001')]
        assert.deepEqual([first.referring_patient, first.referred_on], [alone.at(-1), null])
        assert.deepEqual([first.attribution_role, second.attribution_role], ['primary', 'secondary'])
      },
    },
    {
      what: 'that referral struck out',
      sql: ['delete from refattach where RefAttachNum = 900002'],
      expected: { patient_referrals: ['900001', '900002'], patients: [] },
      check: (views) => assert.equal(seen(views, 'patient_referrals', '900001').attribution_role, 'primary'),
    },
    {
      what: 'a doctor who marries',
      sql: [`update referral set LName = 'Renamed' where ReferralNum = ${referral.ReferralNum}`],
      expected: { patient_referrals: [...ofDoctor, '900001'] },
    },
  ]
}
