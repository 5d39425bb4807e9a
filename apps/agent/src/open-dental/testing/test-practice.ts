import type { TestDatabase, TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'

type Values = Readonly<Record<string, string | number | null>>

export type TestPractice = TestDatabase & {
  insert(table: string, ...rows: Values[]): Promise<void>
  /** As every change in Open Dental: the row's stamp moves to the database's clock. */
  update(table: string, key: string, id: string | number, values: Values): Promise<void>
  remove(table: string, key: string, id: string | number): Promise<void>
  setPreference(name: string, value: string): Promise<void>
  /** Makes every stamp of the table old, so that only what changes from now on is found by its stamp. */
  age(table: string, stamp?: string): Promise<void>
}

/** A small practice: two clinics, two fee schedules, three plans. Rows of our own making. */
export async function testPractice(mariaDb: TestMariaDb): Promise<TestPractice> {
  const database = await mariaDb.createDatabase()
  const practice: TestPractice = {
    ...database,
    insert: async (table, ...rows) => {
      for (const row of rows) await database.execute('insert into ?? set ?', [table, row])
    },
    update: async (table, key, id, values) => {
      await database.execute('update ?? set ? where ?? = ?', [table, values, key, id])
    },
    remove: async (table, key, id) => {
      await database.execute('delete from ?? where ?? = ?', [table, key, id])
    },
    setPreference: async (name, value) => {
      await database.execute('delete from preference where PrefName = ?', [name])
      await database.execute('insert into preference (PrefName, ValueString) values (?, ?)', [name, value])
    },
    age: async (table, stamp = '2026-01-02 03:04:05') => {
      const column = table === 'procedurecode' ? 'DateTStamp' : 'SecDateTEdit'
      await database.execute('update ?? set ?? = ?', [table, column, stamp])
    },
  }
  for (const [name, value] of Object.entries(preferences)) await practice.setPreference(name, value)
  await practice.insert(
    'clinic',
    { ClinicNum: 1, Description: 'North', Abbr: 'N' },
    { ClinicNum: 2, Description: 'South' },
  )
  await practice.insert('employer', { EmployerNum: 1, EmpName: 'Acme Works' })
  await practice.insert('carrier', { CarrierNum: 1, CarrierName: 'Example Dental', ElectID: '12345' })
  await practice.insert('procedurecode', { CodeNum: 1, ProcCode: 'D0120' }, { CodeNum: 2, ProcCode: 'D0150' })
  await practice.insert(
    'feesched',
    { FeeSchedNum: 1, Description: 'Standard', FeeSchedType: 0, IsGlobal: 1 },
    { FeeSchedNum: 2, Description: 'PPO', FeeSchedType: 2 },
  )
  await practice.insert(
    'fee',
    { FeeNum: 1, FeeSched: 1, CodeNum: 1, Amount: 62.5 },
    { FeeNum: 2, FeeSched: 2, CodeNum: 2, Amount: 80 },
  )
  await practice.insert(
    'insplan',
    { PlanNum: 1, GroupName: 'Acme Gold', GroupNum: 'G-1', PlanType: 'p', EmployerNum: 1, CarrierNum: 1, FeeSched: 2 },
    { PlanNum: 2, GroupName: '', EmployerNum: 1, CarrierNum: 1, FeeSched: 0, MonthRenew: 7 },
    { PlanNum: 3, GroupName: 'Loose', EmployerNum: 0, CarrierNum: 999, FeeSched: 1999, IsHidden: 1 },
  )
  for (const table of ['carrier', 'feesched', 'fee', 'insplan', 'procedurecode']) await practice.age(table)
  return practice
}

const preferences: Readonly<Record<string, string>> = {
  DataBaseVersion: '24.3.10.0',
  ProgramVersion: '24.3.10.0',
  UpdateInProgressOnComputerName: '',
  PracticeTitle: 'Harbor Dental',
  PracticeAddress: '1 Quay',
  PracticeCity: 'Salem',
  PracticeST: 'OR',
  PracticeZip: '97301',
  PracticePhone: '5035550100',
  EasyNoClinics: '0',
  LanguageAndRegion: 'en-US',
}
