// Builds the portal's pages into apps/portal/dist when what they are made of has changed since.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { underSetupLock } from './setup-lock.mjs'
import { hashOf } from './setup-sources.mjs'

const sources = ['apps/portal', 'packages/contract/src', 'package-lock.json', 'scripts/setup-portal.mjs']

/** Throws `fail` when the build does not succeed. A clone without the pages' sources has nothing to build. */
export async function buildPortal(root, fail) {
  const portal = join(root, 'apps/portal')
  if (!existsSync(join(portal, 'vite.config.ts')) || isBuilt(root)) return
  await underSetupLock(root, () => {
    if (isBuilt(root)) return
    console.error("Building the portal's pages. This takes a few seconds.")
    const made = 'dist.new'
    // Before the build reads them: what is changed while it runs makes the next one.
    const hash = hashOf(root, sources)
    const node = join(root, 'node_modules/.bin/node')
    const vite = join(root, 'node_modules/vite/bin/vite.js')
    const run = spawnSync(node, [vite, 'build', '--outDir', made, '--emptyOutDir', '--logLevel', 'warn'], {
      cwd: portal,
      stdio: ['ignore', 2, 2],
    })
    if (run.status !== 0) throw fail("the portal's pages could not be built; the message is above.")
    compress(join(portal, made, 'assets'))
    writeFileSync(join(portal, made, '.sources'), hash)
    // A server that runs reads the index at every request, so it serves the new pages from now on.
    rmSync(join(portal, 'dist'), { recursive: true, force: true })
    renameSync(join(portal, made), join(portal, 'dist'))
  })
}

function isBuilt(root) {
  const mark = join(root, 'apps/portal/dist/.sources')
  return existsSync(mark) && readFileSync(mark, 'utf8') === hashOf(root, sources)
}

/** Once here, and not at every answer. */
function compress(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (!/\.(js|css|svg)$/.test(name)) continue
    const bytes = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(bytes))
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
