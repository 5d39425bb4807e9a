// What an installed agent starts with: it runs the newest version that is installed and works. Bundled to launcher.mjs, beside the bundle of the
// agent that came with the package.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { agentVersion } from '../version.ts'
import { launch, type RunningAgent } from './launch.ts'
import { pinnedKey } from './pinned-key.ts'
import { openUpdates } from './updates.ts'

const args = process.argv.slice(2)
const packaged = { version: agentVersion, program: join(import.meta.dirname, 'bridgework-agent.js') }
const key = pinnedKey()
const dataDir = process.env.BRIDGEWORK_AGENT_DATA_DIR
const isService = args[0] === 'run' && !args.includes('--once')

if (key === null || dataDir === undefined || !isService) await import(pathToFileURL(packaged.program).href)
else {
  const stop = new AbortController()
  process.on('SIGTERM', () => stop.abort())
  // A terminal sends it to the agent, too.
  process.on('SIGINT', () => {})
  process.exitCode = await launch({
    packaged,
    updates: openUpdates(dataDir, key),
    start,
    sleep: async (ms, signal) => await wait(ms, undefined, { signal }).catch(() => {}),
    say: (text) => console.log(text),
    stop: stop.signal,
  })
}

function start(program: string): RunningAgent {
  // The channel tells the agent when we are gone, and us when it has reported.
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    windowsHide: true,
  })
  return {
    reported: new Promise((resolve) => child.on('message', (message) => message === 'reported' && resolve())),
    ended: new Promise((resolve) => {
      child.once('error', () => resolve(1))
      child.once('exit', (code) => resolve(code ?? 1))
    }),
    stop: () => child.kill('SIGTERM'),
    kill: () => child.kill('SIGKILL'),
  }
}
