import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export type LoadRequest = { url: string; headers: Record<string, string>; connections: number; seconds: number }

/** What a client process saw in one round: answers with full bodies, in a closed loop on each connection. */
export type LoadResult = { requests: number; requestsPerSecond: number; bytes: number }

export type LoadClient = { name: 'wrk' | 'node'; run: (request: LoadRequest) => Promise<LoadResult> }

/** wrk where it is installed, else a client of ours in a process of its own: slower, so that its own cost weighs on both sides. */
export async function findLoadClient(): Promise<LoadClient> {
  const version = await execute('wrk', ['-v']).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }))
  return version.stdout.startsWith('wrk') ? { name: 'wrk', run: runWrk } : { name: 'node', run: runNode }
}

async function runWrk({ url, headers, connections, seconds }: LoadRequest): Promise<LoadResult> {
  const headerArguments = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const { stdout } = await execute('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    ...headerArguments,
    url,
  ])
  const failure = /Non-2xx or 3xx responses: \d+|Socket errors: .*[1-9].*/.exec(stdout)?.[0]
  if (failure !== undefined) throw new Error(`${url}: ${failure}`)
  const [, requests, elapsed, unit, bytes, bytesUnit] =
    /(\d+) requests in ([\d.]+)(s|m), ([\d.]+)([KMG]?B) read/.exec(stdout) ?? []
  const perSecond = /Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]
  if (!requests || !elapsed || !perSecond || !bytes || !bytesUnit || !unit) throw new Error(`wrk said: ${stdout}`)
  return {
    requests: Number(requests),
    requestsPerSecond: Number(perSecond),
    bytes: Number(bytes) * (bytesUnits[bytesUnit] ?? 1),
  }
}

/** Exported for its test: where wrk is installed, nothing else would run it. */
export async function runNode(request: LoadRequest): Promise<LoadResult> {
  const program = new URL('./node-client.ts', import.meta.url).pathname
  const { stdout } = await execute(process.execPath, [program, JSON.stringify(request)])
  return JSON.parse(stdout)
}

const execute = promisify(execFile)
const bytesUnits: Record<string, number> = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 }
