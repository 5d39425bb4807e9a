import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { StartCommand } from '../../../testing/test-start-command.ts'
import type { TestWorld } from '../../../testing/test-world.ts'

/**
 * What a server's event loop did: the longest stretch in which it served nobody and all that it worked, both in ms of the thread's own time, which
 * other programs do not change, and the most memory that the process had between two such stretches.
 */
export type ServerLoad = { stallMs: number; cpuMs: number; memoryMb: number }

/**
 * Starts another server on the world's database as a process. `secret`: the 32 bytes of the world's secret key. `descriptors`: how many files and
 * connections it may have open. `start`: with Node's and the C library's own memory, unless another is named.
 */
export async function startServerProcess(
  t: TestContext,
  world: TestWorld,
  secret: Buffer,
  { leaseMs = 20_000, start = ownDefaults, descriptors = 0 } = {},
) {
  const file = join(import.meta.dirname, 'test-server-process.ts')
  const limited = descriptors > 0 ? `ulimit -n ${descriptors}; ` : ''
  const args = [...start.flags, file, world.serverUrl, secret.toString('base64'), String(leaseMs)]
  const child = spawn('/bin/sh', ['-c', `${limited}exec "$0" "$@"`, process.execPath, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...start.env },
  })
  t.after(() => child.kill('SIGKILL'))
  const answer = async <T>(): Promise<T> => {
    const [given] = (await once(child, 'message')) as [T]
    return given
  }
  const port = await answer<number>()
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** The most memory that it ever had, in bytes. */
    peakMemory: () => {
      child.send('memory')
      return answer<number>()
    },
    /** Since this was last asked. */
    load: () => {
      child.send('load')
      return answer<ServerLoad>()
    },
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const ownDefaults: StartCommand = { flags: [], env: {} }
