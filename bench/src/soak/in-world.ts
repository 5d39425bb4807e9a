import { createWorld, type World } from '../world/practice.ts'
import { createThrowAwayServer } from '../world/throw-away-server.ts'

/** Runs `work` with a server of its own, and removes everything afterwards, also on Ctrl-C. */
export async function inWorld<T>(options: { locations: number }, work: (world: World) => Promise<T>): Promise<T> {
  const server = await createThrowAwayServer()
  const interrupt = () => void server.remove().then(() => process.exit(130))
  for (const signal of signals) process.once(signal, interrupt)
  try {
    await server.start()
    return await work(await createWorld(server, options))
  } finally {
    for (const signal of signals) process.off(signal, interrupt)
    await server.remove()
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const
