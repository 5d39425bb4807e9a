import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { vendorApiPath } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { SecretKey } from '../access/secret.ts'
import type { Config } from '../config.ts'
import { listLocations } from '../directory/location.ts'
import type { Log } from '../http/log-event.ts'
import { type Demo, ensureDemo, ensureGrants } from './demo.ts'
import { type Feeder, startFeeder } from './feeder-process.ts'
import { readSandboxFile, type SandboxFile, writeSandboxFile } from './sandbox-file.ts'

export type Sandbox = { file: SandboxFile; stop: () => Promise<void> }

const demoLocations = 3
const firstSyncMaxMs = 60_000

/**
 * Fills a listening server with a living demo practice, and writes sandbox.json. Each step looks what is there first, so a start that was
 * interrupted anywhere is taken up by the next one. The first start waits until the practice's data has arrived; later ones do not.
 */
export async function startSandbox(deps: {
  pool: Pool
  secretKey: SecretKey
  config: Config
  log: Log
}): Promise<Sandbox> {
  const { pool, secretKey, config, log } = deps
  const demo = await ensureDemo(pool, secretKey, readSandboxFile(config.dataDir))
  const stateDir = join(config.dataDir, 'sandbox')
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const isFirst = (await listLocations(pool, demo.organizationId)).length < demoLocations
  const feeder = startFeeder({ demo, serverUrl: `http://127.0.0.1:${config.port}`, stateDir, log })
  try {
    if (isFirst) await waitForData(feeder)
    const file = await sandboxFile(pool, demo, config)
    writeSandboxFile(config.dataDir, file)
    return { file, stop: feeder.stop }
  } catch (error) {
    await feeder.stop()
    throw error
  }
}

async function waitForData(feeder: Feeder): Promise<void> {
  const waiting = new AbortController()
  const tooLong = sleep(firstSyncMaxMs, 'too long', { signal: waiting.signal }).catch(() => undefined)
  const outcome = await Promise.race([feeder.synced, tooLong])
  waiting.abort()
  if (outcome === 'too long') throw new Error(`the demo practice did not arrive within ${firstSyncMaxMs / 1000} s`)
}

async function sandboxFile(pool: Pool, demo: Demo, config: Config): Promise<SandboxFile> {
  const { granted, ungranted } = await ensureGrants(pool, demo)
  return {
    base_url: `${config.publicUrl}${vendorApiPath}`,
    client_id: demo.clientId,
    client_secret: demo.clientSecret,
    organization_id: Number(demo.organizationId),
    granted_location_ids: granted.map(Number),
    ungranted_location_ids: ungranted.map(Number),
    agent_key: demo.agentKey,
  }
}

/** What a newcomer reads below the ready line: the first call, to be pasted. */
export function firstCall(file: SandboxFile, publicUrl: string): string {
  const body = JSON.stringify({ client_id: file.client_id, client_secret: file.client_secret })
  return `
Make the first call:

  TOKEN=$(curl -s ${file.base_url}/auth/token -H 'Content-Type: application/json' \\
    -d '${body}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

  curl -s '${file.base_url}/locations' -H "Authorization: Bearer $TOKEN"

  curl -s '${file.base_url}/locations/${file.granted_location_ids[0]}/insurance_plans?items=3' -H "Authorization: Bearer $TOKEN"

API reference: ${publicUrl}/docs     Guides: README.md and docs/
Credentials and ids: sandbox.json in the data directory. The demo practice changes every few seconds. Stop with Ctrl-C.
`
}
