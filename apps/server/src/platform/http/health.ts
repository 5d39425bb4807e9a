import { releaseVersion } from '@bridgework/contract/release'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { findNewestMigration } from '../database/migrate.ts'

const clockDifferenceMaxMs = 5000

/** Liveness and readiness, for the monitoring of the process. */
export function registerHealth(app: FastifyInstance, deps: { pool: Pool; now: () => Date }): void {
  const config = { isAlwaysServed: true }
  app.get('/healthz', { config }, async () => ({ status: 'ok', version: releaseVersion }))

  app.get('/readyz', { config }, async (_request, reply) => {
    const problem = await findProblem(deps.pool, deps.now)
    if (problem === null) return { status: 'ready' }
    return reply.code(503).header('Retry-After', '2').send({ status: 'not ready', because: problem })
  })
}

/** The migrations were done before the server listened: what can go wrong since is the database, or one of the two clocks. */
async function findProblem(pool: Pool, now: () => Date): Promise<string | null> {
  try {
    const migration = await findNewestMigration(pool)
    if (!migration) return 'the database is not migrated'
    const isClose = Math.abs(migration.clock.getTime() - now().getTime()) <= clockDifferenceMaxMs
    return isClose ? null : 'the clocks of this server and of the database differ by more than 5 s'
  } catch {
    return 'the database is not reachable'
  }
}
