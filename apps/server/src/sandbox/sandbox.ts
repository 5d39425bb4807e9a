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
import type { DemoPractices } from '../modules/faults/drive.ts'
import { createAuth } from '../modules/sign-in/auth.ts'
import { makeFolder } from '../platform/database/make-folder.ts'
import type { Log } from '../platform/log/log-event.ts'
import { type Demo, ensureDemo, ensureGrants, refuseOtherDemo } from './demo.ts'
import { ensureDemoPeople } from './demo-people.ts'
import { createDemoPractices } from './demo-practices.ts'
import { type Feeder, startFeeder } from './feeder-process.ts'
import { readSandboxFile, type SandboxFile, writeSandboxFile } from './sandbox-file.ts'
import { surviveOutage } from './survive-outage.ts'
import { startVendorPractices } from './vendor-practices.ts'

/** `onSignUp`: to be called when a vendor has signed up, so that it gets a practice of its own. */
export type Sandbox = { file: SandboxFile; onSignUp: () => void; practices: DemoPractices; stop: () => Promise<void> }

const demoLocations = 3
/** Seconds on a quiet machine. A busy one is a reason to wait, and not to fail. */
const firstSyncMaxMs = 5 * 60_000

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
  const { address, pool, config, log, signal } = deps
  const survive = <T>(work: () => Promise<T>) => surviveOutage(work, signal)
  const { demo, signIns } = await setUpDemo(deps)
  const stateDir = join(config.dataDir, 'sandbox')
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const isWhole = await survive(() => hasWholePractice(pool, demo))
  const feeder = startFeeder({ demo, serverUrl: localUrl(address), stateDir, log })
  try {
    if (!isWhole) await waitForData(feeder, signal)
    const file = await survive(() => sandboxFile(pool, demo, signIns, config))
    writeSandboxFile(config.dataDir, file)
    const practices = startVendorPractices({ ...deps, feeder, stateDir })
    return {
      file,
      onSignUp: practices.wake,
      practices: createDemoPractices({ pool, demo, feeder, vendors: practices }),
      stop: async () => void (await Promise.all([practices.stop(), feeder.stop()])),
    }
  } catch (error) {
    await feeder.stop()
    throw error
  }
}

/**
 * The demo of this data directory with its people. A database that is slow or goes away meanwhile is waited for; one that holds the demo of
 * another data directory is refused with a DatabaseStartError.
 */
export async function setUpDemo(deps: {
  pool: Pool
  secretKey: SecretKey
  config: Pick<Config, 'dataDir' | 'database' | 'publicUrl'>
  signal: AbortSignal
}): Promise<{ demo: Demo; signIns: SandboxFile['portal_sign_ins'] }> {
  const { pool, secretKey, config, signal } = deps
  const known = readSandboxFile(config.dataDir)
  // The embedded database belongs to the data directory, and so does its demo.
  if (config.database.kind === 'server') {
    await surviveOutage(() => refuseOtherDemo(pool, secretKey, known, config.dataDir), signal)
  }
  const demo = await surviveOutage(() => ensureDemo(pool, secretKey, known), signal)
  // At once: a start that is killed from here on is taken up by the next one with the same credentials.
  makeFolder(config.dataDir, 0o700)
  const { clientId: client_id, clientSecret: client_secret, agentKey: agent_key } = demo
  writeSandboxFile(config.dataDir, { ...known, client_id, client_secret, agent_key })
  const auth = createAuth({ pool, secretKey, publicUrl: config.publicUrl })
  const signIns = await surviveOutage(() => ensureDemoPeople(pool, auth, demo, known), signal)
  return { demo, signIns }
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
    throw new Error(
      `The data of the demo practice did not arrive within ${firstSyncMaxMs / 60_000} minutes. Start again: what has arrived is kept.`,
    )
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

/**
 * Printed below the ready line: the sign-ins, and the first call as commands to paste. The key pair comes from `sandbox.json`, so that the secret is
 * on no command line and in no history.
 */
export function firstCall(file: SandboxFile, { publicUrl, dataDir }: Pick<Config, 'publicUrl' | 'dataDir'>): string {
  const path = join(dataDir, 'sandbox.json').replaceAll("'", "'\\''")
  const width = Math.max(...file.portal_sign_ins.map(({ email }) => email.length))
  const signIns = file.portal_sign_ins
    .filter(({ role }) => !/admin|member/.test(role))
    .map(({ role, email, password }) => `${role.padEnd(14)}  ${email.padEnd(width)}  ${password}`)
  return `
Sign in at ${publicUrl}

${signIns.join('\n')}

${file.client_secret === null ? regenerated(path) : tokenAndCall(file, path)}

API reference: ${publicUrl}/docs     Guides: ${publicUrl}/guides
All credentials and ids: sandbox.json in the data directory     Mails: ${publicUrl}/mail
The demo practice changes every few seconds. Press Ctrl-C to stop.
`
}

function tokenAndCall(file: SandboxFile, path: string): string {
  return `Make the first call:

  TOKEN=$(grep -o '"client_[a-z]*": "[^"]*"' '${path}' | paste -sd, - | sed 's/.*/{&}/' | \\
    curl -s ${file.base_url}/auth/token -H 'Content-Type: application/json' -d @- | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

  get() { printf 'Authorization: Bearer %s' "$TOKEN" | curl -s -H @- "${file.base_url}$1"; }

  get /locations

  get '/locations/${file.granted_location_ids[0] ?? '<location id>'}/insurance_plans?items=3'`
}

function regenerated(path: string): string {
  return `The demo vendor's key pair was regenerated in the portal. To use it with the commands of the guides, put its secret
as "client_secret" into '${path}'.`
}
