import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { AgentEvent } from '../agent-event.ts'
import { ingestClient } from '../ingest-client.ts'
import { type AgentDeps, uploadLimits } from '../pipeline/context.ts'
import { runCycle } from '../pipeline/cycle.ts'
import { openState } from '../state.ts'
import { startTestIngestServer } from '../test-ingest-server.ts'
import { openDentalConnector } from './connector.ts'
import { startTestMariaDb, type TestDatabase } from './test-mariadb.ts'
import { sumOfMoney } from './values.ts'

const practiceFile = process.env.BRIDGEWORK_TEST_PRACTICE
const skip = practiceFile === undefined && 'BRIDGEWORK_TEST_PRACTICE does not name the practice’s file'

type Attributes = Record<string, unknown>

describe('the practice of 640 patients, as its agent sends it', { skip }, () => {
  const cleanups: (() => Promise<void>)[] = []
  const clock = { now: new Date('2026-11-20T12:00:00Z') }
  let database: TestDatabase
  let run: () => Promise<readonly AgentEvent[]>
  let visible: (location: string, dataset: string) => Map<string, Attributes>

  before(async () => {
    const t = { after: (work: () => Promise<void>) => void cleanups.unshift(work) }
    const mariaDb = await startTestMariaDb(t)
    database = await mariaDb.createDatabase()
    const connection = await database.connect()
    await connection.query(gunzipSync(await readFile(practiceFile ?? '')).toString('utf8'))
    const server = await startTestIngestServer(t)
    visible = server.visible
    const folder = mkdtempSync(join(tmpdir(), 'bwa-'))
    const identity = { serverUrl: server.url, agentId: server.agentId, organizationId: server.organizationId }
    const state = openState(join(folder, 'state.sqlite'), identity)
    t.after(async () => {
      state.close()
      rmSync(folder, { recursive: true, force: true })
    })
    run = async () => {
      const events: AgentEvent[] = []
      const deps: AgentDeps = {
        connector: openDentalConnector(database.settings, null, () => clock.now),
        client: ingestClient({ ...identity, agentKey: server.agentKey, timeoutMs: 30_000 }),
        state,
        limits: uploadLimits,
        sleep: async () => {},
        random: () => 0.5,
        nowMs: Date.now,
        report: (event) => events.push(event),
        signal: new AbortController().signal,
      }
      const outcome = await runCycle(deps)
      assert.equal(outcome.result, 'complete', JSON.stringify(events.at(-1)))
      assert.deepEqual(
        events.filter((event) => event.event === 'record.refused'),
        [],
      )
      return events
    }
    await run()
  })

  after(async () => {
    for (const work of cleanups) await work()
  })

  /** Each record once, wherever it is listed. */
  function everywhere(dataset: string): Map<string, Attributes> {
    return new Map(['0', '1', '2'].flatMap((location) => [...visible(location, dataset)]))
  }

  test('has its patients in their states, each where it is registered', async () => {
    const patients = everywhere('patients')
    assert.equal(patients.size, 640)
    assert.deepEqual(countBy(patients.values(), 'status_raw'), {
      Archived: 18,
      Deceased: 8,
      Deleted: 6,
      Inactive: 26,
      NonPatient: 18,
      Patient: 552,
      Prospective: 12,
    })
    assert.equal(countBy(patients.values(), 'status').merged, 4)
    const rows = await database.execute('select PatNum as id, ClinicNum as clinic from patient')
    for (const { id, clinic } of rows) assert.ok(visible(String(clinic), 'patients').has(String(id)))
  })
})

function countBy(records: Iterable<Attributes>, attribute: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const record of records) {
    const value = String(record[attribute])
    counts[value] = (counts[value] ?? 0) + 1
  }
  return counts
}

void sumOfMoney
