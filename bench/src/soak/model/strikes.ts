import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@bridgework/practice-simulator'
import { killIfThere } from '../kills/kill-postgres.ts'
import { persist } from './waiting.ts'
import type { World } from './world.ts'

export type Strikes = { stop: () => Promise<void>; counts: Record<StrikeName, number> }
type StrikeName = 'server' | 'backend' | 'postmaster' | 'postgres' | 'clock'

/** What clocks jump to: within what a token bears, and beyond. */
const jumps = [
  -26 * 3_600_000,
  -2 * 3_600_000,
  -200_000,
  -20_000,
  0,
  0,
  20_000,
  200_000,
  5.9 * 3_600_000,
  26 * 3_600_000,
]

/** Kills a server, a backend, the postmaster or all of PostgreSQL, or sets the clock of a server, about every `everyMs`, until it is stopped. */
export function startStrikes(world: World, random: Random, everyMs: number): Strikes {
  const counts = { server: 0, backend: 0, postmaster: 0, postgres: 0, clock: 0 }
  const { service } = world
  const strikes: Record<StrikeName, () => Promise<void>> = {
    async server() {
      const server = random.pick(service.servers)
      await server.kill()
      await sleep(random.whole(0, 300))
      await server.start()
    },
    async backend() {
      const { rows } = await persist(world, () =>
        world.ownerPool.query<{ pid: number }>(
          `select pid from pg_stat_activity where application_name like 'bridgework server%' order by random() limit 1`,
        ),
      )
      if (rows[0]) killIfThere(rows[0].pid)
    },
    async postmaster() {
      const pid = service.postmasterPid()
      if (pid !== null) killIfThere(pid)
    },
    async postgres() {
      for (const pid of service.postgresPids()) killIfThere(pid)
    },
    clock: async () => random.pick(service.servers).setClock(random.pick(jumps)),
  }
  const names: StrikeName[] = [
    'server',
    'server',
    'backend',
    'backend',
    'postmaster',
    'postgres',
    'clock',
    'clock',
    'clock',
  ]
  const stopping = new AbortController()
  const run = async () => {
    for (;;) {
      await sleep(everyMs * (0.3 + 1.4 * random.next()), undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      const name = random.pick(names)
      await strikes[name]()
      counts[name] += 1
    }
  }
  const running = run()
  // Told at `stop`.
  running.catch(() => {})
  return {
    counts,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
