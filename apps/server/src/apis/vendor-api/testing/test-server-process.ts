import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { datasetNames } from '@bridgework/contract'
import { buildApp } from '../../../app.ts'
import { openKeyRing } from '../../../modules/credentials/key-ring.ts'
import { createSecretKey } from '../../../modules/credentials/secret.ts'
import { createSeenStamps } from '../../../modules/datasets/seen-stamps.ts'
import { smallReadConnections } from '../../../modules/disclosure/small-read.ts'
import { createDisclosureWriter } from '../../../modules/disclosure/writer.ts'
import { createSyncSlots } from '../../../modules/throttle/sync-slots.ts'
import { createTokenLimit } from '../../../modules/throttle/token-limit.ts'
import { createUsageRecorder } from '../../../modules/usage/recorder.ts'
import { createPool } from '../../../platform/database/pool.ts'
import { connectionsWithin } from '../../../platform/http/connections.ts'
import { createLoadWatch } from '../../../platform/memory/load-watch.ts'

// A whole server in a process of its own, for tests that kill it or measure it: node test-server-process.ts <database> <secret in base64> <lease
// of slots in ms>. Tells its parent the port; answers the message `memory` with the most memory that it ever had, in bytes, and `load` with what
// its event loop did since that was last asked.
const [url = '', secret = '', leaseMs = ''] = process.argv.slice(2)
const log = () => {}
const now = () => new Date()
const pool = createPool(url, { max: 10, log, applicationName: 'test server' })
const controlPool = createPool(url, { max: 5, log, applicationName: 'test server: control' })
const smallReadPool = createPool(url, { ...smallReadConnections, log, applicationName: 'test server: deltas' })
const secretKey = createSecretKey(Buffer.from(secret, 'base64'))
const slots = createSyncSlots({
  pool: controlPool,
  processId: randomUUID(),
  limits: { initial: 5, incremental: 25 },
  leaseMs: Number(leaseMs),
  renewMs: Number(leaseMs) / 4,
  log,
})
slots.start()
const app = await buildApp({
  environment: 'sandbox',
  pool,
  controlPool,
  smallReadPool,
  secretKey,
  keys: await openKeyRing({ pool: controlPool, secretKey, log }),
  tokenLimit: createTokenLimit({ pool: controlPool, log }),
  slots,
  disclosures: createDisclosureWriter({ pool: controlPool, log }),
  load: createLoadWatch(),
  http: { connectionsMax: connectionsWithin(15) },
  usage: createUsageRecorder({ pool, log, now }),
  seenStamps: createSeenStamps(),
  publicUrl: 'http://localhost',
  trustedProxies: [],
  mailDir: null,
  previewDatasets: new Set(datasetNames),
  now,
  log,
})
await app.listen({ host: '127.0.0.1', port: 0 })
const usedMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
const megabytes = () => process.memoryUsage.rss() / 2 ** 20
const begin = () => ({ atMs: usedMs(), seenMs: usedMs(), stallMs: 0, memoryMb: megabytes() })
let load = begin()
setInterval(() => {
  const now = usedMs()
  load.stallMs = Math.max(load.stallMs, now - load.seenMs)
  load.seenMs = now
  load.memoryMb = Math.max(load.memoryMb, megabytes())
}, 1)
process.on('message', (question: 'memory' | 'load') => {
  if (question === 'memory') return void process.send?.(process.resourceUsage().maxRSS * 1024)
  const { atMs, stallMs, memoryMb } = load
  process.send?.({ stallMs, memoryMb, cpuMs: usedMs() - atMs })
  load = begin()
})
process.on('disconnect', () => process.exit())
process.send?.((app.server.address() as AddressInfo).port)
