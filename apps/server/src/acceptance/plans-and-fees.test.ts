import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import { clinics, loadPractice } from '@bridgework/practice-simulator/test-whole-practice'
import { runOperator } from '../apis/operator/run.ts'
import { keptRecords } from './testing/test-kept-records.ts'
import { type Office, someOffice } from './testing/test-office.ts'
import { namesOfPresent, readClinics, readPresent } from './testing/test-practice-sql.ts'
import { type Came, type Name, nothing, vendorCopy } from './testing/test-vendor-copy.ts'

test('K20: the plans and fees of a whole practice reach a vendor exactly, and then each of their changes and nothing else', async (t) => {
  const { database } = await loadPractice({ after })
  const office = await someOffice(t, database)
  const first = await office.runAgent()
  assert.equal(first.code, 0, first.stdout + first.stderr)
  const places = await somePlaces(office, database)
  // Its further cycles run here: a process for each would spend most of its time on being started.
  const agent = office.agentHere()
  const runAgent = async () => assert.equal((await agent.cycle()).result, 'complete')
  await runAgent()

  await t.test('its three locations are there, headquarters among them', () => checkLocations(office, database))
  await t.test('every record at every location is what the database holds, attribute by attribute', async () => {
    for (const { copy, kept, clinic } of places) {
      kept.take(await readPresent(database, clinic))
      await copy.sync()
      assert.deepEqual(copy.view(), kept.view())
    }
  })
  await t.test('an idle cycle brings nothing', () => checkChange(runAgent, database, places, [], nothing))
  for (const { what, sql, at, ...change } of await changes(database)) {
    const expected: Came = { ...nothing, ...change }
    await t.test(what, () => checkChange(runAgent, database, places, sql, expected, at))
  }
  await t.test('a mass deletion waits for a person, and is done when one confirms it', () =>
    checkMassRemoval(office, runAgent, database, places),
  )
})

type Place = Awaited<ReturnType<typeof somePlaces>>[number]

async function somePlaces({ vendor, locationIds }: Office, _: TestDatabase) {
  const ids = await locationIds()
  assert.deepEqual([...ids.keys()].sort(), clinics)
  return clinics.map((clinic) => {
    const locationId = ids.get(clinic) ?? ''
    return { clinic, locationId, copy: vendorCopy(vendor, locationId, { of: namesOfPresent }), kept: keptRecords() }
  })
}

async function checkLocations({ vendor, locationIds }: Office, database: TestDatabase): Promise<void> {
  const { body, status } = await vendor.get('/locations')
  assert.equal(status, 200)
  const ids = await locationIds()
  const served = new Map(body.data.map((location) => [location.id, location.attributes]))
  assert.equal(served.size, 3)
  for (const row of await readClinics(database)) {
    const { address_line_1, address_line_2, city, state, postal_code, phone, ...location } =
      served.get(ids.get(String(row.source_id)) ?? '') ?? assert.fail()
    const address = [location.name, address_line_1, address_line_2, city, state, postal_code, phone, location.is_active]
    const { source_id, is_active, ...expected } = row
    assert.deepEqual(address, [...Object.values(expected), is_active === 1])
    assert.deepEqual(location.practice_management_system, { name: 'Open Dental', version: '24.3.10.0' })
    assert.equal(location.currency, 'USD')
  }
}

/** Lets the statements happen, the agent read, and the vendor ask what changed: exactly `expected`, at the named clinics alone. */
async function checkChange(
  runAgent: () => Promise<void>,
  database: TestDatabase,
  places: readonly Place[],
  sql: readonly string[],
  expected: Came,
  at: readonly string[] = clinics,
): Promise<void> {
  for (const statement of sql) await database.execute(statement)
  await runAgent()
  for (const { clinic, copy, kept } of places) {
    const here = at.includes(clinic) ? expected : nothing
    assert.deepEqual(kept.take(await readPresent(database, clinic)), here, `the rows of clinic ${clinic}`)
    assert.deepEqual(await copy.sync(), here, `the delta of clinic ${clinic}`)
    assert.deepEqual(copy.view(), kept.view())
  }
}

type Change = { what: string; sql: string[]; at?: string[] } & Partial<Came>

async function changes(database: TestDatabase): Promise<Change[]> {
  const keys = async (sql: string) => (await database.execute(sql)).map((row) => String(row.key))
  const one = async (sql: string) => (await keys(`${sql} limit 1`))[0] ?? assert.fail(sql)
  const plansWhere = (where: string) => keys(`select PlanNum as \`key\` from insplan where ${where} order by PlanNum`)
  const [renamed = '', hidden = '', deleted = '', noted = ''] = await plansWhere('IsHidden = 0 and FeeSched > 0')
  const [shown = ''] = await plansWhere('IsHidden = 1')
  const busiest = (column: string) =>
    one(`select ${column} as \`key\` from insplan where ${column} > 0 group by ${column} order by count(*) desc`)
  const [carrier, employer] = [await busiest('CarrierNum'), await busiest('EmployerNum')]
  const schedule = await one(
    `select s.FeeSchedNum as \`key\` from feesched s join insplan p on p.FeeSched = s.FeeSchedNum
      where s.IsHidden = 0 and s.IsGlobal = 0 group by s.FeeSchedNum order by count(*) desc`,
  )
  // Of a code for which no clinic has its own: that one would hold there.
  const fee = (order: string) =>
    one(
      `select FeeNum as \`key\` from fee
        where FeeSched = ${schedule} and ClinicNum = 0
          and CodeNum not in (select CodeNum from fee where FeeSched = ${schedule} and ClinicNum > 0)
        order by FeeNum ${order}`,
    )
  const [deletedOwn = '', own = ''] = await keys('select FeeNum as `key` from fee where ClinicNum = 2 order by FeeNum')
  const scheduleOf = (feeOfClinic: string) => keys(`select FeeSched as \`key\` from fee where FeeNum = ${feeOfClinic}`)
  const copyOf = (plan: string) =>
    `create temporary table if not exists kept_plan as select * from insplan where PlanNum = ${plan}`
  const ofSchedule = { fee_schedules: [schedule], insurance_plans: await plansWhere(`FeeSched = ${schedule}`) }
  const code = await one(`select CodeNum as \`key\` from fee group by CodeNum order by count(*) desc`)
  return [
    // First, while no stamp of these schedules is new: a fee that is deleted leaves none.
    {
      what: 'a fee that is blanked, and so deleted',
      sql: [`delete from fee where FeeNum = ${await fee('asc')}`],
      fee_schedules: [schedule],
    },
    {
      what: 'a fee of one clinic that is deleted: the practice’s holds there again',
      sql: [`delete from fee where FeeNum = ${deletedOwn}`],
      fee_schedules: await scheduleOf(deletedOwn),
      at: ['2'],
    },
    set('a renamed plan', 'insplan', 'PlanNum', renamed, "GroupName = 'Renamed'", { insurance_plans: [renamed] }),
    set('a plan that is hidden', 'insplan', 'PlanNum', hidden, 'IsHidden = 1', { insurance_plans: [hidden] }),
    set('the same plan shown again', 'insplan', 'PlanNum', hidden, 'IsHidden = 0', { insurance_plans: [hidden] }),
    set('a long hidden plan that is shown', 'insplan', 'PlanNum', shown, 'IsHidden = 0', { insurance_plans: [shown] }),
    {
      what: 'a plan that is deleted',
      sql: [copyOf(deleted), `delete from insplan where PlanNum = ${deleted}`],
      insurance_plans: [deleted],
    },
    {
      what: 'the same plan made anew under its key',
      sql: ['insert into insplan select * from kept_plan'],
      insurance_plans: [deleted],
    },
    {
      what: 'a new plan',
      sql: ["insert into insplan (PlanNum, GroupName, CarrierNum) values (9007199254740993, 'Added Łódź', 0)"],
      insurance_plans: ['9007199254740993'],
    },
    set('a note on a plan, which vendors do not get', 'insplan', 'PlanNum', noted, "PlanNote = 'Call first.'", {}),
    set('a renamed carrier', 'carrier', 'CarrierNum', carrier, "CarrierName = 'Renamed Carrier'", {
      insurance_plans: await plansWhere(`CarrierNum = ${carrier}`),
    }),
    set('a renamed employer', 'employer', 'EmployerNum', employer, "EmpName = 'Renamed Employer'", {
      insurance_plans: await plansWhere(`EmployerNum = ${employer}`),
    }),
    set('a renamed fee schedule', 'feesched', 'FeeSchedNum', schedule, "Description = 'Renamed'", ofSchedule),
    set('a fee schedule that is hidden', 'feesched', 'FeeSchedNum', schedule, 'IsHidden = 1', ofSchedule),
    set('a fee of the practice', 'fee', 'FeeNum', await fee('desc'), 'Amount = Amount + 0.1', {
      fee_schedules: [schedule],
    }),
    {
      ...set('a fee of one clinic', 'fee', 'FeeNum', own, 'Amount = 1234.56', { fee_schedules: await scheduleOf(own) }),
      at: ['2'],
    },
    set('a procedure code that is written otherwise', 'procedurecode', 'CodeNum', code, "ProcCode = 'D0000'", {
      fee_schedules: await keys(
        `select distinct FeeSchedNum as \`key\` from fee join feesched on FeeSchedNum = FeeSched where CodeNum = ${code} order by FeeSchedNum`,
      ),
    }),
    set('a renamed clinic, which is no record', 'clinic', 'ClinicNum', '2', "Description = 'Renamed Clinic'", {}),
    // Last: for minutes after it the agent reads all these rows again at each cycle, and would find any change by chance.
    {
      what: 'stamps that move without a change, as in an upgrade',
      sql: [
        'update insplan set SecDateTEdit = now()',
        'update feesched set SecDateTEdit = now()',
        'update fee set SecDateTEdit = now()',
      ],
    },
  ]
}

function set(what: string, table: string, key: string, id: string, values: string, expected: Partial<Came>): Change {
  return { what, sql: [`update ${table} set ${values} where ${key} = ${id}`], ...expected }
}

async function checkMassRemoval(
  office: Office,
  runAgent: () => Promise<void>,
  database: TestDatabase,
  places: readonly Place[],
): Promise<void> {
  const doomed = (
    await database.execute(
      'select cast(PlanNum as char) as id from insplan where IsHidden = 0 order by PlanNum limit 20',
    )
  ).map((row) => String(row.id))
  const refusals = () =>
    office.world.events.filter((event) => event.event === 'request.answered' && event.status === 409).length
  const [before] = await database.execute('select count(*) as visible from insplan where IsHidden = 0')
  await database.execute(`delete from insplan where PlanNum in (${doomed.join(', ')})`)
  for (const cycle of [1, 2]) {
    await runAgent()
    assert.equal(refusals(), 3 * cycle)
    for (const { copy, locationId } of places) {
      assert.deepEqual(await copy.sync(), nothing)
      const held = await heldAt(office, locationId)
      assert.equal(held.fee_schedules, null)
      assert.deepEqual(
        { ...held.insurance_plans, held_at: '' },
        { missing: 20, visible: Number(before?.visible), held_at: '' },
      )
    }
  }

  for (const { locationId } of places) {
    const { rows } = await office.world.pool.query('select list_hash from removal where location_id = $1', [locationId])
    const args = ['removal', 'confirm', '--location', locationId, '--dataset', 'insurance_plans']
    assert.equal(await operate(office, [...args, '--list', rows[0].list_hash]), '20 records are hidden now.')
  }
  for (const { copy, kept, clinic, locationId } of places) {
    const expected = { ...nothing, insurance_plans: doomed }
    assert.deepEqual(kept.take(await readPresent(database, clinic)), expected)
    assert.deepEqual(await copy.sync(), expected)
    assert.deepEqual(copy.view(), kept.view())
    assert.deepEqual(await heldAt(office, locationId), { fee_schedules: null, insurance_plans: null })
  }
  await checkChange(runAgent, database, places, [], nothing)
}

async function heldAt({ vendor }: Office, locationId: string) {
  const { body } = await vendor.get(`/locations/${locationId}/sync_status`)
  const states = new Map(body.data.map(({ id, attributes }) => [id, attributes.removal_held as object | null]))
  return Object.fromEntries(namesOfPresent.map((name: Name) => [name, states.get(name) ?? null]))
}

/** One command of the operator's; what it prints. */
async function operate({ world }: Office, args: readonly string[]): Promise<string> {
  const out: string[] = []
  const open = async () => ({
    pool: world.pool,
    publicUrl: world.url,
    keyFile: { secretKeyFile: null, dataDir: '' },
    localUrl: world.url,
    environment: 'production' as const,
    signal: new AbortController().signal,
    progress: { show: () => {}, end: () => {} },
    ownerUrl: '',
    ask: null,
    write: async (text: string) => void out.push(text),
    say: () => {},
    secretKey: async () => world.secretKey,
    close: async () => {},
  })
  assert.equal(
    await runOperator(args, { open, out: (text) => out.push(text), err: (text) => out.push(text) }),
    0,
    out.join(),
  )
  return out.join('\n')
}
