// Builds the portal's pages into apps/portal/dist.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { buildWhenChanged } from './setup-build.mjs'

/** Throws `fail` when the build does not succeed. A clone without the pages' sources has nothing to build. */
export async function buildPortal(root, fail) {
  const portal = join(root, 'apps/portal')
  if (!existsSync(join(portal, 'vite.config.ts'))) return
  await buildWhenChanged(root, {
    folder: 'apps/portal/dist',
    sources: ['apps/portal', 'packages/contract/src', 'package-lock.json', 'scripts/setup/setup-portal.mjs'],
    saying: "Building the portal's pages.",
    build(made) {
      const node = join(root, 'node_modules/.bin/node')
      const vite = join(root, 'node_modules/vite/bin/vite.js')
      const run = spawnSync(node, [vite, 'build', '--outDir', made, '--emptyOutDir', '--logLevel', 'warn'], {
        cwd: portal,
        stdio: ['ignore', 2, 2],
      })
      if (run.status !== 0) throw fail("the portal's pages could not be built; the message is above.")
      compress(join(made, 'assets'))
    },
  })
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
