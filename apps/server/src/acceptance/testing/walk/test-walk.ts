import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyDatabase } from '@bridgework/agent/test-backup'
import { testFamily } from '@bridgework/agent/test-family'
import type { TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import type { Pool } from 'pg'
import { markRestored } from '../../../apis/operator/installation/database-restored.ts'
import { createEnrolmentCode, listAgents, revokeAgent } from '../../../modules/agents/agent-key.ts'
import { takeOverProcess } from '../../../modules/agents/agent-process.ts'
import { listWrittenByOthers, takeOver } from '../../../modules/agents/location-writer.ts'
import { grantAccess } from '../../../modules/consent/grant.ts'
import { listLocations } from '../../../modules/directory/location.ts'
import { confirmRemoval } from '../../../modules/records/removals/removal-decision.ts'
import { listRemovals } from '../../../modules/records/removals/removal-store.ts'
import { removeSlice } from '../../../modules/records/removals/remover.ts'
import { withTransaction } from '../../../platform/database/pool.ts'
import { killConnections, type Snapshot, takeSnapshot } from '../../../platform/database/testing/test-snapshot.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { AgentId, LocationId } from '../../../platform/identity/identity.ts'
import { someWorld, type TestVendor } from '../../../testing/test-world.ts'
import { vendorCopy } from '../test-vendor-copy.ts'
import { type Mishap, startWalkAgent, type WalkAgent, type WalkIdentity } from './test-walk-agent.ts'
import { edits, removals } from './test-walk-changes.ts'
import { assertIsOffice } from './test-walk-office.ts'
import type { Step } from './test-walk-steps.ts'

/** What proxies, filters and the sign-in pages of networks answer in the place of a server, each in turn. */
const otherAnswers: readonly [status: number, headers: Record<string, string>, body: string][] = [
  [401, { 'content-type': 'text/html' }, '<html><title>Sign in</title></html>'],
  [200, { 'content-type': 'text/html' }, '<html><title>Welcome to the network</title></html>'],
  [200, { 'content-type': 'application/json' }, '{"agent_id":"1","organiz'],
  [200, { 'content-type': 'application/json' }, '{}'],
  [302, { location: 'http://127.0.0.1:9/login' }, ''],
  [404, {}, 'Not found'],
  [413, { 'content-type': 'text/html' }, '<html><title>413</title></html>'],
  [409, { 'content-type': 'text/plain' }, 'Conflict'],
  [502, {}, ''],
]

async function startOther(t: { after: (work: () => Promise<void>) => void }): Promise<string> {
  let answered = 0
  const server = createServer((request, response) => {
    const [status, headers, body] = otherAnswers[answered % otherAnswers.length] ?? assert.fail()
    answered += 1
    request.resume().once('end', () => response.writeHead(status, headers).end(body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(async () => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

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
  const otherUrl = await startOther(t)
  const first = startWalkAgent({ folder, identity, settings: office.settings, nowMs: Date.now, strikes, otherUrl })
  assert.equal(await first.cycle(), 'complete')
  first.close()
  const pristine = await takeSnapshot(world.pool, 'pristine')
  const setting = {
    world,
    office,
    mariaDb,
    vendor,
    databases,
    pristine,
    identity,
    statePath: first.statePath,
    otherUrl,
  }
  return async (script: readonly Step[], settleEvery = script.length) => {
    await pristine.restore()
    await copyDatabase(mariaDb, databases.pristine, office.name)
    const walk = await beginWalk(setting)
    try {
      for (const [index, each] of script.entries()) {
        await walk.take(each)
        if (index + 1 < script.length && (index + 1) % settleEvery > 0) continue
        await walk.settle()
        await walk.compare()
      }
    } finally {
      walk.end()
    }
  }
}

async function beginWalk(setup: {
  world: Awaited<ReturnType<typeof someWorld>>
  office: Awaited<ReturnType<typeof testFamily>>
  mariaDb: TestMariaDb
  vendor: TestVendor
  databases: Record<'pristine' | 'backup' | 'old', string>
  pristine: Snapshot
  identity: WalkIdentity
  statePath: string
  otherUrl: string
}) {
  const { world, office, mariaDb, vendor, databases } = setup
  const { organizationId } = setup.identity
  const { pool } = world
  const folder = mkdtempSync(join(tmpdir(), 'bww-'))
  const clock = { aheadMs: 0 }
  const copies = new Map<string, ReturnType<typeof vendorCopy>>()
  let service = setup.pristine
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
  const common = { folder, nowMs: () => Date.now() + clock.aheadMs, strikes, otherUrl: setup.otherUrl }
  const { identity, statePath } = setup
  const main = startWalkAgent({ ...common, identity, statePath, settings: office.settings })
  agents.push(main)
  const addAgent = async (readsOldCopy: boolean) => {
    const settings = readsOldCopy ? { ...office.settings, name: databases.old } : office.settings
    const enrolled = { serverUrl: world.url, ...(await world.addAgent(organizationId)) }
    agents.push(startWalkAgent({ ...common, identity: enrolled, settings }))
  }
  const chosen = (n: number) => agents[n % agents.length] ?? main

  const locations = () => listLocations(pool, organizationId)
  const letTakeOver = async (agentId: AgentId) => {
    for (const { id: locationId } of await locations()) {
      await takeOver(pool, { locationId, organizationId, agentId }).catch((error: unknown) => {
        // The service's database is from before it was enrolled.
        if (!(error instanceof Problem) || error.code !== 'agent_unknown') throw error
      })
    }
  }
  const copyFolder = (each: WalkAgent) => {
    const place = mkdtempSync(join(folder, 'copy-'))
    each.copyStateTo(place)
    agents.push(startWalkAgent({ ...common, folder: place, identity: each.identity(), settings: office.settings }))
  }
  const letCopyGoOn = async (agentId: AgentId) => {
    const copy = (await listAgents(pool, organizationId)).find(({ id }) => id === agentId)?.copy
    if (!copy) return
    const chosenCopy = { agentId, processId: copy.processId, organizationId }
    await withTransaction(pool, (client) => takeOverProcess(client, chosenCopy))
  }
  const enrolAgain = async (each: WalkAgent) => {
    await each.enrolAgain((await createEnrolmentCode(pool, world.secretKey, { organizationId })).code)
  }
  const confirmRemovals = async () => {
    while (await removeSlice({ pool, log: world.log, now: () => new Date() })) {}
    for (const { locationId, dataset, listHash } of await listRemovals(pool, null)) {
      await confirmRemoval(pool, locationId, dataset, listHash)
    }
  }
  const poll = async () => {
    for (const { id } of await locations()) {
      const copy = copies.get(id) ?? vendorCopy(vendor, id, { items: 200 })
      copies.set(id, copy)
      await copy.sync()
    }
  }

  /** An agent changes nothing where another one writes. */
  const cycle = async (each: WalkAgent, mishap: Mishap | null) => {
    const ids = (await locations()).map(({ id }) => id)
    const refused = await listWrittenByOthers(pool, ids, each.id())
    const before = await stampsAt(pool, [...refused.keys()])
    const result = await each.cycle({ mishap })
    assert.deepEqual(await stampsAt(pool, [...refused.keys()]), before)
    assert.ok(refused.size === 0 || result !== 'complete', 'a refused agent says that all is well')
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
        return await cycle(chosen(each.agent), each.mishap)
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
        return
      case 'back up state':
        return chosen(each.agent).backUpState()
      case 'restore state':
        return chosen(each.agent).restoreState()
      case 'lose state':
        return chosen(each.agent).loseState()
      case 'damage state':
        return chosen(each.agent).damageState(each.n)
      case 'add agent':
        if (each.readsOldCopy) await copyDatabase(mariaDb, officeBackup, databases.old)
        return agents.length < 3 ? await addAgent(each.readsOldCopy) : undefined
      case 'copy folder':
        return agents.length < 3 ? copyFolder(chosen(each.agent)) : undefined
      case 'let the copy go on':
        return await letCopyGoOn(chosen(each.agent).id())
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

  /** The other agents are switched off for good: for as long as one is heard of, a location that it reported is not closed. */
  const revokeOthers = async () => {
    const own = main.id()
    for (const { id, revokedAt } of await listAgents(pool, organizationId)) {
      if (id !== own && revokedAt === null) await revokeAgent(pool, id)
    }
    for (const each of agents.splice(1)) each.close()
  }

  /** People do what the agent's log and the portal ask for; then a quiet cycle and one full pass. */
  async function settle(): Promise<void> {
    await revokeOthers()
    for (let attempt = 1; ; attempt += 1) {
      const result = await main.cycle()
      if (result === 'complete') break
      assert.ok(attempt < 8, `the office's agent does not recover: ${result} ${JSON.stringify(main.events.slice(-4))}`)
      if (result === 'key_refused') await enrolAgain(main)
      await main.confirmRestore()
      await letTakeOver(main.id())
      await letCopyGoOn(main.id())
    }
    // After an hour an agent says its locations again, and what no other agent has any more is closed.
    clock.aheadMs += 61 * 60_000
    assert.equal(await main.cycle(), 'complete')
    await confirmRemovals()
    assert.equal(await main.cycle({ fully: true }), 'complete')
    await confirmRemovals()
  }

  async function compare(): Promise<void> {
    await poll()
    const seen = new Map(
      (await locations()).map(({ id, sourceId }) => [sourceId, copies.get(id)?.view() ?? assert.fail()]),
    )
    await assertIsOffice(seen, office.settings)
  }

  const end = () => {
    for (const each of agents) each.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { take, settle, compare, end }
}

/** Every dataset's last change at these locations. */
async function stampsAt(pool: Pool, ids: readonly LocationId[]): Promise<unknown[]> {
  const { rows } = await pool.query(
    'select location_id, dataset, last_stamp from dataset_state where location_id = any($1::bigint[]) order by 1, 2',
    [ids],
  )
  return rows
}
