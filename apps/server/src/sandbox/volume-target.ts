import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DatasetName, datasets } from '@bridgework/contract'
import type { VolumeBatch } from '@bridgework/practice-simulator'
import type { Pool } from 'pg'
import { createLineReader } from '../apis/ingest/lines/record-line.ts'
import { createUploadReader } from '../apis/ingest/lines/upload-lines.ts'
import { finishReads } from '../modules/datasets/cycle.ts'
import { openStoredLookup } from '../modules/records/write/as-stored.ts'
import { storeUpload } from '../modules/records/write/upload.ts'
import { isDatabaseUnavailable } from '../platform/database/unavailable.ts'
import { Problem } from '../platform/errors/problem.ts'
import type { AgentId, LocationId } from '../platform/identity/identity.ts'

/** Where uploads go: to the running server over HTTP, or straight to the functions that its ingest routes call. */
export type VolumeTarget = {
  store: (locationId: LocationId, batch: VolumeBatch) => Promise<void>
  finish: (locationId: LocationId, dataset: DatasetName) => Promise<void>
}

export type VolumeAgent = { agentId: AgentId; agentKey: string }

/** In this process: every line is read and checked as one that came over HTTP. */
export function targetInProcess(pool: Pool, { agentId }: VolumeAgent): VolumeTarget {
  const lineReaders = new Map(datasets.map((dataset) => [dataset.name, createLineReader(dataset)]))
  const now = () => new Date()
  let uploads = 0
  return {
    async store(locationId, { dataset, records }) {
      const texts = records.map((record) => JSON.stringify(record))
      const readLine = lineReaders.get(dataset)
      if (!readLine) throw new Error(`no dataset ${dataset}`)
      const reader = createUploadReader(readLine, openStoredLookup(pool, locationId, dataset))
      for (const [index, text] of texts.entries()) await reader.take(Buffer.from(text), index + 1)
      const bodyHash = createHash('sha256').update(texts.join('\n')).digest('hex')
      uploads += 1
      const number = String(uploads)
      const upload = { locationId, dataset, agentId, fence: null, number, bodyHash, ...(await reader.end()) }
      await patiently(() => storeUpload(pool, upload, now), isTooSlow)
    },
    async finish(locationId, dataset) {
      const read = { locationId, dataset, readAt: now(), isComplete: true }
      await patiently(() => finishReads(pool, [read]), isTooSlow)
    },
  }
}

/** Over HTTP, as an office's agent. Null when no server answers there, or one of another database. */
export async function findTargetOverHttp(
  serverUrl: string,
  { agentId, agentKey }: VolumeAgent,
): Promise<VolumeTarget | null> {
  const headers = { Authorization: `Bearer ${agentKey}` }
  const self = await fetch(`${serverUrl}/ingest/v1/agents/self`, { headers, signal: AbortSignal.timeout(2000) })
    .then(async (answer) => (answer.ok ? ((await answer.json()) as { agent_id?: string; epoch?: string }) : null))
    .catch(() => null)
  if (self?.agent_id !== agentId) return null
  let uploads = 0

  async function post(path: string, body: string, more: Record<string, string>): Promise<void> {
    const send = async () => {
      const answer = await fetch(`${serverUrl}/ingest/v1${path}`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body,
      })
      const text = await answer.text()
      if (!answer.ok) throw new UploadRefused(answer.status, text)
    }
    await patiently(send, (error) => error instanceof UploadRefused && error.status === 503)
  }

  return {
    async store(locationId, { dataset, records }) {
      uploads += 1
      const body = records.map((record) => JSON.stringify(record)).join('\n')
      await post(`/locations/${locationId}/${dataset}/records`, body, {
        'Content-Type': 'application/x-ndjson',
        'Idempotency-Key': `${agentId}-${uploads}`,
      })
    },
    async finish(locationId, dataset) {
      const now = new Date().toISOString()
      const reads = [{ dataset, read_at: now, complete: true, location_ids: [locationId] }]
      const confirmed = { epoch: self.epoch, reads }
      const body = JSON.stringify({ state: 'working', sent_at: now, reading: null, confirmed })
      await post('/agents/self/heartbeats', body, { 'Content-Type': 'application/json' })
    },
  }
}

class UploadRefused extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(`the server refused an upload: ${status} ${text.slice(0, 300)}`)
    this.status = status
  }
}

const triesMax = 10

/** A machine that is busy with much data may be too slow for one upload; the same one again is safe, because its number is known. */
async function patiently<T>(work: () => Promise<T>, passes: (error: unknown) => boolean): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries >= triesMax || !passes(error)) throw error
      await sleep(1000)
    }
  }
}

function isTooSlow(error: unknown): boolean {
  return (error instanceof Problem && error.code === 'busy') || isDatabaseUnavailable(error)
}
