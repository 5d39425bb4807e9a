import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { keyOrder } from '@bridgework/practice-simulator'
import type { DatasetName, SourceRecord } from '../connector.ts'

type Cleanup = { after(work: () => Promise<void>): void }
type Stored = { record: SourceRecord; isHidden: boolean; upload: number }
type Answer = { status: number; body: unknown; headers?: Record<string, string> }

export const testAgentKey = `bwa_${'A'.repeat(43)}`

/** As little of the ingest protocol as an agent needs, on a free port, with everything that it received to look at. */
export type TestIngestServer = {
  readonly url: string
  /** Records that are not hidden, by the practice's own key of the location, in the order of their keys. */
  visible(locationKey: string, dataset: DatasetName): SourceRecord[]
  readonly locationKeys: () => string[]
  /** How many requests brought records, and how many records. */
  readonly received: { uploads: number; records: number }
  /** The next so many requests are answered with 503. */
  failNext(requests: number): void
  refuseKey(): void
}

export async function startTestIngestServer(t: Cleanup): Promise<TestIngestServer> {
  const locations = new Map<string, string>()
  const datasets = new Map<string, Map<string, Stored>>()
  const uploads = new Map<string, string>()
  const received = { uploads: 0, records: 0 }
  let failures = 0
  let isKeyRefused = false

  function storedOf(locationId: string, dataset: string): Map<string, Stored> {
    const key = `${locationId}/${dataset}`
    const known = datasets.get(key) ?? new Map<string, Stored>()
    datasets.set(key, known)
    return known
  }

  function receiveLocations(body: string): Answer {
    const sent: { locations: { source_id: string; name: string }[] } = JSON.parse(body)
    for (const { source_id } of sent.locations)
      locations.set(source_id, locations.get(source_id) ?? String(locations.size + 100))
    const all = [...locations].map(([source_id, location_id]) => ({ source_id, location_id, name: '' }))
    return { status: 200, body: { locations: all } }
  }

  function receiveRecords(stored: Map<string, Stored>, key: string, body: string): Answer {
    const earlier = uploads.get(key)
    if (earlier !== undefined && earlier !== body)
      return { status: 422, body: { errors: 'reused', code: 'idempotency_key_reused' } }
    uploads.set(key, body)
    received.uploads += 1
    for (const line of body.split('\n').filter((text) => text !== '')) {
      const record: SourceRecord = JSON.parse(line)
      stored.set(record.source_id, { record, isHidden: false, upload: Number(key.split('-')[1]) })
      received.records += 1
    }
    return { status: 200, body: { inserted: 0, changed: 0, unchanged: 0, hidden: 0 } }
  }

  function reconcile(stored: Map<string, Stored>, body: string): Answer {
    const sent: { began_at_upload: number; source_ids: string[] } = JSON.parse(body)
    const present = new Set(sent.source_ids)
    const gone = [...stored].filter(
      ([key, { isHidden, upload }]) => !present.has(key) && !isHidden && upload < sent.began_at_upload,
    )
    for (const [, each] of gone) each.isHidden = true
    return { status: 200, body: { hidden: gone.length } }
  }

  function answer(request: IncomingMessage, body: string): Answer {
    if (isKeyRefused || request.headers.authorization !== `Bearer ${testAgentKey}`) {
      return { status: 401, body: { errors: 'wrong key', code: 'agent_key_invalid' } }
    }
    if (failures > 0) {
      failures -= 1
      return { status: 503, body: { errors: 'not now', code: 'unavailable' }, headers: { 'retry-after': '0' } }
    }
    const path = request.url ?? ''
    if (path === '/ingest/v1/organizations/7/locations') return receiveLocations(body)
    const [, locationId = '', dataset = '', action = ''] =
      /^\/ingest\/v1\/locations\/(\d+)\/(\w+)\/(\w+)$/.exec(path) ?? []
    const stored = storedOf(locationId, dataset)
    if (action === 'records') return receiveRecords(stored, String(request.headers['idempotency-key']), body)
    if (action === 'reconcile') return reconcile(stored, body)
    if (action === 'cycles') return { status: 200, body: { synced_at: new Date().toISOString() } }
    return { status: 404, body: { errors: `no ${path}`, code: 'route_unknown' } }
  }

  const server = createServer((request, response) => void handle(request, response, answer))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visible: (locationKey, dataset) =>
      [...storedOf(locations.get(locationKey) ?? '', dataset).values()]
        .filter(({ isHidden }) => !isHidden)
        .map(({ record }) => record)
        .sort((left, right) => keyOrder(left.source_id, right.source_id)),
    locationKeys: () => [...locations.keys()],
    received,
    failNext: (requests) => {
      failures = requests
    },
    refuseKey: () => {
      isKeyRefused = true
    },
  }
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: IncomingMessage, body: string) => Answer,
): Promise<void> {
  const bytes = Buffer.concat(await Array.fromAsync(request))
  const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
  const { status, body: content, headers } = answer(request, body.toString('utf8'))
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(content))
}
