import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TestWorld } from '../../test-world.ts'

/** Starts another server on the world's database as a process. `secret`: the 32 bytes of the world's secret key. */
export async function startServerProcess(
  t: TestContext,
  world: TestWorld,
  secret: Buffer,
  { leaseMs = 20_000, execArgv = [] as string[] } = {},
) {
  const file = join(import.meta.dirname, 'test-server-process.ts')
  const child = fork(file, [world.serverUrl, secret.toString('base64'), String(leaseMs)], { execArgv })
  t.after(() => child.kill('SIGKILL'))
  const ask = async (): Promise<number> => {
    const [answer] = (await once(child, 'message')) as [number]
    return answer
  }
  const port = await ask()
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** The most memory that it ever had, in bytes. */
    peakMemory: () => {
      child.send('memory')
      return ask()
    },
    /** The longest stretch in which its event loop served nobody since this was last asked, in ms of the thread's own time. */
    longestStall: () => {
      child.send('stall')
      return ask()
    },
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
