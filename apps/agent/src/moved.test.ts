import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { createLocation } from '../../server/src/modules/onboarding/upsert-locations.ts'
import { listRemovals } from '../../server/src/modules/records/removals/removal-store.ts'
import { removeSlice } from '../../server/src/modules/records/removals/remover.ts'
import { testFamily } from './open-dental/testing/test-family.ts'
import { runAgentCommand, temporaryFolder, writeTestConfig } from './testing/test-agent.ts'
import { startTestService } from './testing/test-service.ts'

const mariaDb = await startTestMariaDb({ after })

/** Each table whose rows belong to a clinic, of those that the agent reads. */
const tablesOfClinics = [
  'patient',
  'appointment',
  'procedurelog',
  'adjustment',
  'paysplit',
  'claimproc',
  'payplancharge',
  'claimpayment',
]

/** A practice of two clinics with 60 charges each, read once by the real agent. */
async function someClinics(t: TestContext) {
  const server = await startTestService(t)
  const practice = await testFamily(mariaDb)
  const charges = [1, 2].flatMap((clinic) =>
    Array.from(
      { length: 60 },
      (_, n) => `(${clinic * 1000 + n}, ${clinic === 1 ? 1 : 4}, '2026-10-01', 100, 2, 1, ${clinic}, 1)`,
    ),
  )
  await practice.execute(
    `insert into procedurelog (ProcNum, PatNum, ProcDate, ProcFee, ProcStatus, ProvNum, ClinicNum, CodeNum) values ${charges.join(', ')}`,
  )
  await practice.ageAll()
  const config = writeTestConfig(temporaryFolder(t), server, practice.settings, { time_zone: 'America/Chicago' })
  const { pool, log } = server.service
  const run = async () => (await runAgentCommand(['run', '--once', '--config', config])).code
  assert.equal(await run(), 0)
  /** What is visible of the ledger, over all locations: how often, the sum, and how many records are there twice. */
  const ledger = async () => {
    const all = [...(await server.everything())].filter(([name]) => name.endsWith('/ledger_transactions'))
    const ids = all.flatMap(([, records]) => [...records.keys()])
    const sum = all
      .flatMap(([, records]) => [...records.values()])
      .reduce((total, { amount }) => total + Number(amount), 0)
    return { lines: ids.length, twice: ids.length - new Set(ids).size, cents: Math.round(sum * 100) }
  }
  const held = async () => {
    const own = [...(await server.locations()).values()].map(({ id }) => id)
    return (await listRemovals(pool, own)).map(({ dataset, remaining }) => [dataset, remaining])
  }
  return {
    server,
    practice,
    run,
    ledger,
    held,
    merge: async () => {
      for (const table of tablesOfClinics)
        await practice.execute(`update ${table} set ClinicNum = 1 where ClinicNum = 2`)
    },
    /** As the service's own worker does. */
    remove: async () => {
      while (await removeSlice({ pool, log, now: () => new Date() })) {}
    },
  }
}

test('two clinics that are merged are never counted twice after a cycle, and nothing is lost or asked', async (t) => {
  const { run, ledger, held, merge } = await someClinics(t)
  const before = await ledger()
  assert.ok(before.lines > 130 && before.twice === 0 && before.cents > 0)
  await merge()
  assert.equal(await run(), 0)
  assert.deepEqual(await ledger(), before)
  assert.deepEqual(await held(), [])
})

test('so it is when the emptied clinic is deleted, whichever comes first: its closing or what moved', async (t) => {
  for (const isClosedFirst of [true, false]) {
    const { run, ledger, held, merge, practice, server, remove } = await someClinics(t)
    const before = await ledger()
    await merge()
    await practice.execute('delete from clinic where ClinicNum = 2')
    let closing: Promise<void> | undefined
    server.world.interference = ({ kind }) => {
      if (!isClosedFirst || kind !== 'records' || closing) return undefined
      closing = remove()
      return { delayMs: 2000 }
    }
    assert.equal(await run(), 0)
    server.world.interference = undefined
    await closing
    await remove()
    assert.deepEqual(await ledger(), before, isClosedFirst ? 'closed first' : 'moved first')
    assert.deepEqual(await held(), [])
  }
})

test('a list that comes before what moved is held, and released by itself; what exists nowhere waits for a person', async (t) => {
  const { run, ledger, held, merge, practice, server } = await someClinics(t)
  const before = await ledger()
  await merge()
  await practice.execute('delete from procedurelog where ProcNum between 2000 and 2019')
  // The uploads arrive, and the cycle ends before any list: the next one sends nothing again, and begins with the lists.
  server.world.interference = ({ kind }) =>
    kind === 'complete_lists' ? { status: 400, body: { errors: 'No.', code: 'field_invalid' } } : undefined
  assert.equal(await run(), 1)
  assert.ok((await ledger()).twice > 0)
  server.world.interference = undefined
  assert.equal(await run(), 0)
  const left = await ledger()
  assert.equal(left.twice, 0)
  assert.deepEqual(await held(), [
    ['treatments', 20],
    ['ledger_transactions', 20],
  ])
  assert.deepEqual([left.lines, left.cents], [before.lines, before.cents], 'what is held stays visible')
})

test('ids of another source that coincide are no move', async (t) => {
  const { run, ledger, held, practice, server } = await someClinics(t)
  const { service, organizationId } = server
  // Another agent of the organization sends the same ids at its own location, after each of our uploads.
  const other = await service.addAgent(organizationId)
  const place = { sourceId: 'other', name: 'Other', timeZone: 'America/Chicago' }
  const { id: there } = await createLocation(service.pool, organizationId, place)
  const same = (await server.visible('2', 'treatments')).entries()
  const lines = [...same].map(([source_id, attributes]) => JSON.stringify({ source_id, attributes }))
  assert.equal((await service.send(other, there, 'treatments', 9_999_999_999_999, `${lines.join('\n')}\n`)).status, 200)
  const before = await ledger()
  await practice.execute('delete from procedurelog where ClinicNum = 2')
  assert.equal(await run(), 0)
  const waiting = Object.fromEntries(await held())
  assert.ok(waiting.treatments >= 60 && waiting.ledger_transactions >= 60, JSON.stringify(waiting))
  assert.equal((await ledger()).lines, before.lines)
})

test('what every location has waits at each of them when the source has it no more', async (t) => {
  const { run, held, practice } = await someClinics(t)
  await practice.execute('delete from insplan')
  for (let cycle = 0; cycle < 2; cycle += 1) {
    assert.equal(await run(), 0)
    // The third one is hidden by the source itself.
    assert.deepEqual(await held(), Array(3).fill(['insurance_plans', 2]))
  }
})
