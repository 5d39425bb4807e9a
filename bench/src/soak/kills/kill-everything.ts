import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createPractice,
  createRandom,
  openDentalShape,
  writeManyPlans,
  writePractice,
} from '@bridgework/practice-simulator'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import type { World } from '../../world/practice.ts'
import { describeFaults, type ExpectedPlans, findFaults, isWhole } from '../audit.ts'
import { inWorld } from '../in-world.ts'
import type { RowOptions } from '../row.ts'
import { startUploadCounter } from '../upload-counter.ts'
import { killIfThere, untilHealed } from './kill-postgres.ts'

const runsMax = 2_000

/**
 * The whole way of a record under SIGKILL: an Open Dental database in MariaDB, the agent's process, the server's and Postgres. Agent, server
 * and Postgres are killed in turn, spread over the ingest; the agent is run until a pass ends well. Then a vendor must find every plan once.
 */
export async function killEverything(options: RowOptions): Promise<string> {
  const cleanups: (() => unknown)[] = []
  try {
    return await inWorld({ locations: 0 }, async (world) => {
      const mariaDb = await startTestMariaDb({ after: (work) => cleanups.push(work) })
      const office = await fillOffice(mariaDb, options.plans)
      const folder = mkdtempSync(join(tmpdir(), 'bridgework-agent-'))
      cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
      return ingest(world, office, folder, options)
    })
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

type Office = { settings: object; expected: ExpectedPlans }

async function ingest(
  world: World,
  office: Office,
  folder: string,
  { plans, kills, seed }: RowOptions,
): Promise<string> {
  const random = createRandom(seed)
  const linesMax = Math.min(5_000, Math.max(20, Math.floor(plans / (kills * 4))))
  const stride = Math.floor(plans / linesMax / kills)
  let agent: ChildProcess | undefined
  let struck = 0
  let striking = Promise.resolve()
  const victims = [
    async () => void agent?.kill('SIGKILL'),
    async () => {
      await world.server.kill()
      await world.server.start()
    },
    async () => {
      for (const pid of world.server.postgresPids()) killIfThere(pid)
      await untilHealed(world)
    },
  ]
  const counter = await startUploadCounter(world.server.url, (count) => {
    if (struck >= kills || count < stride * (struck + 0.5)) return
    const kill = victims[struck % victims.length]
    struck += 1
    const delayMs = random.next() * 40
    striking = striking.then(() => sleep(delayMs)).then(kill)
    striking.catch(() => {})
  })
  try {
    const config = writeConfig(folder, world, counter.url, office.settings, linesMax)
    let runs = 0
    for (let code: number | null = null; code !== 0; ) {
      assert.ok(runs < runsMax, `the agent did not finish in ${runsMax} runs`)
      // The server and Postgres may be coming back: only then is there something to do.
      await striking
      agent = spawn(process.execPath, [agentMain, 'run', '--once', '--config', config], { stdio: 'ignore', env: {} })
      code = (await once(agent, 'exit'))[0]
      runs += 1
      // Its settings were refused, or its key: no further run would end otherwise.
      assert.ok(code === null || code < 2, `the agent ended with exit code ${code}`)
    }
    await striking
    assert.equal(struck, kills)
    const [locationId = ''] = await listLocationIds(world)
    const faults = await findFaults({ ...world, locationIds: [locationId] }, office.expected)
    assert.ok(isWhole(faults), describeFaults(faults))
    return `${kills} kills, ${runs} runs of the agent, ${office.expected.size} plans whole`
  } finally {
    agent?.kill('SIGKILL')
    await counter.close()
  }
}

const agentMain = join(import.meta.dirname, '../../../../apps/agent/src/main.ts')

/** A practice without clinics, so one location, that has so many plans, all of them plain. */
async function fillOffice(mariaDb: Awaited<ReturnType<typeof startTestMariaDb>>, plans: number): Promise<Office> {
  const database = await mariaDb.createDatabase()
  const connection = await database.connect()
  const shape = openDentalShape('soak', { shared: { insurancePlans: 0, feeSchedules: 9 }, oddities: false })
  await writePractice(connection, createPractice(shape), { clinics: 'off', headquarters: true })
  await writeManyPlans(connection, plans)
  const rows = await database.execute('select PlanNum, GroupName from insplan')
  assert.equal(rows.length, plans)
  return {
    settings: database.settings,
    expected: new Map(rows.map((row) => [String(row.PlanNum), String(row.GroupName)])),
  }
}

function writeConfig(folder: string, world: World, serverUrl: string, database: object, linesMax: number): string {
  const path = join(folder, 'config.json')
  const document = {
    server_url: serverUrl,
    organization_id: world.organizationId,
    agent_id: world.agent.agentId,
    agent_key: world.agent.agentKey,
    database,
    state_path: join(folder, 'state.sqlite'),
    time_zone: 'America/Chicago',
    upload_lines_max: linesMax,
  }
  writeFileSync(path, JSON.stringify(document), { mode: 0o600 })
  return path
}

async function listLocationIds(world: World): Promise<string[]> {
  const answer = await fetch(`${world.server.vendorUrl}/locations`, {
    headers: { authorization: `Bearer ${world.vendor.token}` },
  })
  const body = (await answer.json()) as { data: { id: string | number }[] }
  return body.data.map((location) => String(location.id))
}
