import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { openDentalConnector } from '@bridgework/agent'
import { datasetsWithNotes } from '@bridgework/contract'
import type { SourceRecord } from '@bridgework/contract/ingest'
import { clinics, keepFamilies, loadPractice } from '@bridgework/practice-simulator/test-whole-practice'
import { balancesByFormula, balancesOf } from './testing/test-balances.ts'
import { danglingInFile, fileFacts } from './testing/test-file-facts.ts'
import { keptRecords, type Present } from './testing/test-kept-records.ts'
import { someOffice } from './testing/test-office.ts'
import { practiceFacts } from './testing/test-practice-facts.ts'
import { addHistory, danglingReferences, practiceRules } from './testing/test-practice-rules.ts'
import { everywhere } from './testing/test-seen.ts'
import { eachName, type Name, names, nothing, vendorCopy } from './testing/test-vendor-copy.ts'
import { changesOfAYear } from './testing/year/test-year-of-changes.ts'

const items = 5000

const { database, day, isFile } = await loadPractice({ after })
await addHistory(database)

test('K21: every dataset of a whole practice reaches a vendor', async (t) => {
  const { agent, places, views, readPresent } = await startOffice(t, { day })
  await t.test('every record at every location is what a full read gives', async () => {
    await compareAll(places, await readPresent())
  })
  for (const [what, fact] of Object.entries(practiceFacts)) {
    await t.test(what, async () => {
      const [figures, bySql] = await fact({ views: views(), database, day })
      assert.deepEqual(figures, bySql)
      if (isFile) assert.deepEqual(figures, fileFacts[what as keyof typeof fileFacts])
    })
  }
  for (const [what, rule] of Object.entries(practiceRules)) await t.test(what, () => rule(views(), database, day))
  await t.test('each reference leads to a record of its location, if Open Dental has one there', async () => {
    const dangling = await danglingReferences(database, await readPresent())
    assert.ok(dangling.length > 0)
    if (isFile) assert.deepEqual(dangling, danglingInFile)
  })
  await t.test('an idle cycle brings nothing, and takes less than a second of processor time', async () => {
    const takenUs: number[] = []
    // Caches that other processes empty cost time, too: what a cycle itself needs is the least of a few.
    while (takenUs.length < 3 && (takenUs.at(-1) ?? Number.POSITIVE_INFINITY) >= 1_000_000) {
      const before = process.cpuUsage()
      assert.equal((await agent.cycle()).result, 'complete')
      const { user, system } = process.cpuUsage(before)
      takenUs.push(user + system)
      for (const { copy } of places) assert.deepEqual(await copy.sync(), nothing)
    }
    assert.ok(Math.min(...takenUs) < 1_000_000, `${takenUs} µs`)
  })
})

test('K21: and so does a year of changes', async (t) => {
  // Each change is compared with a full read. What changes mean does not depend on how many families there are.
  if (isFile) await keepFamilies(database, 3)
  const clock = { day }
  const { office, agent, places, views, readPresent } = await startOffice(t, clock)
  await compareAll(places, await readPresent())
  for (const change of await changesOfAYear(database)) await t.test(change.what, () => move(change))
  await t.test('at the end the copy made of deltas alone is what is served', async () => {
    for (const { locationId, copy, kept } of places) {
      assert.deepEqual(copy.view(), kept.view())
      const whole = vendorCopy(office.vendor, locationId, { items })
      await whole.sync()
      assert.deepEqual(copy.served(), whole.served())
    }
  })
  await t.test('and what an agent that never read before sends of the same practice', () => checkAnew(t))

  /** Lets the statements happen, the agent read, and the vendor ask what changed: just what full reads before and after differ in. */
  async function move({ sql = [], day: today, expected = {}, check: checkMore }: Partial<Change>): Promise<void> {
    for (const statement of sql) await database.execute(statement)
    clock.day = today ?? clock.day
    assert.equal((await agent.cycle()).result, 'complete')
    const present = await readPresent()
    const seen = eachName(() => new Set<string>())
    for (const { clinic, copy, kept } of places) {
      const here = kept.take(present.get(clinic) ?? {})
      assert.deepEqual(await copy.sync(), here, `the delta of clinic ${clinic}`)
      // A dataset whose delta is empty stays as it was compared before.
      const [copied, expectedHere] = [copy.view(), kept.view()]
      for (const name of names) if (here[name].length > 0) assert.deepEqual(copied[name], expectedHere[name])
      for (const name of names) for (const key of here[name]) seen[name].add(key)
    }
    for (const name of names) {
      const missing = (expected[name] ?? []).filter((key) => !seen[name].has(key))
      assert.deepEqual(missing, [], `${name} that must change`)
      assert.ok(expected[name] !== undefined || seen[name].size === 0, `${name} ${[...seen[name]]} must not change`)
    }
    const after = views()
    const lines = everywhere(after, 'ledger_transactions')
    assert.deepEqual(balancesOf(lines.values()), await balancesByFormula(database, clock.day))
    checkMore?.(after)
  }

  async function checkAnew(t: TestContext): Promise<void> {
    const another = await startOffice(t, clock)
    const fresh = new Map(another.places.map((place) => [place.clinic, place]))
    const present = await readPresent()
    for (const { clinic, kept } of places) {
      const copy = fresh.get(clinic)?.copy ?? assert.fail()
      await copy.sync()
      const alone = keptRecords()
      alone.take(present.get(clinic) ?? {})
      assert.deepEqual(copy.view(), alone.view())
      // Beyond these the older copy has only what is gone.
      for (const name of names) {
        const [older, newer] = [kept.view()[name], copy.view()[name]]
        const gone = Object.entries(older).filter(([key]) => !(key in newer))
        assert.equal(Object.keys(older).length, Object.keys(newer).length + gone.length)
        assert.ok(gone.every(([, record]) => (record as { is_hidden: boolean }).is_hidden))
      }
    }
  }
})

type Change = Awaited<ReturnType<typeof changesOfAYear>>[number]

/** An office whose agent has read everything as of the day of the clock, and a vendor's copies of it, which are empty. */
async function startOffice(t: TestContext, clock: { readonly day: string }) {
  const now = () => new Date(`${clock.day}T12:00:00Z`)
  const connector = openDentalConnector(database.settings, null, now)
  const office = await someOffice(t, database)
  const agent = office.agentHere(now)
  const began = performance.now()
  // Who may read notes of a location is known once it has been sent.
  for (let cycle = 0; cycle < 2; cycle++) assert.equal((await agent.cycle()).result, 'complete')
  t.diagnostic(`first sync: ${Math.round(performance.now() - began)} ms`)
  const ids = await office.locationIds()
  const places = clinics.map((clinic) => {
    const locationId = ids.get(clinic) ?? assert.fail()
    return { clinic, locationId, copy: vendorCopy(office.vendor, locationId, { items }), kept: keptRecords() }
  })
  return {
    office,
    agent,
    places,
    views: () => new Map(places.map(({ clinic, copy }) => [clinic, copy.view()])),
    readPresent: () => readPresent(connector),
  }
}

type Places = Awaited<ReturnType<typeof startOffice>>['places']

async function compareAll(places: Places, present: ReadonlyMap<string, Present>): Promise<void> {
  for (const { clinic, copy, kept } of places) {
    kept.take(present.get(clinic) ?? {})
    await copy.sync()
    assert.deepEqual(copy.view(), kept.view())
  }
}

/** Everything that the practice has now, by clinic: read in full, with no memory of what was read before. */
async function readPresent(connector: ReturnType<typeof openDentalConnector>): Promise<Map<string, Present>> {
  const all = new Map(clinics.map((clinic) => [clinic, eachName((): SourceRecord[] => [])]))
  const cycle = await connector.beginCycle(undefined, new Set(datasetsWithNotes))
  try {
    for (const dataset of connector.datasets) {
      const { chunks } = (await cycle.scan?.(dataset)) ?? assert.fail()
      for await (const chunk of chunks) {
        for (const [clinic, records] of chunk) all.get(clinic)?.[dataset as Name].push(...records)
      }
    }
  } finally {
    await cycle.end()
  }
  return all
}
