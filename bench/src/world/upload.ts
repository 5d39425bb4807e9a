import { gzipSync } from 'node:zlib'
import type { World } from './practice.ts'

/** A record as an agent sends it. */
export type SourceLine = { source_id: string; attributes: Record<string, unknown> }

/** An upload's body, gzipped: made once, because it may be sent again. */
export function packLines(lines: readonly SourceLine[]): Buffer<ArrayBuffer> {
  return gzipSync(lines.map((line) => JSON.stringify(line)).join('\n'), { level: 1 })
}

/** Sends an upload as the practice's agent does. Rejects when the connection breaks. */
export async function sendUpload(
  world: World,
  upload: { locationId: string; dataset: string; number: number; body: Buffer<ArrayBuffer> },
): Promise<{ status: number; retryAfter: string | null; text: string }> {
  const { agentId, agentKey } = world.agent
  const path = `/ingest/v1/locations/${upload.locationId}/${upload.dataset}/records`
  const answer = await fetch(`${world.server.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${agentKey}`,
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      'idempotency-key': `${agentId}-${upload.number}`,
    },
    body: upload.body,
    signal: AbortSignal.timeout(30_000),
  })
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() }
}

/**
 * A lifelike plan: the same number gives the same plan, another version another name. Its members have the contract's order, as an agent sends
 * them.
 */
export function planLine(number: number, version = 1): SourceLine {
  const carrier = number % carriers
  return {
    source_id: String(number),
    attributes: {
      plan_name: version === 1 ? `Acme Manufacturing ${number}` : `Acme Manufacturing ${number} (${version})`,
      group_number: `GRP-${number % 9973}`,
      carrier_name: `Example Dental Insurance ${carrier}`,
      is_hidden: number % 50 === 0,
      payer_id: String(10_000 + carrier),
      employer_name: `Acme Works ${number % 997}`,
      plan_type: planTypes[number % planTypes.length],
      renewal_month: 1 + (number % 12),
      fee_schedule_source_id: String(1 + (number % feeSchedules)),
    },
  }
}

/** The schedules that the plans name. */
export function feeScheduleLines(): SourceLine[] {
  return Array.from({ length: feeSchedules }, (_, index) => ({
    source_id: String(index + 1),
    attributes: {
      name: `Standard fees ${index + 1}`,
      schedule_type: 'standard',
      is_global: false,
      is_hidden: false,
      fees: [],
    },
  }))
}

const planTypes = ['percentage', 'ppo', 'flat_copay', 'capitation']
const carriers = 200
const feeSchedules = 20
