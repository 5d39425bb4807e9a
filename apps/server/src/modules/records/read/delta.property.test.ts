import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DatasetName, datasetNames } from '@bridgework/contract'
import fc from 'fast-check'
import type { Pool, PoolClient } from 'pg'
import { createTestDatabase } from '../../../platform/database/testing/test-database.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import type { AgentId, LocationId, OrganizationId } from '../../../platform/identity/identity.ts'
import { aPlan, aRecord, aSchedule, someCompany } from '../../../testing/test-world.ts'
import { grantAccess } from '../../consent/grant.ts'
import { permitRead, type ReadPermit } from '../../consent/read-permit.ts'
import type { VerifiedToken } from '../../credentials/access-token.ts'
import { publishAgreement } from '../../credentials/agreement.ts'
import { createSecretKey } from '../../credentials/secret.ts'
import { deltaOverlapMicros, type Stamp } from '../../datasets/stamp.ts'
import { createOrganization } from '../../directory/organization.ts'
import { createLocation } from '../../onboarding/upsert-locations.ts'
import { findMiscounts } from '../testing/test-miscounts.ts'
import { storeUpload } from '../write/upload.ts'
import { scopeOf } from './delta.ts'
import { createPageReader } from './page.ts'
import { wholeDataset } from './selection.ts'

/** `BRIDGEWORK_TEST_RUNS` times as many runs: the soak's way to the full count. */
const runs = 12 * Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)

type Change = { kind: 'referring' | 'target'; key: number; value: number | null; delayMs: number }
type Script = { writers: Change[][]; pageSize: number; grantAfterMs: number; clockAheadMs: number; pauseMs: number }

const change = fc.record({
  kind: fc.constantFrom('referring' as const, 'referring' as const, 'target' as const),
  key: fc.integer({ min: 1, max: 12 }),
  value: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 5 }),
  delayMs: fc.constantFrom(0, 0, 0, 1, 4, 12),
})
const script = fc.record({
  writers: fc.array(fc.array(change, { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 4 }),
  pageSize: fc.integer({ min: 1, max: 6 }),
  grantAfterMs: fc.integer({ min: 0, max: 40 }),
  clockAheadMs: fc.integer({ min: -60_000, max: 4 * 60_000 }),
  pauseMs: fc.integer({ min: 0, max: 8 }),
})

/** A dataset that is copied, and one that it refers to: its records change with those of the other. */
type Pair = {
  copied: DatasetName
  target: DatasetName
  copiedRecord: (value: number, targetKey: string) => object
  targetRecord: (value: number) => object
}
const [schedules, plans, patients, appointments] = datasetNames as [DatasetName, DatasetName, DatasetName, DatasetName]
/** A plan shows its schedule's name: every change of the one may modify the other. */
const planPair: Pair = {
  copied: plans,
  target: schedules,
  copiedRecord: (value, key) => aPlan({ plan_name: `Plan ${value}`, fee_schedule_source_id: key }),
  targetRecord: (value) => aSchedule({ name: `Schedule ${value}` }),
}
/** An appointment shows its patient's id, which it waits for until the patient arrives. */
const appointmentPair: Pair = {
  copied: appointments,
  target: patients,
  copiedRecord: (value, key) => aRecord(appointments, { note: `Note ${value}`, patient_source_id: key }),
  targetRecord: (value) => aRecord(patients, { last_name: `Name ${value}` }),
}

for (const [pair, what] of [
  [planPair, 'that shows more of another than its id'],
  [appointmentPair, 'that waits for the id of another'],
] as const) {
  test(`P08, P18, P19: a delta never misses a change of a dataset ${what}, and with the watermark repeats only what changed since`, async (t) => {
    const seed = randomInt(2 ** 31)
    t.diagnostic(`seed ${seed}`)
    const { pool } = await createTestDatabase(t)
    await publishAgreement(pool, { version: 1, body: 'The agreement.', enforcedAt: new Date(0) })
    await fc.assert(
      fc.asyncProperty(script, async (generated) => play(pool, pair, generated)),
      { seed, numRuns: runs, endOnFailure: true },
    )
  })
}

/** As an agent does: a turn that others keep for too long is asked for again. */
async function untilNotBusy(upload: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await upload()
      return
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'busy')) throw error
    }
  }
}

/** Writers write, slowly and at once, while three vendors copy; when the writers are done, every copy equals a fresh full read. */
async function play(
  pool: Pool,
  pair: Pair,
  { writers, pageSize, grantAfterMs, clockAheadMs, pauseMs }: Script,
): Promise<void> {
  const world = await aLocation(pool)
  let isOver = false
  const [early, late] = [await aVendor(pool), await aVendor(pool)]
  await grant(pool, world, early)
  const write = async (changes: Change[], index: number) => {
    // An agent gives each number once, over all plays.
    const agentId = `${world.locationId}${index}` as AgentId
    for (const [number, each] of changes.entries()) {
      await untilNotBusy(() =>
        storeUpload(
          slow(pool, each.delayMs),
          uploadOf(pair, world.locationId, agentId, number + 1, each),
          () => new Date(),
        ),
      )
    }
  }
  const writing = Promise.all(writers.map(write)).finally(() => {
    isOver = true
  })
  const granting = sleep(grantAfterMs).then(() => grant(slow(pool, 3), world, late))
  const copying = (token: VerifiedToken, next: NextMoment) =>
    copy(pool, pair.copied, world.locationId, token, { pageSize, pauseMs, next, isOver: () => isOver })
  const byWatermark = (_clock: Stamp, watermark: Stamp) => ({
    since: watermark,
    repeatsAfter: watermark - deltaOverlapMicros,
  })
  const byOwnClock = (clock: Stamp) => ({ since: clock + clockAheadMs * 1000, repeatsAfter: null })
  const copies = Promise.all([
    copying(early, byWatermark),
    copying(early, byOwnClock),
    granting.then(() => copying(late, byWatermark)),
  ])
  await Promise.all([writing, granting, copies])
  const truth = await readAll(pool, pair.copied, world.locationId, early)
  for (const each of await copies) assert.deepEqual([...each].sort(), [...truth].sort())
  assert.deepEqual(await findMiscounts(pool), [])
}

type NextMoment = (clock: Stamp, watermark: Stamp) => { since: Stamp; repeatsAfter: Stamp | null }

/** A vendor's copy of a dataset: a full walk, then deltas until the writers are over, and one more after that. */
async function copy(
  pool: Pool,
  dataset: DatasetName,
  locationId: LocationId,
  token: VerifiedToken,
  options: { pageSize: number; pauseMs: number; next: NextMoment; isOver: () => boolean },
): Promise<Map<string, string>> {
  const copied = new Map<string, string>()
  let moment: { since: Stamp; repeatsAfter: Stamp | null } | null = null
  for (let isLast = false; ; ) {
    const wasOver = options.isOver()
    const clock = Date.now() * 1000
    const { permit, documents } = await walkOnce(pool, dataset, locationId, token, moment?.since ?? null, options)
    for (const [id, document] of documents) {
      const isRepeated = copied.get(id) === document && moment?.repeatsAfter != null
      if (isRepeated)
        assert.ok(
          updatedAt(document) >= Math.floor((moment?.repeatsAfter ?? 0) / 1000),
          'an unchanged record was repeated',
        )
      copied.set(id, document)
    }
    moment = options.next(clock, permit.state.lastStamp + deltaOverlapMicros)
    if (isLast) return copied
    isLast = wasOver
    await sleep(options.pauseMs)
  }
}

async function walkOnce(
  pool: Pool,
  dataset: DatasetName,
  locationId: LocationId,
  token: VerifiedToken,
  since: Stamp | null,
  { pageSize, pauseMs }: { pageSize: number; pauseMs: number },
): Promise<{ permit: ReadPermit; documents: [string, string][] }> {
  const reader = createPageReader(
    pool,
    () => new Date(),
    () => {},
  )
  const documents: [string, string][] = []
  let first: ReadPermit | null = null
  for (let after = '0'; ; ) {
    const permit = await permitRead(pool, token, locationId, dataset, { previewOff: false })
    first ??= permit
    const page = await reader.readAfter(
      permit,
      { ...wholeDataset, modifiedAfter: scopeOf(permit, { moment: since, epoch: null }).modifiedAfter },
      after,
      pageSize,
    )
    documents.push(...page.documents)
    if (!page.hasMore) return { permit: first, documents }
    after = page.documents.at(-1)?.[0] ?? after
    await sleep(pauseMs)
  }
}

async function readAll(
  pool: Pool,
  dataset: DatasetName,
  locationId: LocationId,
  token: VerifiedToken,
): Promise<Map<string, string>> {
  const { documents } = await walkOnce(pool, dataset, locationId, token, null, { pageSize: 1000, pauseMs: 0 })
  return new Map(documents)
}

function uploadOf(pair: Pair, locationId: LocationId, agentId: AgentId, number: number, { kind, key, value }: Change) {
  const targetKey = `${key % 3}`
  const [dataset, sourceId] = kind === 'target' ? [pair.target, targetKey] : [pair.copied, `${key}`]
  const attributes =
    value === null ? null : kind === 'target' ? pair.targetRecord(value) : pair.copiedRecord(value, targetKey)
  const lines = [{ sourceId, source: attributes && JSON.stringify(attributes) }]
  return { locationId, dataset, agentId, fence: null, number: String(number), bodyHash: '00', lines }
}

async function aLocation(pool: Pool): Promise<{ locationId: LocationId; organizationId: OrganizationId }> {
  const organization = await createOrganization(pool, { name: 'Practice' })
  const location = await createLocation(pool, organization.id, { sourceId: '0', name: 'Location' })
  return { locationId: location.id, organizationId: organization.id }
}

async function aVendor(pool: Pool): Promise<VerifiedToken> {
  const { company, pair } = await someCompany(pool, secretKey)
  return { companyId: company.id, keyPairId: pair.keyPairId, expiresAt: new Date(Date.now() + 3_600_000) }
}

const secretKey = createSecretKey(new Uint8Array(32))

async function grant(
  pool: Pool,
  world: { locationId: LocationId; organizationId: OrganizationId },
  vendor: VerifiedToken,
): Promise<void> {
  const { locationId, organizationId } = world
  await grantAccess(pool, {
    companyId: vendor.companyId,
    organizationId,
    locationIds: [locationId],
    datasets: 'all',
    by: 'test',
  })
}

/** The same pool, whose transactions wait before each statement: stamps are drawn long before they are committed. */
function slow(pool: Pool, delayMs: number): Pool {
  if (delayMs === 0) return pool
  const connect = async () => {
    const client = await pool.connect()
    const query = async (...args: Parameters<PoolClient['query']>) => {
      await sleep(delayMs)
      return client.query(...args)
    }
    return { query, release: client.release.bind(client) }
  }
  // Only connect and query are used of it.
  return { connect, query: pool.query.bind(pool) } as unknown as Pool
}

function updatedAt(document: string): number {
  return Date.parse(JSON.parse(document).attributes.updated_at)
}
