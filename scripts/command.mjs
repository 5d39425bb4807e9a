// Runs one of our programs as a command of npm: node [flags] scripts/command.mjs <program> [arguments]. However it ends, and however npm does,
// nothing that it started goes on: a guard beside it sees to that (docs/decisions/commands-end.md). In package.json each command has `exec`
// before it, so that no shell stands between npm and the program.
// Plain JavaScript without dependencies, for Node 20 and newer: it also runs the set-up.
import { spawn } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { readlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const guard = spawn(
  process.execPath,
  [
    join(dirname(fileURLToPath(import.meta.url)), 'command-guard.mjs'),
    String(process.pid),
    String(isOrphan() ? 0 : process.ppid),
  ],
  // In a session of its own: what ends our group must not end it, too. Its input ends when we do.
  { cwd: '/', detached: true, env: { PATH: process.env.PATH }, stdio: ['pipe', 'ignore', 'ignore'] },
)
// A machine that starts no further process says so to the program as well.
guard.on('error', () => {})
guard.unref()
guard.stdin.unref()
// Told at once, because of a child whose parent is gone before the guard looks, it could not be known whose it was.
guard.stdin.on('error', () => {})
subscribe('child_process', ({ process: child }) =>
  // Published before it is started.
  process.nextTick(() => child.pid !== undefined && guard.stdin.write(`${child.pid}\n`)),
)

// As if Node had started the program itself.
process.argv.splice(1, 1)
process.argv[1] = resolve(process.argv[1])
await import(pathToFileURL(process.argv[1]).href)

/** Whether npm ended before this line: our parent is then whoever adopts orphans, and that is not the Node which npm says it runs on. */
function isOrphan() {
  const { npm_node_execpath: nodeOfNpm } = process.env
  if (nodeOfNpm === undefined || process.platform !== 'linux') return false
  try {
    return readlinkSync(`/proc/${process.ppid}/exe`) !== nodeOfNpm
  } catch {
    // Another account's, or gone in between.
    return true
  }
}
