import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { DatabaseSettings } from '../open-dental/database/database-settings.ts'
import { spawnAgent, temporaryFolder, writeTestConfig } from './test-agent.ts'

/**
 * A small heap, that garbage is collected and not counted: what grows with the practice would not fit for long. Nothing is kept of what was
 * compiled either, for the first process alone would pay for that. And young objects get little room, which V8 would else give more of the longer a
 * process runs: some 20 MB between two equal reads.
 */
const env = { NODE_OPTIONS: '--max-old-space-size=40 --max-semi-space-size=2', NODE_DISABLE_COMPILE_CACHE: '1' }

type Cleanup = { after(work: () => void | Promise<void>): void }

/** One cycle of an agent as a process of its own, whose server takes everything and keeps nothing: what it sent, and the most memory it held. */
export async function measureFirstCycle(
  t: Cleanup,
  database: DatabaseSettings,
): Promise<{ records: number; peakMb: number; durationMs: number }> {
  const server = await startCountingServer(t)
  const config = writeTestConfig(temporaryFolder(t), server, database, { time_zone: 'America/New_York' })
  const startedAtMs = performance.now()
  const { process: agent, ended } = spawnAgent(['run', '--once', '--config', config], { env })
  let peakMb = 0
  // The kernel keeps the peak itself; only the last look before the end must not come too early.
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(agent.pid) ?? 0)
  }, 20)
  const { code, stdout, stderr } = await ended
  clearInterval(watch)
  if (code !== 0) throw new Error(`${stdout}${stderr}`)
  return { records: server.records(), peakMb, durationMs: Math.round(performance.now() - startedAtMs) }
}

function peakOf(pid: number | undefined): number | null {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 1024)
  } catch {
    return null
  }
}

async function startCountingServer(t: Cleanup) {
  let records = 0
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    let answer: object = {
      agent_id: '7',
      organization_id: '42',
      server_time: new Date().toISOString(),
      highest_number: null,
      epoch: 'e',
      time_zone: null,
      location_time_zones: [],
      notes: [],
      release: null,
      written_by_others: [],
      locations: [],
      not_confirmed: [],
    }
    if (request.url?.endsWith('/locations')) {
      const { locations } = JSON.parse(body) as { locations: { source_id: string }[] }
      answer = {
        locations: locations.map(({ source_id }, index) => ({ source_id, location_id: String(index + 1), name: '' })),
      }
    } else if (request.url?.endsWith('/records')) {
      records += body.split('\n').length - 1
      answer = { inserted: 0, changed: 0, unchanged: 0, hidden: 0 }
    } else if (request.url?.endsWith('/complete_lists')) answer = { list_id: '1' }
    else if (request.url?.endsWith('/slices')) answer = { unknown: [], different: [] }
    else if (request.url?.endsWith('/finish')) answer = { hidden: 0 }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.address() as AddressInfo
  const identity = { agentId: '7', agentKey: 'bwa_test', organizationId: '42' }
  return { url: `http://127.0.0.1:${port}`, ...identity, records: () => records }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()
}
