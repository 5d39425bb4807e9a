import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../platform/database/testing/test-database.ts'
import { freePort } from '../../testing/test-port.ts'
import { someNewcomer } from './test-newcomer.ts'

/** An installation in production on a database of the test's own: starts any number of its processes, each as `npm start` does. */
export async function someProduction(
  t: TestContext,
  given: { database?: Pick<TestDatabase, 'url' | 'serverUrl'>; secret?: Buffer } = {},
) {
  const database = given.database ?? (await createTestDatabase(t))
  const { start, dataDir } = await someNewcomer(t, { port: 1 })
  mkdirSync(dataDir, { recursive: true })
  const secretKeyFile = join(dataDir, 'secret.key')
  writeFileSync(secretKeyFile, (given.secret ?? randomBytes(32)).toString('base64'), { mode: 0o600 })

  const settingsOf = (port: number): NodeJS.ProcessEnv => ({
    BRIDGEWORK_ENVIRONMENT: 'production',
    BRIDGEWORK_HOST: '127.0.0.1',
    BRIDGEWORK_PORT: String(port),
    BRIDGEWORK_PUBLIC_URL: 'https://api.example.com',
    BRIDGEWORK_TRUSTED_PROXIES: '127.0.0.1',
    BRIDGEWORK_SECRET_KEY_FILE: secretKeyFile,
    DATABASE_URL: database.serverUrl,
    BRIDGEWORK_MIGRATION_DATABASE_URL: database.url,
  })
  const startProcess = async (settings: NodeJS.ProcessEnv = {}, { descriptors = 0 } = {}) => {
    const port = await freePort()
    const beganAtMs = performance.now()
    const server = start({ ...settingsOf(port), ...settings }, 'main.ts', [], descriptors)
    while (!server.stdout().includes('is ready')) {
      if (performance.now() - beganAtMs > 60_000) throw new Error(`It is not ready after 60 s: ${server.stderr()}`)
      const ended = await Promise.race([server.ended, sleep(20)])
      if (ended) throw new Error(`It ended: ${ended.stderr}`)
    }
    return { ...server, port, startedInMs: performance.now() - beganAtMs }
  }
  /** A command of the operator, in a process of its own. */
  const startOperator = (...args: string[]) => start(settingsOf(1), 'apis/operator/main.ts', args)
  return { startProcess, startOperator, dataDir, secretKeyFile }
}
