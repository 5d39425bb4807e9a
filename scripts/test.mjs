// Runs the tests: npm test, or npm test -- <files, folders or options of node --test>.
// Plain JavaScript: a machine whose own Node is older starts this file, and it starts the rest with the pinned Node.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const node = join(root, 'node_modules/.bin/node')
if (!existsSync(node)) {
  console.error('The pinned Node is not installed. Run: node scripts/setup.mjs test')
  process.exit(1)
}
const child = spawn(node, [join(root, 'scripts/test-world.ts'), ...process.argv.slice(2)], { stdio: 'inherit' })
// The world ends itself on these; this process must wait for it to clean up. Ctrl-C in a terminal reaches it directly.
process.on('SIGINT', () => {})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)
})
