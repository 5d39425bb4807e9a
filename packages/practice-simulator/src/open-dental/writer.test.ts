import assert from 'node:assert/strict'
import test from 'node:test'
import type { SourceRecord } from '@bridgework/contract/ingest'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { createPractice, openDentalShape } from '../create-practice.ts'
import { livingPractice } from '../living-practice.ts'
import { todayIn } from '../practice.ts'
import { expectedLocations, expectedRecords } from './expected.ts'
import { expectedManyPlans, writeManyPlans } from './many-plans.ts'
import { startTestMariaDb } from './testing/test-mariadb.ts'
import { createOpenDentalTables, writeEvent, writePractice, writePreference } from './writer.ts'

const withClinics = { clinics: 'on', headquarters: true } as const

test('an Open Dental database holds what the practice expects of it, also after a life of changes', async (t) => {
  const mariadb = await startTestMariaDb(t)

  for (const keyStyle of ['sequential', 'random'] as const) {
    await t.test(`with ${keyStyle} keys`, async () => {
      const connection = await (await mariadb.createDatabase()).connect()
      const living = livingPractice(createPractice(openDentalShape('life', { keyStyle })))
      await writePractice(connection, living.practice, withClinics)
      await assertHolds(connection, living.practice)
      assert.deepEqual(await unbalanced(connection, todayIn(living.practice)), [])
      const deleted = new Set<string>()
      for (let n = 0; n < 1000; n++) {
        const event = living.moveOn()
        await writeEvent(connection, living.practice, withClinics, event)
        for (const { table, before, after } of event.changes)
          if (table === 'appointments' && before !== null && after === null) deleted.add(before.key)
      }
      await assertHolds(connection, living.practice)
      assert.deepEqual(await unbalanced(connection, todayIn(living.practice)), [])
      const deletions = await select(connection, 'select AptNum as id from histappointment where HistApptAction = 4')
      assert.ok(deletions.length > 0 && deletions.every(({ id }) => deleted.has(String(id))))
      // Some are deleted without a word in the history.
      assert.equal(deletions.length, [...deleted].filter((key) => BigInt(key) % 3n !== 0n).length)
      assert.ok(deletions.length < deleted.size, `${deletions.length} of ${deleted.size}`)
    })
  }

  await t.test('in tables made by the writer itself, in a session of strict mode and another zone', async () => {
    const connection = await (await mariadb.createDatabase({ schema: null })).connect()
    await connection.query("set sql_mode = 'TRADITIONAL', time_zone = '-07:00'")
    await createOpenDentalTables(connection)
    const practice = createPractice(openDentalShape('strict'))
    await writePractice(connection, practice, withClinics)
    await assertHolds(connection, practice)
  })

  await t.test('an event moves the stamps of the rows that it alters to the given moment, and no other', async () => {
    const connection = await (await mariadb.createDatabase()).connect()
    const living = livingPractice(createPractice(openDentalShape('stamps')))
    const writtenAt = new Date('2026-03-01T08:00:00Z')
    await writePractice(connection, living.practice, withClinics, { writtenAt })
    const plan = [...living.practice.insurancePlans.values()][0]
    assert.ok(plan)
    const renamed = { ...plan, groupName: 'Another name' }
    const event = living.apply({
      name: 'insurance_plan_renamed',
      changes: [{ table: 'insurancePlans', before: plan, after: renamed }],
    })
    await writeEvent(connection, living.practice, withClinics, event, { at: new Date('2026-03-08T10:30:00Z') })

    const late = await select(
      connection,
      "select PlanNum as id, SecDateTEdit as stamp from insplan where SecDateTEdit > '2026-03-01 08:00:00'",
    )
    assert.deepEqual(late, [{ id: plan.key, stamp: '2026-03-08 10:30:00' }])
    const [earliest] = await select(connection, 'select min(SecDateTEdit) as stamp from insplan')
    assert.ok(String(earliest?.stamp) < '2026-01-01')
  })

  await t.test(
    'clinic 0 is in use only where there is a headquarters, and the practice’s settings say whether clinics count',
    async () => {
      const practice = createPractice(openDentalShape('clinics'))
      const names = [practice.organization.name, ...[...practice.locations.values()].map((location) => location.name)]
      const variants = [
        { variant: withClinics, hasClinicZero: true, expected: names },
        { variant: { clinics: 'on', headquarters: false }, hasClinicZero: false, expected: names.slice(1) },
        { variant: { clinics: 'off', headquarters: false }, hasClinicZero: false, expected: names.slice(0, 1) },
      ] as const
      for (const { variant, hasClinicZero, expected } of variants) {
        const connection = await (await mariadb.createDatabase()).connect()
        await writePractice(connection, practice, variant)
        const zero = await select(connection, 'select PatNum from patient where ClinicNum = 0 limit 1')
        assert.equal(zero.length === 1, hasClinicZero)
        const [off] = await select(
          connection,
          "select ValueString as value from preference where PrefName = 'EasyNoClinics'",
        )
        assert.equal(off?.value, variant.clinics === 'off' ? '1' : '0')
        assert.deepEqual(
          expectedLocations(practice, variant).map((location) => location.name),
          expected,
        )
      }
    },
  )

  await t.test('a preference can be changed, as an upgrade does', async () => {
    const connection = await (await mariadb.createDatabase()).connect()
    await writePractice(connection, createPractice(openDentalShape('upgrade')), withClinics)
    await writePreference(connection, 'UpdateInProgressOnComputerName', 'FRONTDESK')
    const rows = await select(
      connection,
      "select ValueString as value from preference where PrefName = 'UpdateInProgressOnComputerName'",
    )
    assert.deepEqual(rows, [{ value: 'FRONTDESK' }])
  })

  await t.test('a hundred thousand plans are written quickly and as promised', async () => {
    const connection = await (await mariadb.createDatabase()).connect()
    const startedAtMs = Date.now()
    await writeManyPlans(connection, 100_000)
    assert.ok(Date.now() - startedAtMs < 60_000)
    assert.deepEqual(await readPlans(connection), expectedManyPlans(100_000))
  })
})

test('a practice whose plans belong to single locations is refused: Open Dental has no place for that', () => {
  const holdings = { insurancePlans: 2, feeSchedules: 1 }
  const practice = createPractice(openDentalShape('own', { locations: [holdings] }))
  assert.throws(() => expectedRecords(practice, withClinics), /whole practice only/)
})

/** Reads back with SQL of its own and compares with everything that is expected, at every location. */
async function assertHolds(connection: Connection, practice: Parameters<typeof expectedRecords>[0]): Promise<void> {
  const expected = expectedRecords(practice, withClinics)
  for (const [location, records] of expected.get('insurance_plans') ?? []) {
    assert.deepEqual(await readPlans(connection), records, `plans of location ${location}`)
  }
  for (const [location, records] of expected.get('fee_schedules') ?? []) {
    assert.deepEqual(await readSchedules(connection, location), records, `fee schedules of location ${location}`)
  }
}

/** Patients whose stored balance is not what Open Dental's own formula gives, table by table. */
async function unbalanced(connection: Connection, today: string): Promise<RowDataPacket[]> {
  return await select(
    connection,
    `select p.PatNum, cast(p.EstBalance as decimal(19, 2)) as stored, cast(coalesce(sum(t.amount), 0) as decimal(19, 2)) as owed
       from patient p
       left join (
         select PatNum, ProcFee * (UnitQty + BaseUnits) as amount from procedurelog where ProcStatus = 2
         union all select PatNum, AdjAmt from adjustment
         union all select s.PatNum, -s.SplitAmt from paysplit s
                     left join definition u on u.DefNum = s.UnearnedType and u.Category = 29
                    where coalesce(u.ItemValue, '') = ''
         union all select c.PatNum, -c.InsPayAmt - c.WriteOff from claimproc c
                     left join procedurelog q on q.ProcNum = c.ProcNum and c.ProcNum <> 0
                    where c.Status in (1, 4, 5, 7) and (c.ProcNum = 0 or q.ProcStatus = 2)
         union all select if(ChargeType = 0, Guarantor, PatNum), if(ChargeType = 0, Principal + Interest, -Principal)
                     from payplancharge where ChargeDate <= '${today}') t on t.PatNum = p.PatNum
      group by p.PatNum
     having stored <> owed`,
  )
}

async function readPlans(connection: Connection): Promise<SourceRecord[]> {
  const rows = await select(
    connection,
    `select p.PlanNum, p.IsHidden,
            coalesce(nullif(trim(p.GroupName), ''), trim(e.EmpName), '') as plan_name,
            nullif(trim(p.GroupNum), '') as group_number, nullif(trim(c.CarrierName), '') as carrier_name,
            nullif(trim(c.ElectID), '') as payer_id, nullif(trim(e.EmpName), '') as employer_name,
            case p.PlanType when '' then 'percentage' when 'p' then 'ppo' when 'f' then 'flat_copay' when 'c' then 'capitation' end as plan_type,
            if(p.MonthRenew between 1 and 12, p.MonthRenew, null) as renewal_month,
            f.FeeSchedNum as schedule
       from insplan p
       left join employer e on e.EmployerNum = p.EmployerNum
       left join carrier c on c.CarrierNum = p.CarrierNum
       left join feesched f on f.FeeSchedNum = p.FeeSched
      order by p.PlanNum`,
  )
  return rows.map((row) => ({
    source_id: String(row.PlanNum),
    attributes: {
      // SQL's trim() leaves a tab.
      plan_name: String(row.plan_name).trim(),
      group_number: textOrNull(row.group_number),
      carrier_name: textOrNull(row.carrier_name),
      payer_id: textOrNull(row.payer_id),
      employer_name: textOrNull(row.employer_name),
      plan_type: textOrNull(row.plan_type),
      renewal_month: row.renewal_month === null ? null : Number(row.renewal_month),
      is_hidden: Number(row.IsHidden) === 1,
      fee_schedule_source_id: textOrNull(row.schedule),
    },
  }))
}

async function readSchedules(connection: Connection, location: string): Promise<SourceRecord[]> {
  const schedules = await select(
    connection,
    `select FeeSchedNum, trim(Description) as name, IsGlobal, IsHidden,
            elt(FeeSchedType + 1, 'standard', 'copay', 'out_of_network', 'fixed_benefit', 'other') as schedule_type
       from feesched
      order by FeeSchedNum`,
  )
  const fees = await select(
    connection,
    `select f.FeeSched, pc.ProcCode, nullif(f.ProvNum, 0) as provider,
            if(f.Amount = -1, null, cast(f.Amount as decimal(15, 2))) as amount
       from fee f
       join feesched s on s.FeeSchedNum = f.FeeSched
       join procedurecode pc on pc.CodeNum = f.CodeNum
      where (f.ClinicNum = 0 and (? = 0 or not exists (
              select 1 from fee own
               where own.FeeSched = f.FeeSched and own.CodeNum = f.CodeNum and own.ProvNum = f.ProvNum and own.ClinicNum = ?)))
         or (f.ClinicNum = ? and ? <> 0)
      order by pc.ProcCode, cast(nullif(f.ProvNum, 0) as char)`,
    Array.from({ length: 4 }, () => BigInt(location)),
  )
  return schedules.map((row) => ({
    source_id: String(row.FeeSchedNum),
    attributes: {
      name: String(row.name),
      schedule_type: String(row.schedule_type),
      is_global: Number(row.IsGlobal) === 1,
      is_hidden: Number(row.IsHidden) === 1,
      fees: fees
        .filter((fee) => fee.FeeSched === row.FeeSchedNum)
        .map((fee) => ({
          procedure_code: String(fee.ProcCode),
          amount: textOrNull(fee.amount),
          provider_source_id: textOrNull(fee.provider),
          effective_on: null,
        })),
    },
  }))
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}

/** Every column as text, so that keys of 64 bits and amounts stay what they are. */
async function select(connection: Connection, sql: string, values: readonly bigint[] = []): Promise<RowDataPacket[]> {
  const [rows] = await connection.query<RowDataPacket[]>({ sql, typeCast: (field) => field.string() }, [...values])
  return rows
}
