// Mirrors without end, until it is killed. Arguments: kind of store, its target, base URL. Says `round` on stdout after each round.
import { setTimeout as sleep } from 'node:timers/promises'
import { Bridgework } from '../../bridgework.ts'
import { fileTokenStore } from '../../tokens/file-token-store.ts'
import { openStore, type StoreKind } from './test-mirror.ts'

const [, , kind = '', target = '', baseUrl = '', tokens = ''] = process.argv
const client = new Bridgework({
  baseUrl,
  clientId: process.env.BRIDGEWORK_CLIENT_ID ?? '',
  clientSecret: process.env.BRIDGEWORK_CLIENT_SECRET ?? '',
  tokenStore: fileTokenStore(tokens),
  retry: { attempts: 100, delayMaxMs: 20 },
  timeoutMs: 5_000,
})
const store = await openStore(kind as StoreKind, target)
for (;;) {
  const report = await client.sync({ store, pageSize: 200 })
  process.stdout.write(report.failed.length === 0 ? 'round\n' : `failed ${report.failed[0]?.error.message}\n`)
  // Without a pause rounds that find nothing would take what the rest of a test needs.
  await sleep(500)
}
