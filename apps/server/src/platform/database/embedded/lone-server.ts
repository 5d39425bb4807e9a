// A process that does nothing but run a data directory's Postgres, for tests that kill it: lone-server.ts <data dir> <copy root>.
// Writes one line of JSON: the addresses, or the refusal.

import { DatabaseStartError } from '../start-error.ts'
import { startEmbeddedPostgres } from './embedded-postgres.ts'

const [dataDir = '', copyRoot = ''] = process.argv.slice(2)
try {
  const { stop, ...urls } = await startEmbeddedPostgres({ dataDir, copyRoot, log: () => {} })
  console.log(JSON.stringify(urls))
  const alive = setInterval(() => {}, 1_000)
  process.once('SIGTERM', async () => {
    await stop()
    clearInterval(alive)
  })
} catch (error) {
  if (!(error instanceof DatabaseStartError)) throw error
  console.log(JSON.stringify({ refusal: error.message }))
}
