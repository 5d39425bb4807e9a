import assert from 'node:assert/strict'
import { medianOf } from '../../measure.ts'
import { inWorld } from '../in-world.ts'
import type { RowOptions } from '../row.ts'
import { ingestUnderKills } from './ingest-under-kills.ts'

/** F01: SIGKILL of the server process; its Postgres lives on and is taken over by the next start, which must be quick. */
export async function killServer(options: RowOptions, { readyWithinMs = 2_000 } = {}): Promise<string> {
  return inWorld({ locations: 1 }, async (world) => {
    const startsMs: number[] = []
    const record = await ingestUnderKills(world, options, async () => {
      await world.server.kill()
      startsMs.push(await world.server.start())
    })
    // Of many starts some fall into a moment in which the machine is busy with something else.
    const usual = Math.round(medianOf(startsMs) ?? 0)
    assert.ok(usual < readyWithinMs, `a start takes ${usual} ms`)
    return `${startsMs.length} kills, ${record.acknowledged.length} uploads acknowledged, ${record.broken} connections broken, ready again in ${usual} ms, at most ${Math.round(Math.max(...startsMs))} ms`
  })
}
