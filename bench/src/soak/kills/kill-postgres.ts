import assert from 'node:assert/strict'
import { runSql, type World } from '../../world/practice.ts'
import { inWorld } from '../in-world.ts'
import type { RowOptions } from '../row.ts'
import { ingestUnderKills } from './ingest-under-kills.ts'

const healedWithinMs = 5_000

/** F02: SIGKILL of Postgres, in turn of the postmaster alone and of all its processes. */
export function killPostgres(options: RowOptions): Promise<string> {
  return strike(options, async ({ server }, number) => {
    const pids = number % 2 === 1 ? [server.postmasterPid()] : server.postgresPids()
    for (const pid of pids) killIfThere(pid)
  })
}

/** F03: SIGKILL of one of the server's backends, on which Postgres ends all the others and recovers. */
export function killBackend(options: RowOptions): Promise<string> {
  return strike(options, async ({ adminUrl }) => {
    const [backend] = await runSql<{ pid: number }>(
      adminUrl,
      `select pid from pg_stat_activity where application_name = 'bridgework server' order by random() limit 1`,
    )
    assert.ok(backend, 'the server has no backend')
    killIfThere(backend.pid)
  })
}

function strike(options: RowOptions, kill: (world: World, number: number) => Promise<void>): Promise<string> {
  return inWorld({ locations: 1 }, async (world) => {
    const serverPid = world.server.pid()
    const record = await ingestUnderKills(world, options, async (number) => {
      await kill(world, number)
      await untilHealed(world)
    })
    const longest = Math.max(0, ...record.outagesMs)
    assert.ok(longest < healedWithinMs, `uploads were refused for ${Math.round(longest)} ms`)
    assert.equal(record.broken, 0, 'the server left a caller without an answer')
    assert.equal(world.server.pid(), serverPid)
    return `${options.kills} kills, ${record.acknowledged.length} uploads acknowledged, ${record.refusals} tries refused with 503, longest outage ${Math.round(longest)} ms`
  })
}

/** Until the database has noticed, recovered, and answers again through the server: seen twice, half a second apart. */
export async function untilHealed(world: World): Promise<void> {
  const until = performance.now() + 30_000
  for (let good = 0; good < 2; ) {
    if (performance.now() > until) throw new Error('the server is not ready 30 s after the kill')
    await new Promise((resolve) => setTimeout(resolve, 250))
    const answer = await fetch(`${world.server.url}/readyz`)
    await answer.arrayBuffer()
    good = answer.ok ? good + 1 : 0
  }
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}
