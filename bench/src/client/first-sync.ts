import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cpuClock, endedCpuTimeMs } from '../cpu-time.ts'
import type { World } from '../world/practice.ts'

const command = join(import.meta.dirname, '../../../packages/client/src/command/main.ts')

/** The client's command copies all that the vendor may read into a new SQLite file. Throws when it is not so many records. */
export async function firstSync(
  { server, vendor }: World,
  records: number,
): Promise<{ wallMs: number; clientCpuMs: number; serviceCpuMs: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-bench-sync-'))
  try {
    const service = cpuClock(() => [server.pid()], server)
    const before = { client: endedCpuTimeMs(process.pid), service: service() ?? 0, at: performance.now() }
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [command, 'mirror', '--to', `sqlite:${join(folder, 'copy')}`, '--json'],
      {
        env: {
          HOME: folder,
          BRIDGEWORK_BASE_URL: server.vendorUrl,
          BRIDGEWORK_CLIENT_ID: vendor.clientId,
          BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
        },
      },
    )
    const copied = Number(JSON.parse(stdout).records)
    if (copied !== records) throw new Error(`the client copied ${copied} of ${records} records`)
    return {
      wallMs: performance.now() - before.at,
      clientCpuMs: endedCpuTimeMs(process.pid) - before.client,
      serviceCpuMs: (service() ?? 0) - before.service,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
