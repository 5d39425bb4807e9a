import { mkdirSync } from 'node:fs'
import { type AddressInfo, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { vendorApiPath } from '@bridgework/contract'
import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { SecretKey } from '../modules/credentials/secret.ts'
import { areInitiallySynced } from '../modules/datasets/dataset-state.ts'
import { listLocations } from '../modules/directory/location.ts'
import { createAuth } from '../modules/sign-in/auth.ts'
import type { Log } from '../platform/log/log-event.ts'
import { type Demo, ensureDemo, ensureGrants } from './demo.ts'
import { ensureDemoPeople } from './demo-people.ts'
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
  /** Where the server listens. */
  address: AddressInfo
  pool: Pool
  secretKey: SecretKey
  config: Config
  log: Log
  /** Ends the wait for the practice's data. */
  signal: AbortSignal
}): Promise<Sandbox> {
  const { address, pool, secretKey, config, log, signal } = deps
  const known = readSandboxFile(config.dataDir)
  const demo = await ensureDemo(pool, secretKey, known)
  const signIns = await ensureDemoPeople(
    pool,
    createAuth({ pool, secretKey, publicUrl: config.publicUrl }),
    demo,
    known,
  )
  const stateDir = join(config.dataDir, 'sandbox')
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const isWhole = await hasWholePractice(pool, demo)
  const feeder = startFeeder({ demo, serverUrl: localUrl(address), stateDir, log })
  try {
    if (!isWhole) await waitForData(feeder, signal)
    const file = await sandboxFile(pool, demo, signIns, config)
    writeSandboxFile(config.dataDir, file)
    return { file, stop: feeder.stop }
  } catch (error) {
    await feeder.stop()
    throw error
  }
}

/** Also false after a first start that was interrupted while the data was on its way. */
async function hasWholePractice(pool: Pool, demo: Demo): Promise<boolean> {
  const ids = (await listLocations(pool, demo.organizationId)).map((location) => location.id)
  return ids.length >= demoLocations && (await areInitiallySynced(pool, ids))
}

/** The listening server's own address, as its own machine reaches it. */
export function localUrl({ address, port }: AddressInfo): string {
  if (address === '0.0.0.0') return `http://127.0.0.1:${port}`
  if (address === '::') return `http://[::1]:${port}`
  return isIPv6(address) ? `http://[${address}]:${port}` : `http://${address}:${port}`
}

async function waitForData(feeder: Feeder, stopping: AbortSignal): Promise<void> {
  const waiting = new AbortController()
  const signal = AbortSignal.any([waiting.signal, stopping])
  const tooLong = sleep(firstSyncMaxMs, 'too long', { signal }).catch(() => undefined)
  const outcome = await Promise.race([feeder.synced, tooLong])
  waiting.abort()
  if (stopping.aborted) throw new Error('The server was stopped before the data of the demo practice had arrived.')
  if (outcome === 'too long')
    throw new Error(`The data of the demo practice did not arrive within ${firstSyncMaxMs / 1000} s.`)
}

async function sandboxFile(
  pool: Pool,
  demo: Demo,
  signIns: SandboxFile['portal_sign_ins'],
  config: Config,
): Promise<SandboxFile> {
  const { granted, ungranted } = await ensureGrants(pool, demo)
  return {
    base_url: `${config.publicUrl}${vendorApiPath}`,
    client_id: demo.clientId,
    client_secret: demo.clientSecret,
    organization_id: Number(demo.organizationId),
    granted_location_ids: granted.map(Number),
    ungranted_location_ids: ungranted.map(Number),
    agent_key: demo.agentKey,
    portal_sign_ins: signIns,
  }
}

/** Printed below the ready line: the sign-ins, and the first call as commands to paste. */
export function firstCall(file: SandboxFile, publicUrl: string): string {
  const body = JSON.stringify({ client_id: file.client_id, client_secret: file.client_secret })
  const width = Math.max(...file.portal_sign_ins.map(({ email }) => email.length))
  const signIns = file.portal_sign_ins
    .filter(({ role }) => !/admin|member/.test(role))
    .map(({ role, email, password }) => `${role.padEnd(14)}  ${email.padEnd(width)}  ${password}`)
  return `
Sign in at ${publicUrl}

${signIns.join('\n')}

Make the first call:

  TOKEN=$(curl -s ${file.base_url}/auth/token -H 'Content-Type: application/json' \\
    -d '${body}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

  curl -s '${file.base_url}/locations' -H "Authorization: Bearer $TOKEN"

  curl -s '${file.base_url}/locations/${file.granted_location_ids[0] ?? '<location id>'}/insurance_plans?items=3' -H "Authorization: Bearer $TOKEN"

API reference: ${publicUrl}/docs     Guides: README.md and docs/
All credentials and ids: sandbox.json in the data directory     Mails: ${publicUrl}/mail
The demo practice changes every few seconds. Press Ctrl-C to stop.
`
}
