import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type AgentDeps, openDentalConnector, openState, runCycle, sleep, uploadLimits } from '@bridgework/agent'
import { contractNumber } from '@bridgework/contract'
import { type Load, measureLoad } from '@bridgework/practice-simulator/test-load'
import { startTestMariaDb, type TestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { runTests } from '../soak/run-tests.ts'
import { fillPractice, multiplyPractice } from './fill-practice.ts'

/** A minute without a change at the larger practice may cost at most this beside the times of tables, and one time for each second in rows; the lock is that of any statement. */
const targets = { statements: 20, rowsExamined: 5_000, longestLockMs: 100 }

const usage = `npm run bench:office -- [<practice.sql.gz>] [--times <n>] [--changes <n>] [--json]
  <practice.sql.gz>  rows for an empty Open Dental database; without it, a synthetic practice of about 600 patients
  --times            how many times larger the second practice is (10)
  --changes          how many changes at an office are followed to the API (50)
  --json             one JSON object on stdout instead of the table`

const cleanups: (() => Promise<void>)[] = []
try {
  const options = readOptions()
  const mariaDb = await startTestMariaDb({ after: (work) => cleanups.unshift(work) })
  const rows = []
  for (const times of [1, options.times]) {
    rows.push({ times, ...(await measurePractice(mariaDb, options.file, times)) })
  }
  if (options.json) console.log(JSON.stringify(rows))
  else for (const row of rows) print(row)
  if (options.changes !== '0') {
    await runTests('apps/server/src/acceptance/office-latency.test.ts', { BRIDGEWORK_TEST_CHANGES: options.changes })
  }
  const locks = rows.flatMap(({ first, idle }) => [first.longestLockMs, idle.longestLockMs])
  const idle = rows.at(-1)?.idle
  const isGood =
    Math.max(...locks) <= targets.longestLockMs &&
    (idle?.statements ?? 0) <= targets.statements &&
    (idle?.rowsExamined ?? 0) <= targets.rowsExamined
  process.exitCode = isGood ? 0 : 1
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 2
} finally {
  for (const cleanup of cleanups) await cleanup()
}

function readOptions(): { file: string | null; times: number; changes: string; json: boolean } {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      times: { type: 'string', default: '10' },
      changes: { type: 'string', default: '50' },
      json: { type: 'boolean', default: false },
    },
  })
  if (!/^[1-9]\d{0,2}$/.test(values.times)) throw new Error('--times must be a whole number from 1 to 999.')
  if (!/^\d{1,4}$/.test(values.changes)) throw new Error('--changes must be a whole number from 0 to 9999.')
  return { file: positionals[0] ?? null, times: Number(values.times), changes: values.changes, json: values.json }
}

type Measured = { readonly patients: number; readonly records: number; readonly first: Load; readonly idle: Load }

/** The first read of a practice, and the most that one of ten cycles without a change costs. */
async function measurePractice(mariaDb: TestMariaDb, file: string | null, times: number): Promise<Measured> {
  const database = await mariaDb.createDatabase()
  await fillPractice(database, file)
  await multiplyPractice(database, times)
  // Until the second of the last write is over.
  await sleep(3000)
  const [row] = await database.execute('select count(*) as n from patient')
  const agent = agentOf(database.settings)
  try {
    const first = await measureLoad(mariaDb, database, agent.run)
    const records = agent.sent()
    const idle: Load[] = []
    for (let cycle = 0; cycle < 10; cycle++) idle.push(await measureLoad(mariaDb, database, agent.run))
    if (agent.sent() !== records) throw new Error('A cycle without a change sent records.')
    return { patients: Number(row?.n), records, first, idle: worstOf(idle) }
  } finally {
    await agent.close()
  }
}

function worstOf(loads: readonly Load[]): Load {
  const slowest = loads.reduce((worst, load) => (load.longestLockMs > worst.longestLockMs ? load : worst))
  return {
    ...slowest,
    statements: Math.max(...loads.map((load) => load.statements)),
    rowsExamined: Math.max(...loads.map((load) => load.rowsExamined)),
    seconds: Math.max(...loads.map((load) => load.seconds)),
  }
}

/** An agent whose service takes everything and answers at once: only the database is measured. */
function agentOf(settings: Parameters<typeof openDentalConnector>[0]) {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-office-'))
  const identity = { serverUrl: 'http://localhost', organizationId: '1', agentId: '1' }
  const state = openState(join(folder, 'state.sqlite'), identity)
  let sent = 0
  const locations = new Map<string, string>()
  const identify = async () => ({
    agentId: '1',
    organizationId: '1',
    serverTime: new Date().toISOString(),
    highestNumber: null,
    epoch: '1',
    zones: { organization: 'America/Chicago', locations: new Map() },
    writtenByOthers: [],
    locations,
    contract: contractNumber,
    notes: [],
    release: null,
  })
  const client: AgentDeps['client'] = {
    identify,
    heartbeat: async () => ({ ...(await identify()), notConfirmed: [] }),
    getReleasePart: async () => Buffer.alloc(0),
    reportRelease: async () => {},
    sendLocations: async (present) => {
      for (const { source_id } of present) locations.set(source_id, source_id)
      return locations
    },
    sendRecords: async () => ({ inserted: 0, changed: 0, unchanged: 0, hidden: 0 }),
    beginList: async () => '1',
    sendListSlice: async () => ({ unknown: [], different: [] }),
    finishList: async () => ({ hidden: 0 }),
  }
  const connector = openDentalConnector(settings, null, () => new Date(), { keepsSession: true })
  const deps: AgentDeps = {
    connector,
    client,
    state,
    limits: uploadLimits,
    sleep,
    random: Math.random,
    nowMs: Date.now,
    report: (event) => {
      if (event.event === 'cycle.finished') sent += event.uploaded
    },
    signal: new AbortController().signal,
  }
  return {
    sent: () => sent,
    run: async () => {
      const outcome = await runCycle(deps)
      if (outcome.result !== 'complete') throw new Error(`The agent's cycle ended with: ${JSON.stringify(outcome)}`)
    },
    close: async () => {
      await connector.end?.()
      state.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function print({ patients, records, first, idle }: Measured): void {
  console.log(`\n${number(patients)} patients, ${number(records)} records`)
  for (const [name, load] of [
    ['first read', first],
    ['idle cycle', idle],
  ] as const) {
    console.log(
      `  ${name}: ${number(load.statements)} statements, ${number(load.rowsExamined)} rows examined, ${load.seconds.toFixed(1)} s; longest lock ${load.longestLockMs.toFixed(0)} ms`,
    )
    console.log(`    ${load.longestStatement}`)
  }
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}
