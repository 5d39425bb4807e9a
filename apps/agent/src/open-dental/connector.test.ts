import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { type ByLocation, type DatasetName, SourceProblem, type SourceRecord } from '../connector.ts'
import { openDentalConnector } from './connector.ts'
import { type TestPractice, testPractice } from './testing/test-practice.ts'

const mariaDb = await startTestMariaDb({ after })

describe('an Open Dental database', () => {
  let practice: TestPractice

  async function fresh(): Promise<TestPractice> {
    practice = await testPractice(mariaDb)
    return practice
  }

  test('gives its clinics as locations, and headquarters only while a row carries it', async () => {
    await fresh()
    assert.deepEqual(await locationIds(practice), ['1', '2'])
    await practice.insert('patient', { PatNum: 1, ClinicNum: 0 })
    assert.deepEqual(await locationIds(practice), ['0', '1', '2'])
    await practice.update('patient', 'PatNum', 1, { ClinicNum: 1 })
    await practice.insert('claimproc', { ClaimProcNum: 1, ClinicNum: 0 })
    assert.deepEqual(await locationIds(practice), ['0', '1', '2'])
  })

  test('is one location with the practice’s name and address when clinics are off or there are none', async () => {
    await fresh()
    await practice.setPreference('EasyNoClinics', '1')
    const [whole, ...others] = await locations(practice)
    assert.deepEqual(others, [])
    assert.deepEqual(whole, {
      source_id: '0',
      name: 'Harbor Dental',
      address_line_1: '1 Quay',
      address_line_2: null,
      city: 'Salem',
      state: 'OR',
      postal_code: '97301',
      country: 'US',
      phone: '5035550100',
      email: null,
      website_url: null,
      time_zone: 'UTC',
      currency: 'USD',
      is_active: true,
      practice_management_system: { name: 'Open Dental', version: '24.3.10.0' },
    })
    await practice.setPreference('EasyNoClinics', '0')
    await practice.execute('delete from clinic')
    assert.deepEqual(await locationIds(practice), ['0'])
  })

  test('has each location’s zone from the settings, from Bridgework, from its clinic or from its address', async () => {
    await fresh()
    await practice.update('clinic', 'ClinicNum', 1, { TimeZone: 'America/Phoenix' })
    // Of the other clinic no address is known: it is where the practice is, in Oregon.
    assert.deepEqual(await zones(practice, null), ['America/Phoenix', 'America/Los_Angeles'])
    await practice.update('clinic', 'ClinicNum', 2, { TimeZone: 'Central Standard Time' })
    assert.deepEqual(await zones(practice, null), ['America/Phoenix', 'America/Chicago'])
    assert.deepEqual(await zones(practice, 'America/Denver'), ['America/Denver', 'America/Denver'])
    const set = { organization: 'America/Juneau', locations: new Map([['2', 'America/Boise']]) }
    const cycle = await openDentalConnector(practice.settings, null).beginCycle(set)
    const found = (await cycle.readLocations()).map((location) => location.time_zone)
    await cycle.end()
    assert.deepEqual(found, ['America/Juneau', 'America/Boise'])
  })

  test('of a Canadian office has Canadian locations, and a hidden clinic is an inactive one', async () => {
    await fresh()
    await practice.setPreference('LanguageAndRegion', 'fr-CA')
    await practice.update('clinic', 'ClinicNum', 2, { IsHidden: 1 })
    const [north, south] = await locations(practice)
    assert.deepEqual([north?.country, north?.currency, north?.is_active], ['CA', 'CAD', true])
    assert.equal(south?.is_active, false)
  })

  test('S01: gives its plans with names resolved and without 0 or dangling references', async () => {
    await fresh()
    const plans = await readAll(practice, 'insurance_plans')
    assert.deepEqual([...plans.keys()], ['1', '2'])
    const [gold, nameless, loose] = plans.get('1') ?? []
    assert.deepEqual(gold, {
      source_id: '1',
      attributes: {
        plan_name: 'Acme Gold',
        group_number: 'G-1',
        carrier_name: 'Example Dental',
        payer_id: '12345',
        employer_name: 'Acme Works',
        plan_type: 'ppo',
        renewal_month: null,
        is_hidden: false,
        fee_schedule_source_id: '2',
      },
    })
    assert.equal(nameless?.attributes.plan_name, 'Acme Works')
    assert.equal(nameless?.attributes.group_number, null)
    assert.equal(nameless?.attributes.plan_type, 'percentage')
    assert.equal(nameless?.attributes.renewal_month, 7)
    assert.equal(nameless?.attributes.fee_schedule_source_id, null)
    assert.equal(loose?.attributes.carrier_name, null)
    assert.equal(loose?.attributes.employer_name, null)
    assert.equal(loose?.attributes.fee_schedule_source_id, null)
    assert.equal(loose?.attributes.is_hidden, true)
  })

  test('keeps 64-bit keys, odd texts and blank amounts as they are', async () => {
    await fresh()
    const key = '9223372036854775807'
    await practice.insert('insplan', {
      PlanNum: key,
      GroupName: ' =HYPERLINK("x") ',
      PlanType: 'z',
      MonthRenew: 13,
      CarrierNum: 1,
    })
    await practice.insert('insplan', { PlanNum: '9223372036854775806', GroupName: 'a\u0000b', FeeSched: key })
    await practice.insert('feesched', { FeeSchedNum: key, Description: 'É\u{1F9B7}'.slice(0, 1), FeeSchedType: 4 })
    await practice.insert('fee', { FeeNum: '9223372036854775807', FeeSched: key, CodeNum: 1, Amount: -1, ProvNum: key })
    await practice.insert('fee', { FeeNum: 12, FeeSched: key, CodeNum: 2, Amount: 0.1 + 0.2 })
    await practice.insert('fee', { FeeNum: 13, FeeSched: key, CodeNum: 99, Amount: 5 })
    await practice.insert('fee', { FeeNum: 14, FeeSched: key, CodeNum: 2, ProvNum: 3, Amount: -0.001 })

    const plans = (await readAll(practice, 'insurance_plans')).get('1') ?? []
    const last = plans.at(-1)
    assert.equal(last?.source_id, key)
    assert.equal(last?.attributes.plan_name, '=HYPERLINK("x")')
    assert.equal(last?.attributes.plan_type, null)
    assert.equal(last?.attributes.renewal_month, null)
    const neighbour = plans.at(-2)
    assert.equal(neighbour?.source_id, '9223372036854775806')
    assert.equal(neighbour?.attributes.plan_name, 'ab')
    assert.equal(neighbour?.attributes.fee_schedule_source_id, key)

    const schedule = (await readAll(practice, 'fee_schedules')).get('1')?.at(-1)
    assert.equal(schedule?.source_id, key)
    assert.equal(schedule?.attributes.name, 'É')
    assert.equal(schedule?.attributes.schedule_type, 'other')
    assert.deepEqual(schedule?.attributes.fees, [
      { procedure_code: 'D0120', amount: null, provider_source_id: key, effective_on: null },
      { procedure_code: 'D0150', amount: '0.30', provider_source_id: null, effective_on: null },
      { procedure_code: 'D0150', amount: '0.00', provider_source_id: '3', effective_on: null },
    ])
  })

  test('gives each location the practice’s fees, and its own clinic’s in their place', async () => {
    await fresh()
    await practice.insert('fee', { FeeNum: 3, FeeSched: 2, CodeNum: 2, ClinicNum: 1, Amount: 90 })
    await practice.insert('fee', { FeeNum: 4, FeeSched: 2, CodeNum: 1, ClinicNum: 2, Amount: 10 })
    await practice.insert('fee', { FeeNum: 5, FeeSched: 1, CodeNum: 1, ClinicNum: 1, Amount: 1 })
    const schedules = await readAll(practice, 'fee_schedules')
    const amounts = (location: string) =>
      schedules
        .get(location)
        ?.map(({ attributes }) => (attributes.fees as { amount: string }[]).map((fee) => fee.amount))
    assert.deepEqual(amounts('1'), [['1.00'], ['90.00']])
    assert.deepEqual(amounts('2'), [['62.50'], ['10.00', '80.00']])
  })

  test('of a newer version gives a fee’s first day, and none for the empty date', async () => {
    await fresh()
    await practice.execute("alter table fee add column DateEffective date not null default '0001-01-01'")
    await practice.insert('fee', { FeeNum: 3, FeeSched: 1, CodeNum: 1, Amount: 70, DateEffective: '2027-01-01' })
    await practice.insert('fee', { FeeNum: 4, FeeSched: 1, CodeNum: 2, Amount: 70, DateEffective: '0000-00-00' })
    const fees = (await readAll(practice, 'fee_schedules')).get('1')?.[0]?.attributes.fees as {
      effective_on: unknown
    }[]
    assert.deepEqual(
      fees.map((fee) => fee.effective_on),
      [null, '2027-01-01', null],
    )
  })

  test('of an older version, without the columns that came later, is read all the same', async () => {
    await fresh()
    await practice.execute('alter table feesched drop column IsGlobal')
    await practice.execute('alter table clinic drop column TimeZone, drop column IsHidden, drop column Abbr')
    assert.equal((await readAll(practice, 'fee_schedules')).get('1')?.length, 2)
    assert.deepEqual(await locationIds(practice), ['1', '2'])
  })

  const changes: readonly [string, DatasetName, string[], () => Promise<void>][] = [
    ['a changed plan', 'insurance_plans', ['2'], () => practice.update('insplan', 'PlanNum', 2, { GroupName: 'New' })],
    [
      'a renamed employer, which has no stamp',
      'insurance_plans',
      ['1', '2'],
      () => practice.update('employer', 'EmployerNum', 1, { EmpName: 'Acme Ltd' }),
    ],
    [
      'a renamed carrier',
      'insurance_plans',
      ['1', '2'],
      () => practice.update('carrier', 'CarrierNum', 1, { CarrierName: 'Other' }),
    ],
    [
      'a carrier that was deleted without touching its plans',
      'insurance_plans',
      ['1', '2'],
      () => practice.remove('carrier', 'CarrierNum', 1),
    ],
    [
      'a dangling carrier that appears',
      'insurance_plans',
      ['3'],
      () => practice.insert('carrier', { CarrierNum: 999, CarrierName: 'Late' }),
    ],
    ['a deleted fee schedule', 'insurance_plans', ['1'], () => practice.remove('feesched', 'FeeSchedNum', 2)],
    [
      'a renamed fee schedule',
      'fee_schedules',
      ['2'],
      () => practice.update('feesched', 'FeeSchedNum', 2, { Description: 'PPO 2' }),
    ],
    ['a changed fee', 'fee_schedules', ['1'], () => practice.update('fee', 'FeeNum', 1, { Amount: 63 })],
    [
      'a new fee',
      'fee_schedules',
      ['2'],
      () => practice.insert('fee', { FeeNum: 9, FeeSched: 2, CodeNum: 1, Amount: 1 }),
    ],
    [
      'a renamed procedure code',
      'fee_schedules',
      ['2'],
      () => practice.update('procedurecode', 'CodeNum', 2, { ProcCode: 'D0151' }),
    ],
    [
      'an update that changes nothing',
      'insurance_plans',
      [],
      () => practice.update('insplan', 'PlanNum', 1, { GroupNum: 'G-1' }),
    ],
  ]
  for (const [what, dataset, expected, change] of changes) {
    test(`names exactly the records concerned by ${what}`, async () => {
      await fresh()
      const cursor = await cursorOf(practice, dataset)
      await change()
      const found = await inCycle(practice, (source) => source.findChanges(dataset, cursor))
      assert.deepEqual(found.keys === 'all' ? 'all' : [...found.keys].sort(), expected)
    })
  }

  test('finds a row stamped before the last read but committed after it, by the overlap', async () => {
    await fresh()
    const cursor = await cursorOf(practice, 'insurance_plans')
    await practice.execute(
      "insert into insplan set PlanNum = 4, GroupName = 'Late', SecDateTEdit = utc_timestamp() - interval 5 minute",
    )
    const found = await inCycle(practice, (source) => source.findChanges('insurance_plans', cursor))
    assert.deepEqual(found.keys, ['4'])
  })

  test('whose server keeps local time is read by the same instants', async () => {
    await fresh()
    await mariaDb.execute("set global time_zone = '-08:00'")
    try {
      const cursor = await cursorOf(practice, 'insurance_plans')
      const office = await practice.connect()
      await office.query("set time_zone = '-08:00'; update insplan set GroupName = 'Now' where PlanNum = 1")
      const found = await inCycle(practice, (source) => source.findChanges('insurance_plans', cursor))
      assert.deepEqual(found.keys, ['1'])
    } finally {
      await mariaDb.execute("set global time_zone = 'SYSTEM'")
    }
  })

  const guards: readonly [string, string, (cursor: string) => Promise<string>][] = [
    [
      'database_version_changed',
      'the database was upgraded since',
      async (cursor) => {
        await practice.setPreference('DataBaseVersion', '24.4.1.0')
        return cursor
      },
    ],
    [
      'clock_went_back',
      'the database’s clock went back',
      async (cursor) => JSON.stringify({ ...JSON.parse(cursor), nowUtc: '2099-01-01 00:00:00' }),
    ],
    [
      'restored_backup',
      'the highest key is lower than it was',
      async (cursor) => {
        await practice.remove('insplan', 'PlanNum', 3)
        return cursor
      },
    ],
    [
      'restored_backup',
      'the highest stamp is earlier than it was',
      async (cursor) => {
        await practice.age('insplan', '2025-12-31 00:00:00')
        return cursor
      },
    ],
    ['first_read', 'the cursor cannot be read', async () => '{"format":0}'],
  ]
  for (const [because, what, change] of guards) {
    test(`is compared in full when ${what}`, async () => {
      await fresh()
      const cursor = await change(await cursorOf(practice, 'insurance_plans'))
      const found = await inCycle(practice, (source) => source.findChanges('insurance_plans', cursor))
      assert.deepEqual([found.keys, 'because' in found ? found.because : null], ['all', because])
    })
  }

  test('is not read while Open Dental is being updated', async () => {
    await fresh()
    await practice.setPreference('UpdateInProgressOnComputerName', 'FRONTDESK')
    await assert.rejects(
      locations(practice),
      (error) => error instanceof SourceProblem && error.kind === 'update_in_progress',
    )
  })

  test('is not relied on when it was updated during the read, or an update has begun', async () => {
    await fresh()
    const cycle = await openDentalConnector(practice.settings, 'UTC').beginCycle()
    await cycle.confirm()
    await practice.setPreference('DataBaseVersion', '24.4.1.0')
    await assert.rejects(cycle.confirm(), {
      kind: 'version_changed',
      message: 'Open Dental was updated while its data was being read; what was read is not relied on.',
      todo: 'Nothing to do: the agent reads everything anew at its next cycle.',
    })
    await practice.setPreference('UpdateInProgressOnComputerName', 'FRONTDESK')
    await assert.rejects(
      cycle.confirm(),
      (error) => error instanceof SourceProblem && error.kind === 'update_in_progress',
    )
    await cycle.end()
  })

  test('cannot be written through the agent’s session, even by a user who could', async () => {
    await fresh()
    await mariaDb.execute(`grant all on ${practice.name}.* to ${practice.settings.user}@localhost`)
    const { openSession } = await import('./database/session.ts')
    const { database } = await openSession(practice.settings)
    await assert.rejects(database.query('delete from insplan'), SourceProblem)
    const [row] = await database.query(
      'select @@session.tx_read_only as read_only, @@session.max_statement_time as seconds',
    )
    assert.equal(row?.read_only, '1')
    assert.equal(Number(row?.seconds), 15)
    await database.end()
  })
})

async function inCycle<T>(
  practice: TestPractice,
  work: (cycle: Awaited<ReturnType<ReturnType<typeof openDentalConnector>['beginCycle']>>) => Promise<T>,
  zone: string | null = 'UTC',
): Promise<T> {
  const cycle = await openDentalConnector(practice.settings, zone).beginCycle()
  try {
    return await work(cycle)
  } finally {
    await cycle.end()
  }
}

function locations(practice: TestPractice, zone: string | null = 'UTC') {
  return inCycle(practice, (cycle) => cycle.readLocations(), zone)
}

async function locationIds(practice: TestPractice): Promise<string[]> {
  return (await locations(practice)).map((location) => location.source_id)
}

async function zones(practice: TestPractice, configured: string | null) {
  return (await locations(practice, configured)).map((location) => location.time_zone)
}

async function cursorOf(practice: TestPractice, dataset: DatasetName): Promise<string> {
  return (await inCycle(practice, (cycle) => cycle.findChanges(dataset, null))).cursor
}

async function readAll(practice: TestPractice, dataset: DatasetName): Promise<Map<string, SourceRecord[]>> {
  return await inCycle(practice, async (cycle) => {
    const all = new Map<string, SourceRecord[]>()
    const keys = [...(await cycle.listKeys(dataset)).values()][0] ?? []
    for await (const chunk of cycle.readRecords(dataset, keys)) add(all, chunk)
    return all
  })
}

function add(all: Map<string, SourceRecord[]>, chunk: ByLocation<readonly SourceRecord[]>): void {
  for (const [location, records] of chunk) all.set(location, [...(all.get(location) ?? []), ...records])
}
