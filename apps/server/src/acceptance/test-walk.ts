import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDentalConnector } from '@bridgework/agent'
import { copyDatabase } from '@bridgework/agent/test-backup'
import { testFamily } from '@bridgework/agent/test-family'
import type { SourceRecord } from '@bridgework/contract/ingest'
import type { TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import fc from 'fast-check'
import { markRestored } from '../apis/operator/database-restored.ts'
import { createEnrolmentCode } from '../modules/agents/agent-key.ts'
import { takeOver } from '../modules/agents/location-writer.ts'
import { grantAccess } from '../modules/consent/grant.ts'
import { listLocations } from '../modules/directory/location.ts'
import { confirmRemoval } from '../modules/records/removal-decision.ts'
import { listRemovals } from '../modules/records/removal-store.ts'
import { removeSlice } from '../modules/records/remover.ts'
import { killConnections, type Snapshot, takeSnapshot } from '../platform/database/test-snapshot.ts'
import { Problem } from '../platform/errors/problem.ts'
import type { AgentId, LocationId } from '../platform/identity/identity.ts'
import { someWorld, type TestVendor } from '../test-world.ts'
import { keptRecords, type Present } from './test-kept-records.ts'
import { eachName, type Name, names, vendorCopy } from './test-vendor-copy.ts'
import { type Mishap, startWalkAgent, type WalkAgent, type WalkIdentity } from './test-walk-agent.ts'
import { edits, removals } from './test-walk-changes.ts'

const whole = (max: number) => fc.integer({ min: 0, max })
const agent = whole(2)
const mishap = fc.option(
  fc.record<Mishap>({
    at: fc.integer({ min: 1, max: 60 }),
    strike: fc.constantFrom('agent_before', 'agent_after', 'line', 'service', 'office'),
  }),
  { freq: 2 },
)

/** What may happen. `agent` counts those that there are; the first reads the office, a second one perhaps an old copy of it. */
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      n: whole(999),
      clockHours: fc.constantFrom(0, 0, 0, -30, 5),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), n: whole(999) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('cycle' as const), agent, mishap }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('poll' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('back up office' as const, 'back up service' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restore office' as const, 'restore service' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('back up state' as const, 'restore state' as const, 'lose state' as const),
      agent,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('add agent' as const), readsOldCopy: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take over' as const), agent }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('enrol again' as const, 'confirm restore' as const), agent }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('confirm removals' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('set clock' as const), hours: fc.integer({ min: -30, max: 30 }) }),
  },
)
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
export const steps = fc.array(step, { minLength: 4, maxLength: 14 })

/**
 * A service, an office whose agent has read it once, and a vendor to whom the practice granted everything. Each walk begins with all of them as
 * they were then, which is also the first backup of each.
 */
export async function someWalks(t: { after: (work: () => Promise<void>) => void }, mariaDb: TestMariaDb) {
  const world = await someWorld(t)
  const office = await testFamily(mariaDb)
  const organizationId = await world.addOrganization()
  const vendor = await world.addVendor()
  const { companyId } = vendor
  await grantAccess(world.pool, { companyId, organizationId, locationIds: 'all', datasets: 'all', by: 'the practice' })
  await vendor.get('/locations')
  const databases = { pristine: `${office.name}_pristine`, backup: `${office.name}_backup`, old: `${office.name}_old` }
  await copyDatabase(mariaDb, office.name, databases.pristine)
  await mariaDb.execute(`grant select on ${databases.old}.* to ${office.settings.user}@localhost`)
  const folder = mkdtempSync(join(tmpdir(), 'bww-'))
  t.after(async () => rmSync(folder, { recursive: true, force: true }))
  const identity = { serverUrl: world.url, ...(await world.addAgent(organizationId)) }
  const strikes = { service: async () => {}, office: async () => {} }
  const first = startWalkAgent({ folder, identity, settings: office.settings, nowMs: Date.now, strikes })
  assert.equal(await first.cycle(), 'complete')
  first.close()
  const pristine = await takeSnapshot(world.pool, 'pristine')
  const setting = { world, office, mariaDb, vendor, databases, pristine, identity, statePath: first.statePath }
  return async (script: readonly Step[]) => {
    await pristine.restore()
    await copyDatabase(mariaDb, databases.pristine, office.name)
    const walk = await beginWalk(setting)
    try {
      for (const each of script) await walk.take(each)
      await walk.settle()
      await walk.compare()
    } finally {
      walk.end()
    }
  }
}

async function beginWalk(given: {
  world: Awaited<ReturnType<typeof someWorld>>
  office: Awaited<ReturnType<typeof testFamily>>
  mariaDb: TestMariaDb
  vendor: TestVendor
  databases: Record<'pristine' | 'backup' | 'old', string>
  pristine: Snapshot
  identity: WalkIdentity
  statePath: string
}) {
  const { world, office, mariaDb, vendor, databases } = given
  const { organizationId } = given.identity
  const { pool } = world
  const folder = mkdtempSync(join(tmpdir(), 'bww-'))
  const clock = { aheadMs: 0 }
  let copies = new Map<string, ReturnType<typeof vendorCopy>>()
  let service = given.pristine
  let officeBackup = databases.pristine
  const agents: WalkAgent[] = []

  const strikes = {
    service: () => killConnections(pool),
    office: async () => {
      const rows = await mariaDb.execute('select id from information_schema.PROCESSLIST where USER = ?', [
        office.settings.user,
      ])
      // One that has just gone cannot be killed.
      for (const { id } of rows) await mariaDb.execute(`kill ${id}`).catch(() => {})
    },
  }
  const common = { folder, nowMs: () => Date.now() + clock.aheadMs, strikes }
  const { identity, statePath } = given
  const main = startWalkAgent({ ...common, identity, statePath, settings: office.settings })
  agents.push(main)
  const addAgent = async (readsOldCopy: boolean) => {
    const settings = readsOldCopy ? { ...office.settings, name: databases.old } : office.settings
    const enrolled = { serverUrl: world.url, ...(await world.addAgent(organizationId)) }
    agents.push(startWalkAgent({ ...common, identity: enrolled, settings }))
  }
  const chosen = (n: number) => agents[n % agents.length] ?? main

  const locations = () => listLocations(pool, organizationId)
  const letTakeOver = async (agentId: string) => {
    for (const { id: locationId } of await locations()) {
      await takeOver(pool, { locationId, organizationId, agentId: agentId as AgentId }).catch((error: unknown) => {
        // The service's database is from before it was enrolled.
        if (!(error instanceof Problem) || error.code !== 'agent_unknown') throw error
      })
    }
  }
  const enrolAgain = async (each: WalkAgent) => {
    await each.enrolAgain((await createEnrolmentCode(pool, world.secretKey, { organizationId })).code)
  }
  const confirmRemovals = async () => {
    while (await removeSlice({ pool, log: world.log, now: () => new Date() })) {}
    for (const { locationId, dataset, listHash } of await listRemovals(pool, null)) {
      await confirmRemoval(pool, locationId as LocationId, dataset, listHash)
    }
  }
  const poll = async () => {
    for (const { id } of await locations()) {
      const copy = copies.get(id) ?? vendorCopy(vendor, id, { items: 200 })
      copies.set(id, copy)
      await copy.sync()
    }
  }

  async function take(each: Step): Promise<void> {
    switch (each.do) {
      case 'edit': {
        const seconds = Math.floor(Date.now() / 1000) + each.clockHours * 3600
        const change = edits[each.n % edits.length]?.(each.n)
        return void (await office.execute(`set timestamp = ${seconds}; ${change}; set timestamp = default`))
      }
      case 'remove':
        return void (await office.execute(removals[each.n % removals.length]?.(each.n) ?? ''))
      case 'cycle':
        return void (await chosen(each.agent).cycle({ mishap: each.mishap }))
      case 'poll':
        return await poll()
      case 'back up office':
        officeBackup = databases.backup
        return await copyDatabase(mariaDb, office.name, databases.backup)
      case 'restore office':
        return await copyDatabase(mariaDb, officeBackup, office.name)
      case 'back up service':
        service = await takeSnapshot(pool, 'backup')
        return
      case 'restore service':
        await service.restore()
        await markRestored(pool)
        // As the operator asks of vendors: records that were new since the backup have other ids now.
        copies = new Map()
        return
      case 'back up state':
        return chosen(each.agent).backUpState()
      case 'restore state':
        return chosen(each.agent).restoreState()
      case 'lose state':
        return chosen(each.agent).loseState()
      case 'add agent':
        if (each.readsOldCopy) await copyDatabase(mariaDb, officeBackup, databases.old)
        return agents.length < 3 ? await addAgent(each.readsOldCopy) : undefined
      case 'take over':
        return await letTakeOver(chosen(each.agent).id())
      case 'enrol again':
        return await enrolAgain(chosen(each.agent))
      case 'confirm restore':
        return void (await chosen(each.agent).confirmRestore())
      case 'confirm removals':
        return await confirmRemovals()
      case 'set clock':
        clock.aheadMs = each.hours * 3_600_000
    }
  }

  /** People do what the agent's log and the portal ask for; then a quiet cycle and one full pass. */
  async function settle(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await main.cycle()
      if (result === 'complete') break
      assert.ok(attempt < 8, `the office's agent does not recover: ${result} ${JSON.stringify(main.events.slice(-4))}`)
      if (result === 'key_refused') await enrolAgain(main)
      await main.confirmRestore()
      await letTakeOver(main.id())
    }
    assert.equal(await main.cycle(), 'complete')
    await confirmRemovals()
    assert.equal(await main.cycle({ fully: true }), 'complete')
    await confirmRemovals()
  }

  /** Record by record: what the office has is as it has it, and what a vendor sees besides is hidden. */
  async function compare(): Promise<void> {
    await poll()
    const present = await readPresent()
    for (const { id, sourceId } of await locations()) {
      const seen = (copies.get(id) ?? assert.fail()).view()
      const here: Present = present.get(sourceId) ?? {}
      const kept = keptRecords()
      // What is gone is referred to all the same, where a record of it exists.
      const known = (name: Name) =>
        Object.entries(seen[name]).map(([key, own]) => ({ source_id: key, attributes: own }))
      kept.take(eachName(known) as Present)
      kept.take(here)
      const expected = kept.view()
      for (const name of names) {
        const keys = new Set((here[name] ?? []).map((record) => record.source_id))
        const ofOffice = Object.fromEntries(Object.entries(expected[name]).filter(([key]) => keys.has(key)))
        const ofVendor = Object.fromEntries(Object.entries(seen[name]).filter(([key]) => keys.has(key)))
        assert.deepEqual(ofVendor, ofOffice, `${name} of location ${sourceId}`)
        const left = Object.entries(seen[name]).filter(
          ([key, own]) => !keys.has(key) && (own as { is_hidden: boolean }).is_hidden !== true,
        )
        assert.deepEqual(left, [], `${name} of location ${sourceId} that the office does not have`)
      }
    }
  }

  async function readPresent(): Promise<Map<string, Record<Name, SourceRecord[]>>> {
    const all = new Map<string, Record<Name, SourceRecord[]>>()
    const connector = openDentalConnector(office.settings, 'America/Chicago')
    const cycle = await connector.beginCycle()
    try {
      for (const { source_id } of await cycle.readLocations())
        all.set(
          source_id,
          eachName(() => []),
        )
      for (const dataset of connector.datasets) {
        const { chunks } = (await cycle.scan?.(dataset)) ?? assert.fail()
        for await (const chunk of chunks) {
          for (const [location, records] of chunk) all.get(location)?.[dataset as Name].push(...records)
        }
      }
    } finally {
      await cycle.end()
    }
    return all
  }

  const end = () => {
    for (const each of agents) each.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { take, settle, compare, end }
}
