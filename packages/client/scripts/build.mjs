// Compiles src to dist: ES modules for Node 20 and newer, with types. npm pack runs it.
import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(folder, 'dist')
rmSync(dist, { recursive: true, force: true })
const tsc = join(folder, '../../node_modules/.bin/tsc')
// Its messages are for people: npm pack --json has stdout for itself.
const run = spawnSync(tsc, ['-p', join(folder, 'tsconfig.build.json')], { stdio: ['ignore', 2, 2] })
if (run.status !== 0) process.exit(run.status ?? 1)
chmodSync(join(dist, 'command/main.js'), 0o755)
