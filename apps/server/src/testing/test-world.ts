import { randomBytes, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type DatasetName, datasetNames, datasets, getDataset, vendorApiPath } from '@bridgework/contract'
import type { Pool } from 'pg'
import { type AppDeps, buildApp, tokenIssuerOf } from '../app.ts'
import { createEnrolmentCode, enrollAgent } from '../modules/agents/agent-key.ts'
import { grantAccess, revokeAccess } from '../modules/consent/grant.ts'
import { acceptAgreement, publishAgreement } from '../modules/credentials/agreement.ts'
import { generateKeyPair } from '../modules/credentials/key-pair.ts'
import { openKeyRing } from '../modules/credentials/key-ring.ts'
import { createSecretKey, type SecretKey } from '../modules/credentials/secret.ts'
import { createSeenStamps } from '../modules/datasets/seen-stamps.ts'
import { createOrganization } from '../modules/directory/organization.ts'
import { smallReadConnections } from '../modules/disclosure/small-read.ts'
import { createDisclosureWriter } from '../modules/disclosure/writer.ts'
import { createCompany } from '../modules/membership/create-tenant.ts'
import { createLocation } from '../modules/onboarding/upsert-locations.ts'
import { createSyncSlots } from '../modules/throttle/sync-slots.ts'
import { createTokenLimit } from '../modules/throttle/token-limit.ts'
import { createUsageRecorder } from '../modules/usage/recorder.ts'
import { createPool } from '../platform/database/pool.ts'
import { createTestDatabase } from '../platform/database/testing/test-database.ts'
import type { AgentId, CompanyId, LocationId, MemberId, OrganizationId } from '../platform/identity/identity.ts'
import type { LogEvent } from '../platform/log/log-event.ts'
import type { LoadWatch } from '../platform/memory/load-watch.ts'

export type VendorRecord = {
  id: string
  type: string
  attributes: {
    plan_name: string
    name: string
    is_hidden: boolean
    source_id: string
    updated_at: string
    fee_schedule: { data: { id: string; attributes: { name: string; is_hidden: boolean } } | null }
    [name: string]: unknown
  }
}

/** Any answer's body: a test reads the members that it expects, and finds undefined where there is another body. */
export type Body = {
  data: VendorRecord[]
  pagy: { total: number; items: number; page?: number; pages?: number }
  meta: {
    has_more: boolean
    next_after: string | null
    next_page: number | null
    next_fetch_modified_since: string
    granted_at: string | null
    restored_at: string | null
    epoch: string
    freshness: { state: string; synced_at: string | null }
    request_id: string
  }
  errors: string
  code: string
  request_id: string
  token: string
  [name: string]: unknown
}

export type Answer = { status: number; headers: Headers; body: Body; text: string }

export type TestVendor = {
  companyId: CompanyId
  ownerId: MemberId
  clientId: string
  clientSecret: string
  /** A GET below /api/v1/vendors with the vendor's token. */
  get: (path: string, headers?: Record<string, string>) => Promise<Answer>
  token: () => Promise<string>
}

export type TestLocation = {
  id: LocationId
  organizationId: OrganizationId
  /** The location's writer. Its own uploads are numbered from a million on, so that a test may give smaller numbers. */
  agent: { agentId: AgentId; agentKey: string }
  /** Uploads records or removals (null) of a dataset, as the location's agent. */
  upload: (dataset: string, records: Record<string, object | null>) => Promise<Answer>
}

/** What a world belongs to: a test, or a test file as a whole. */
export type TestScope = { name?: string; after: (work: () => Promise<void>) => void }

export type TestWorld = Awaited<ReturnType<typeof someWorld>>

const pairs = datasets.map((dataset) => [dataset.name, dataset.example] as const)
/** A plan or a fee schedule of the contract's example, with what matters to the test. */
export const aPlan = (attributes: object = {}) => ({
  ...pairs.find(([name]) => name === 'insurance_plans')?.[1],
  ...attributes,
})
export const aSchedule = (attributes: object = {}) => ({
  ...pairs.find(([name]) => name === 'fee_schedules')?.[1],
  ...attributes,
})

/** A record of any dataset as an agent sends it: the contract's example, with what matters to the test. */
export const aRecord = (dataset: string, attributes: object = {}) => ({
  ...pairs.find(([name]) => name === dataset)?.[1],
  ...attributes,
})

/** What an agent says that waits for its next cycle; `problems`: none. */
export const aHeartbeat = () => ({ state: 'idle', sent_at: new Date().toISOString(), reading: null, problems: [] })

/** So that no test depends on the day and hour at which it runs. */
const alwaysOpen = Object.fromEntries(
  ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [
    day,
    [{ opens: '00:00', closes: '24:00' }],
  ]),
)

/** A whole service on a database of the test's own, listening on loopback, with what a test needs to fill it and to read it. */
export async function someWorld(
  t: TestScope,
  options: Partial<AppDeps> & { limits?: { initial: number; incremental: number }; port?: number } = {},
) {
  const database = await createTestDatabase(t)
  const events: LogEvent[] = []
  const log = (event: LogEvent) => void events.push(event)
  const secretKey = options.secretKey ?? createSecretKey(randomBytes(32))
  const server = await startServer(t, database, { secretKey, log, ...options })
  await publishAgreement(database.pool, { version: 1, body: 'The agreement.', enforcedAt: new Date(0) })

  const request = async (path: string, init: RequestInit & { on?: string } = {}): Promise<Answer> => {
    const response = await fetch(`${init.on ?? server.url}${path}`, { redirect: 'manual', ...init })
    const text = await response.text()
    // Bodies are JSON but for pages and metrics, whose tests read the text, and the answer to a HEAD, which has none.
    const isJson = text !== '' && /[/+]json/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : {}) as Body, text }
  }

  const addOrganization = async (name = 'Practice') => (await createOrganization(database.pool, { name })).id

  const addAgent = async (organizationId: OrganizationId) => {
    const { code } = await createEnrolmentCode(database.pool, secretKey, { organizationId })
    return enrollAgent(database.pool, secretKey, { code })
  }

  const addLocation = async (
    options: { organizationId?: OrganizationId; insurancePlans?: number } = {},
  ): Promise<TestLocation> => {
    const organizationId = options.organizationId ?? (await addOrganization())
    const location = await createLocation(database.pool, organizationId, {
      sourceId: randomUUID(),
      name: 'Location',
      timeZone: 'America/New_York',
      officeHours: alwaysOpen,
    })
    const agent = await addAgent(organizationId)
    let number = 1_000_000
    const upload = (dataset: string, records: Record<string, object | null>) => {
      number += 1
      return send(agent, location.id, dataset, number, toNdjson(records))
    }
    const plans = Array.from({ length: options.insurancePlans ?? 0 }, (_, index) => [
      `p${index + 1}`,
      aPlan({ plan_name: `Plan ${index + 1}` }),
    ])
    const uploaded = plans.length > 0 ? await upload('insurance_plans', Object.fromEntries(plans)) : null
    if (uploaded && uploaded.status !== 200) throw new Error(`the plans were not stored: ${uploaded.text}`)
    return { id: location.id, organizationId, agent, upload }
  }

  const send = (
    agent: { agentId: AgentId; agentKey: string },
    locationId: string,
    dataset: string,
    number: number,
    body: string,
  ) =>
    request(`/ingest/v1/locations/${locationId}/${dataset}/records`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.agentKey}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
        'idempotency-key': `${agent.agentId}-${number}`,
      },
      body: gzipSync(body),
    })

  const post = (path: string, agent: { agentKey: string }, body: object, headers: Record<string, string> = {}) =>
    request(`/ingest/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.agentKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  /** Confirms a finished read of these datasets in a heartbeat, as an agent that knows the service's epoch. */
  const confirmReads = async (
    agent: { agentKey: string },
    locationId: string,
    names: readonly string[],
    { read_at = new Date().toISOString(), complete = true }: { read_at?: string; complete?: boolean } = {},
  ) => {
    const headers = { authorization: `Bearer ${agent.agentKey}` }
    const { epoch } = (await request('/ingest/v1/agents/self', { headers })).body
    const reads = names.map((dataset) => ({ dataset, read_at, complete, location_ids: [locationId] }))
    return await post('/agents/self/heartbeats', agent, { ...aHeartbeat(), confirmed: { epoch, reads } })
  }

  /** Sends a complete list in one slice. Returns the answer of the first step that is refused, else the last one's. */
  const sendList = async (
    agent: { agentKey: string },
    locationId: string,
    dataset: string,
    beganAtUpload: number,
    sourceIds: readonly string[],
  ) => {
    const path = `/locations/${locationId}/${dataset}/complete_lists`
    const begun = await post(path, agent, { began_at_upload: beganAtUpload })
    if (begun.status !== 200) return begun
    const lines = sourceIds.toSorted().map((source_id) => JSON.stringify({ source_id }))
    const compared = await request(`/ingest/v1${path}/${begun.body.list_id}/slices`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.agentKey}`, 'content-type': 'application/x-ndjson' },
      body: ['{"after":null}', ...lines].join('\n'),
    })
    return compared.status === 200 ? post(`${path}/${begun.body.list_id}/finish`, agent, {}) : compared
  }

  /** A company with an accepted agreement and a key pair, to which these locations are granted. */
  const addVendor = async (
    grants: readonly TestLocation[] = [],
    names: readonly DatasetName[] = datasetNames,
  ): Promise<TestVendor> => {
    const { company, owner, pair } = await someCompany(database.pool, secretKey)
    for (const location of grants) await grant(company.id, location, names)
    const token = once(() => server.tokens.issue(company.id, pair.keyPairId))
    const get = async (path: string, headers: Record<string, string> = {}) =>
      request(`${vendorApiPath}${path}`, { headers: { authorization: `Bearer ${await token()}`, ...headers } })
    return {
      companyId: company.id,
      ownerId: owner.id,
      clientId: pair.clientId,
      clientSecret: pair.clientSecret,
      get,
      token,
    }
  }

  const grant = (
    companyId: CompanyId,
    location: TestLocation,
    names: readonly DatasetName[] = datasetNames,
    { notes = false } = {},
  ) =>
    grantAccess(database.pool, {
      notes,
      companyId,
      organizationId: location.organizationId,
      locationIds: [location.id],
      datasets: [...names],
      by: 'test',
    })

  const revoke = (companyId: CompanyId, location: TestLocation) =>
    revokeAccess(database.pool, {
      companyId,
      organizationId: location.organizationId,
      locationIds: [location.id],
      datasets: 'all',
      by: 'test',
    })

  /** A second server process' worth of service on the same database. */
  const anotherServer = (other: Partial<AppDeps> = {}) =>
    startServer(t, database, { secretKey, log, ...options, ...other })

  return {
    ...database,
    ...server,
    events,
    log,
    secretKey,
    request,
    addOrganization,
    addAgent,
    addLocation,
    addVendor,
    grant,
    revoke,
    send,
    post,
    confirmReads,
    sendList,
    anotherServer,
  }
}

/** A company whose owner accepted the agreement, with its key pair. */
export async function someCompany(pool: Pool, secretKey: SecretKey) {
  const { rowCount } = await pool.query('select from company')
  const { company, owner } = await createCompany(pool, {
    name: rowCount === 0 ? 'Vendor' : `Vendor ${(rowCount ?? 0) + 1}`,
    owner: { email: `${randomUUID()}@example.com`, name: 'Owner' },
  })
  await acceptAgreement(pool, { companyId: company.id, memberId: owner.id, version: 1 })
  const pair = await generateKeyPair(pool, secretKey, { companyId: company.id, memberId: owner.id })
  return { company, owner, pair }
}

/** NDJSON of records by source id; null is a removal. */
export function toNdjson(records: Record<string, object | null>): string {
  return Object.entries(records)
    .map(([source_id, attributes]) =>
      JSON.stringify(attributes === null ? { source_id, removed: true } : { source_id, attributes }),
    )
    .join('\n')
}

async function startServer(
  t: TestScope,
  database: Awaited<ReturnType<typeof createTestDatabase>>,
  options: Partial<AppDeps> &
    Pick<AppDeps, 'secretKey' | 'log'> & { limits?: { initial: number; incremental: number }; port?: number },
) {
  const { pool } = database
  const { log, secretKey, limits = { initial: 5, incremental: 25 } } = options
  const control = options.controlPool ?? pool
  const keys = options.keys ?? (await openKeyRing({ pool: control, secretKey, log }))
  const slots = options.slots ?? createSyncSlots({ pool: control, processId: randomUUID(), limits, log })
  const disclosures = options.disclosures ?? createDisclosureWriter({ pool: control, log })
  const now = options.now ?? (() => new Date())
  const usage = options.usage ?? createUsageRecorder({ pool, log, now })
  const seenStamps = createSeenStamps()
  const smallReadPool = createPool(database.serverUrl, { ...smallReadConnections, log, applicationName: 'deltas' })
  const deps: AppDeps = {
    pool,
    smallReadPool,
    keys,
    slots,
    disclosures,
    usage,
    seenStamps,
    tokenLimit: createTokenLimit({ pool: control, log }),
    // A machine that is busy with other tests refuses nothing.
    load: idleLoad,
    environment: 'sandbox',
    publicUrl: 'http://localhost',
    trustedProxies: [],
    mailDir: null,
    previewDatasets: new Set(datasetNames.filter((name) => getDataset(name).preview)),
    now,
    ...options,
  }
  const app = await buildApp(deps)
  slots.start()
  t.after(async () => {
    await app.close()
    await smallReadPool.end()
    await slots.stop()
    await disclosures.stop()
    await keys.close()
  })
  await app.listen({ host: '127.0.0.1', port: options.port ?? 0 })
  const { port } = app.server.address() as AddressInfo
  const tokens = tokenIssuerOf(deps)
  return { app, slots, disclosures, usage, seenStamps, tokens, port, url: `http://127.0.0.1:${port}` }
}

const idleLoad: LoadWatch = {
  lagMs: () => 0,
  heapShare: () => 0,
  isLate: () => false,
  isFull: () => false,
  whileWorking: (work) => work(),
  isWorking: () => false,
  stop() {},
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
