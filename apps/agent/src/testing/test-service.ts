import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { type DatasetName, datasetNames, datasetsWithNotes, getDataset } from '@bridgework/contract'
import { type IngestBodies, ingestUrl } from '@bridgework/contract/ingest'
import { createEnrolmentCode, listAgents } from '../../../server/src/modules/agents/agent-key.ts'
import { takeOverProcess } from '../../../server/src/modules/agents/agent-process.ts'
import { changeAccess } from '../../../server/src/modules/consent/grant.ts'
import { assignTimeZone } from '../../../server/src/modules/directory/location.ts'
import { updateOrganization } from '../../../server/src/modules/directory/organization.ts'
import { confirmRemoval } from '../../../server/src/modules/records/removals/removal-decision.ts'
import { listRemovals } from '../../../server/src/modules/records/removals/removal-store.ts'
import { removeSlice } from '../../../server/src/modules/records/removals/remover.ts'
import { type SourceColumns, sourceOf } from '../../../server/src/modules/records/write/stored-source.ts'
import { withTransaction } from '../../../server/src/platform/database/pool.ts'
import type { LocationId } from '../../../server/src/platform/identity/identity.ts'
import { someWorld, type TestScope, type TestVendor, type TestWorld } from '../../../server/src/testing/test-world.ts'

type Answer = { status: number; body: object; headers?: Record<string, string> }
type Attributes = Record<string, unknown>

/** A request as it arrived; `kind` is the path's last part. */
export type TestRequest = {
  path: string
  method: string
  kind: string
  headers: IncomingHttpHeaders
  /** Unpacked. */
  body: string
}

/** What a test may do to a request: answer in the service's place, let it take effect and cut the line before the answer, or delay it. */
export type Interference = (request: TestRequest) => Answer | 'cut_after_effect' | { delayMs: number } | undefined

export type TestService = Awaited<ReturnType<typeof startTestService>>

/**
 * The real service on a database of the test's own, with an organization that has an enrolled agent, behind a line that a test may disturb. What
 * the agent asked, and what the service has of it, is there to be looked at. Given a service that runs already, the organization is another of its.
 */
export async function startTestService(t: TestScope, service?: TestWorld) {
  const world = {
    interference: undefined as Interference | undefined,
    serverTime: () => new Date(),
  }
  service ??= await someWorld(t, { now: () => world.serverTime() })
  return await startLine(t, service, world)
}

async function startLine(
  t: TestScope,
  service: TestWorld,
  world: { interference: Interference | undefined; serverTime: () => Date },
) {
  const { pool, secretKey } = service
  const organizationId = await service.addOrganization()
  const { agentId, agentKey } = await service.addAgent(organizationId)
  const requests: TestRequest[] = []
  let vendor: Promise<TestVendor> | undefined
  /** Records that the source itself hides, which the service cannot tell from those that it hid. */
  const hiddenBySource = new Set<string>()
  const noteHidden = ({ path, body }: TestRequest) => {
    for (const line of body.split('\n').filter((text) => text !== '')) {
      const { source_id, attributes } = JSON.parse(line) as { source_id: string; attributes?: Attributes }
      if (attributes?.is_hidden === true) hiddenBySource.add(`${path} ${source_id}`)
      else hiddenBySource.delete(`${path} ${source_id}`)
    }
  }
  const line = createServer(async (request, response) => {
    const packed = await buffer(request)
    const path = request.url ?? ''
    const heard: TestRequest = {
      path,
      method: request.method ?? '',
      kind: path.split('/').at(-1) ?? '',
      headers: request.headers,
      body: (request.headers['content-encoding'] === 'gzip' ? gunzipSync(packed) : packed).toString(),
    }
    requests.push(heard)
    const interference = world.interference?.(heard)
    if (typeof interference === 'object' && 'status' in interference) {
      response.writeHead(interference.status, { 'content-type': 'application/json', ...interference.headers })
      return response.end(JSON.stringify(interference.body))
    }
    if (typeof interference === 'object') await sleep(interference.delayMs)
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>
    const answer = await fetch(`${service.url}${path}`, {
      method: heard.method,
      headers,
      ...(packed.length > 0 ? { body: new Uint8Array(packed) } : {}),
    })
    const text = await answer.text()
    if (heard.kind === 'records' && answer.ok) noteHidden(heard)
    if (interference === 'cut_after_effect') return request.socket.destroy()
    const { 'transfer-encoding': ___, ...onward } = Object.fromEntries(answer.headers)
    return response.writeHead(answer.status, onward).end(text)
  })
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    line.closeAllConnections()
    await new Promise((resolve) => line.close(resolve))
  })

  const heartbeats = () =>
    requests
      .filter(({ kind }) => kind === 'heartbeats')
      .map(({ body }) => JSON.parse(body) as IngestBodies['heartbeat'])
  /** By the location's own key. */
  const locations = async () => {
    const { rows } = await pool.query<{ source_id: string; id: LocationId; is_active: boolean }>(
      'select source_id, id, is_active from location where organization_id = $1 order by source_id',
      [organizationId],
    )
    return new Map(rows.map((row) => [row.source_id, row]))
  }
  /** Every record, in the order of its id; `isGone`: the service hid it, and not its own source. */
  const records = async () => {
    const { rows } = await pool.query<
      {
        location: string
        location_id: string
        dataset: DatasetName
        source_id: string
        is_hidden: boolean
      } & SourceColumns
    >(
      `select l.source_id as location, r.location_id, r.dataset, r.source_id, r.is_hidden, r.source, r.document,
              r.document_with_notes
         from record r join location l on l.id = r.location_id
        where l.organization_id = $1
        order by r.id`,
      [organizationId],
    )
    return rows.map((row) => {
      const path = ingestUrl('sendRecords', { location_id: row.location_id, dataset: row.dataset })
      const source = sourceOf(getDataset(row.dataset), row)
      return { ...row, source, isGone: row.is_hidden && !hiddenBySource.has(`${path} ${row.source_id}`) }
    })
  }
  /** What the service shows, by "location's own key/dataset", then by source id. */
  const everything = async () => {
    const all = new Map<string, Map<string, Attributes>>()
    for (const { isGone, location, dataset, source_id, source } of await records()) {
      if (isGone) continue
      const key = `${location}/${dataset}`
      all.set(key, (all.get(key) ?? new Map<string, Attributes>()).set(source_id, source))
    }
    return all
  }

  return {
    url: `http://127.0.0.1:${(line.address() as AddressInfo).port}`,
    agentKey,
    agentId,
    organizationId,
    world,
    service,
    requests,
    locations,
    everything,
    /** What the service shows of a location's dataset, by source id. */
    visible: async (location: string, dataset: string) =>
      (await everything()).get(`${location}/${dataset}`) ?? new Map(),
    enrolmentCode: async () => (await createEnrolmentCode(pool, secretKey, { organizationId })).code,
    /** The datasets of a location that the service takes its source to have. */
    provided: async (location: string) => {
      const { rows } = await pool.query<{ dataset: string }>(
        `select s.dataset from dataset_state s join location l on l.id = s.location_id
          where l.organization_id = $1 and l.source_id = $2 and s.is_provided order by s.dataset`,
        [organizationId, location],
      )
      return rows.map(({ dataset }) => dataset)
    },
    /** How many lines all uploads had, also those that came twice. */
    recordsReceived: () =>
      requests
        .filter(({ kind }) => kind === 'records')
        .reduce((sum, { body }) => sum + body.trimEnd().split('\n').length, 0),
    /** What heartbeats said, the oldest first. */
    heartbeats,
    /** The reads that were confirmed, location by location. */
    cycles: () =>
      heartbeats().flatMap(({ confirmed }) =>
        (confirmed?.reads ?? []).flatMap(({ location_ids, ...read }) =>
          location_ids.map((locationId) => ({ locationId, ...read })),
        ),
      ),
    /** The complete lists that were begun, with the keys of their slices. */
    lists: () => {
      const lists: { dataset: string; source_ids: string[] }[] = []
      for (const { kind, path, body } of requests) {
        const dataset = path.split('/').at(5) ?? ''
        if (kind === 'complete_lists') lists.push({ dataset, source_ids: [] })
        if (kind !== 'slices') continue
        const [, ...entries] = body
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
        lists.at(-1)?.source_ids.push(...entries.map(({ source_id }) => source_id))
      }
      return lists
    },
    /** What all uploads did, and how many records are gone now. */
    counts: async () => {
      const { rows } = await pool.query<{ uploads: number; inserted: number; changed: number; unchanged: number }>(
        `select count(*)::integer as uploads,
                coalesce(sum((answer::json ->> 'inserted')::integer), 0)::integer as inserted,
                coalesce(sum((answer::json ->> 'changed')::integer), 0)::integer as changed,
                coalesce(sum((answer::json ->> 'unchanged')::integer), 0)::integer as unchanged
           from upload
          where agent_id = $1`,
        [agentId],
      )
      const hidden = (await records()).filter(({ isGone }) => isGone).length
      return { uploads: 0, inserted: 0, changed: 0, unchanged: 0, ...rows[0], hidden }
    },
    /** As a practice does that grants a vendor every dataset with its notes, at all locations; false: that takes the notes away. */
    grantNotes: async (isGranted = true) => {
      vendor ??= service.addVendor()
      const { companyId } = await vendor
      const parties = { companyId, organizationId, by: 'test' }
      const access = datasetNames.map((dataset) => {
        return { locationId: null, dataset, notes: isGranted && datasetsWithNotes.includes(dataset) }
      })
      await changeAccess(pool, parties, () => access)
    },
    /** As people do: of the organization, or of the location with this key. */
    setTimeZone: async (timeZone: string, location?: string) => {
      if (location === undefined) await updateOrganization(pool, organizationId, { name: 'Practice', timeZone })
      else await assignTimeZone(pool, (await locations()).get(location)?.id ?? assert.fail(), timeZone)
    },
    /** As a person does who lets the refused copy of the agent go on. */
    takeOverCopy: async () => {
      const copy = (await listAgents(pool, organizationId)).find(({ id }) => id === agentId)?.copy
      assert.ok(copy)
      await withTransaction(pool, (client) =>
        takeOverProcess(client, { agentId, organizationId, processId: copy.processId }),
      )
    },
    /** As a person does who agrees to every removal that waits. */
    confirmRemovals: async () => {
      const own = [...(await locations()).values()].map(({ id }) => id)
      // The records of a closed location are listed in the background.
      while (await removeSlice({ pool, log: service.log, now: world.serverTime })) {}
      for (const { locationId, dataset, listHash } of await listRemovals(pool, own)) {
        await confirmRemoval(pool, locationId, dataset, listHash)
      }
    },
  }
}

/** What the service showed when it was last looked at. */
export function createView(service: TestService) {
  let seen = new Map<string, Map<string, Attributes>>()
  return {
    refresh: async () => {
      seen = await service.everything()
    },
    visible: (location: string, dataset: string) => seen.get(`${location}/${dataset}`) ?? new Map<string, Attributes>(),
  }
}
