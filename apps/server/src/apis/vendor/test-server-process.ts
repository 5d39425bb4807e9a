import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { datasetNames } from '@bridgework/contract'
import { buildApp } from '../../app.ts'
import { openKeyRing } from '../../modules/credentials/key-ring.ts'
import { createSecretKey } from '../../modules/credentials/secret.ts'
import { createDisclosureWriter } from '../../modules/disclosure/writer.ts'
import { createSyncSlots } from '../../modules/throttle/sync-slots.ts'
import { createTokenLimit } from '../../modules/throttle/token-limit.ts'
import { createUsageRecorder } from '../../modules/usage/recorder.ts'
import { createPool } from '../../platform/database/pool.ts'

// A whole server in a process of its own, for tests that kill it or measure its memory: node test-server-process.ts <database> <secret in
// base64> <lease of slots in ms>. Tells its parent the port; answers the message `memory` with the most memory that it ever had, in bytes, and
// `stall` with the longest stretch in which its event loop served nobody, in ms of the thread's own time, since that was last asked.
const [url = '', secret = '', leaseMs = ''] = process.argv.slice(2)
const log = () => {}
const now = () => new Date()
const pool = createPool(url, { max: 10, log, applicationName: 'test server' })
const secretKey = createSecretKey(Buffer.from(secret, 'base64'))
const slots = createSyncSlots({
  pool,
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
  secretKey,
  keys: await openKeyRing({ pool, secretKey, log }),
  tokenLimit: createTokenLimit({ pool }),
  slots,
  disclosures: createDisclosureWriter({ pool, log }),
  usage: createUsageRecorder({ pool, log, now }),
  publicUrl: 'http://localhost',
  trustedProxies: [],
  mailDir: null,
  previewDatasets: new Set(datasetNames),
  now,
  log,
})
await app.listen({ host: '127.0.0.1', port: 0 })
let stallMs = 0
let usedMicros = 0
setInterval(() => {
  const { user, system } = process.threadCpuUsage()
  stallMs = Math.max(stallMs, (user + system - usedMicros) / 1000)
  usedMicros = user + system
}, 1)
process.on('message', (question) => {
  process.send?.(question === 'stall' ? stallMs : process.resourceUsage().maxRSS * 1024)
  if (question === 'stall') stallMs = 0
})
process.on('disconnect', () => process.exit())
process.send?.((app.server.address() as AddressInfo).port)
