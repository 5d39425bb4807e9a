import assert from 'node:assert/strict'
import { copyFileSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import type { AgentEvent, DatasetFailure } from '../agent-event.ts'
import { type DatasetName, noZones, type SourceCycle } from '../connector.ts'
import { eventText } from '../progress.ts'
import { statusPage } from '../status/page.ts'
import { createStatus } from '../status/status.ts'
import { tablesRead } from './changes/tables-read.ts'
import { openDentalConnector } from './connector.ts'
import { readerOf } from './dataset-readers.ts'
import { dynamicPlansColumn } from './records/dynamic-plans.ts'
import { firstReadOf, testCopy } from './testing/test-copy.ts'
import { testFamily } from './testing/test-family.ts'

const mariaDb = await startTestMariaDb({ after })

type Practice = Awaited<ReturnType<typeof testFamily>>

/** A fault at the office, the datasets that it stops, the message, and the cure. */
type Case = {
  readonly stops: string
  readonly because: DatasetFailure['because']
  readonly place: readonly [table: string, column: string | null]
  readonly told: RegExp
  readonly breaks: (practice: Practice) => Promise<unknown>
  readonly cures: (practice: Practice, told: string) => Promise<unknown>
}

const fileOf = ({ settings, name }: Practice, file: string) => join(dirname(settings.socket), 'data', name, file)
const grant = (told: string) => /grant select [^;]*/.exec(told)?.[0] ?? assert.fail(told)

/** As a person does it: the second statement where the first one says that it could not. */
async function repair({ execute }: Practice, told: string): Promise<void> {
  for (const [statement] of told.matchAll(/repair table [^;]*/g)) {
    const answers = await execute(statement)
    if (answers.at(-1)?.Msg_text === 'OK') return
  }
  assert.fail(told)
}

/** Rights on each table but one. */
async function revokeTable(practice: Practice, table: string): Promise<void> {
  const account = `${practice.settings.user}@localhost`
  const tables = await practice.execute('show tables')
  await mariaDb.execute(`revoke all on ${practice.name}.* from ${account}`)
  for (const name of tables.flatMap((row) => Object.values(row)))
    if (name !== table) await mariaDb.execute(`grant select on ${practice.name}.${name} to ${account}`)
}

const cases: Readonly<Record<string, Case>> = {
  'a missing table': {
    stops: 'patients insurance_plans',
    because: 'table_missing',
    place: ['insplan', null],
    told: /^The database "practice_\d+" has no table insplan\. Start Open Dental once/,
    breaks: (practice) => practice.execute('rename table insplan to insplan_away'),
    cures: (practice) => practice.execute('rename table insplan_away to insplan'),
  },
  'a missing column': {
    stops: 'appointments',
    because: 'column_missing',
    place: ['appointmenttype', 'AppointmentTypeName'],
    told: /^The table appointmenttype of the database has no column AppointmentTypeName\. Start Open Dental once/,
    breaks: (practice) =>
      practice.execute('alter table appointmenttype change AppointmentTypeName Away varchar(255) not null'),
    cures: (practice) =>
      practice.execute('alter table appointmenttype change Away AppointmentTypeName varchar(255) not null'),
  },
  'a revoked right': {
    stops: 'patients patient_referrals',
    because: 'rights_missing',
    place: ['refattach', null],
    told: /^The user "reader_\d+" may not read the table refattach\. As the database's administrator run: grant select on/,
    breaks: (practice) => revokeTable(practice, 'refattach'),
    cures: (_practice, told) => mariaDb.execute(grant(told)),
  },
  'a right to some columns only': {
    stops: 'insurance_plans',
    because: 'rights_missing',
    place: ['employer', 'EmpName'],
    told: /^The user "reader_\d+" may not read the column EmpName of the table employer\. .*grant select on/,
    breaks: async (practice) => {
      await revokeTable(practice, 'employer')
      const { name, settings } = practice
      await mariaDb.execute(`grant select (EmployerNum) on ${name}.employer to ${settings.user}@localhost`)
    },
    cures: (_practice, told) => mariaDb.execute(grant(told)),
  },
  'a revoked right to a table that older versions do not have': {
    stops: 'ledger_transactions',
    because: 'rights_missing',
    place: ['payplanlink', null],
    told: /^The user "reader_\d+" may not read the table payplanlink\. .*grant select on/,
    breaks: (practice) => revokeTable(practice, 'payplanlink'),
    cures: (_practice, told) => mariaDb.execute(grant(told)),
  },
  'an index that crashed': {
    stops: 'patients treatments ledger_transactions',
    because: 'table_damaged',
    place: ['claimproc', null],
    told: /^The table claimproc of the database is damaged\. Repair it: in Open Dental .*repair table /,
    breaks: async (practice) => {
      await practice.execute('flush tables')
      truncateSync(fileOf(practice, 'claimproc.MYI'), 1024)
    },
    cures: repair,
  },
  'rows that were cut off': {
    stops: 'patients ledger_transactions',
    because: 'table_damaged',
    place: ['paysplit', null],
    told: /^The table paysplit of the database is damaged\. .*repair table /,
    breaks: async (practice) => {
      await practice.execute('flush tables')
      copyFileSync(fileOf(practice, 'paysplit.MYD'), fileOf(practice, 'kept'))
      truncateSync(fileOf(practice, 'paysplit.MYD'), 60)
    },
    // From the copy: what was cut off cannot be repaired.
    cures: async (practice, told) => {
      await practice.execute('flush tables')
      copyFileSync(fileOf(practice, 'kept'), fileOf(practice, 'paysplit.MYD'))
      await repair(practice, told)
    },
  },
}

for (const [what, { stops, because, place, told, breaks, cures }] of Object.entries(cases)) {
  test(`${what} stops the datasets that need it and no other, and heals without a loss`, async (t) => {
    const practice = await testFamily(mariaDb)
    const now = () => new Date('2026-11-20T12:00:00Z')
    const copy = await testCopy(t, practice.settings, { now })
    await copy.run()
    const before: ReturnType<typeof copy.everything> = copy.everything()
    await breaks(practice)

    // Twice, with a change of each kind in between: of what is read, what is not, and without a stamp.
    const stopped = stops.split(' ')
    const failures: (AgentEvent & { event: 'dataset.failed' })[] = []
    const status = createStatus({ version: '1', nowMs: Date.now })
    for (let n = 0; n < 2; n++) {
      const events = await copy.run('incomplete')
      events.forEach(status.report)
      failures.push(...events.filter((event) => event.event === 'dataset.failed'))
      const removed = events.filter((event) => event.event === 'records.hidden' || event.event === 'removal.held')
      assert.ok(!removed.some(({ dataset }) => stopped.includes(dataset)), JSON.stringify(removed))
      await practice.update('feesched', 'FeeSchedNum', 1, { Description: `Standard ${n}` })
      await practice.update('patient', 'PatNum', 4, { FName: `Doris ${n}` })
      await practice.execute(`update refattach set RefToStatus = 3 where RefAttachNum = 3`)
      await practice.remove('adjustment', 'AdjNum', 2 - n)
    }
    const events = await copy.run('incomplete')
    events.forEach(status.report)
    assert.deepEqual([...new Set(failures.map(({ dataset }) => dataset))].sort(), stopped.toSorted())
    for (const failure of failures) {
      assert.deepEqual([failure.because, failure.table, failure.column], [because, ...place])
      assert.match(`${failure.what} ${failure.todo}`, told)
      // As it stands in the log.
      assert.match(eventText(failure, 0), new RegExp(`^FAILED: ${failure.dataset}: `))
    }
    // Others are current, and of those that stopped everything is there.
    for (const [name, records] of Object.entries(copy.everything())) {
      const [, dataset = ''] = name.split(' ')
      if (stopped.includes(dataset)) assert.deepEqual(records, before[name], name)
      else if (dataset === 'fee_schedules') assert.equal((records['1'] as { name: string }).name, 'Standard 1')
    }

    const { findings } = await openDentalConnector(practice.settings, 'UTC').check()
    const [finding, ...others] = findings.filter(({ outcome }) => outcome === 'wrong')
    assert.deepEqual(others, [])
    assert.ok(`${finding?.what}`.startsWith(`${failures[0]?.what} Not read: `))
    assert.equal(finding?.todo, failures[0]?.todo)
    const named = /Not read: ([a-z_, ]+)\./.exec(finding?.what ?? '')?.[1] ?? ''
    assert.deepEqual(named.split(', ').sort(), stopped.toSorted())
    for (const dataset of stopped) assert.ok(statusPage(status.read()).includes(dataset))
    assert.deepEqual(
      status
        .read()
        .failing.map(({ dataset }) => dataset)
        .sort(),
      stopped.toSorted(),
    )
    assert.equal(status.read().state, 'incomplete')

    await cures(practice, finding?.todo ?? '')
    const healed = await copy.run()
    healed.forEach(status.report)
    assert.deepEqual(status.read().failing, [])
    assert.deepEqual(copy.everything(), await firstReadOf(practice.settings, now))
    assert.ok(!healed.some((event) => event.event === 'dataset.reading' && event.fully !== null))
  })
}

test('each dataset names every table that it reads, so that it stops with one of them and with no other', async () => {
  const practice = await testFamily(mariaDb)
  const notes = new Set<DatasetName>(['appointments', 'treatments', 'ledger_transactions', 'patient_referrals'])
  const { beginCycle, datasets } = openDentalConnector(practice.settings, 'UTC')
  /** Every statement of a dataset: of a first read, and of one that finds every row changed. */
  async function readAll(cycle: SourceCycle, dataset: DatasetName, cursor: string): Promise<void> {
    await cycle.findChanges(dataset, cursor, { between: () => [], each: () => [] })
    for await (const _ of (await cycle.scan?.(dataset))?.chunks ?? []);
  }
  const first = await beginCycle(noZones, notes)
  const cursors = new Map<DatasetName, string>()
  for (const dataset of datasets) {
    const { cursor } = await first.findChanges(dataset, null)
    cursors.set(dataset, JSON.stringify({ ...JSON.parse(cursor), nowUtc: '2000-01-01 00:00:00', today: '2000-01-01' }))
  }
  await first.end()
  const { isSingle, session } = {
    isSingle: false,
    session: { columns: new Set([dynamicPlansColumn, 'procnote.Note']), notes },
  }
  for (const table of [...tablesRead, 'payplanlink'] as const) {
    // Of these nothing can be read at all.
    if (table === 'preference' || table === 'clinic') continue
    await practice.execute(`rename table ${table} to away`)
    const stopped: string[] = []
    const cycle = await beginCycle(noZones, notes)
    try {
      await cycle.readLocations()
      for (const dataset of datasets) {
        try {
          if ((await cycle.problemOf?.(dataset, null)) === null)
            await readAll(cycle, dataset, cursors.get(dataset) ?? '')
          else stopped.push(dataset)
        } catch (error) {
          assert.fail(`${dataset} reads ${table} and does not name it: ${error}`)
        }
      }
    } finally {
      await cycle.end()
      await practice.execute(`rename table away to ${table}`)
    }
    const naming = datasets.filter((dataset) =>
      readerOf(dataset)
        .reads({ session, locations: { isSingle } } as never)
        .includes(table),
    )
    // A database without it is of a version that had no such plans.
    assert.deepEqual(stopped, table === 'payplanlink' ? [] : naming, table)
    assert.ok(naming.length > 0, `${table} is read by none`)
  }
})
