// Builds the guides, the pages of docs/, into apps/guides/dist.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildWhenChanged } from './setup-build.mjs'

/** Throws `fail` when the build does not succeed. A clone without their sources has nothing to build. */
export async function buildGuides(root, fail) {
  if (!existsSync(join(root, 'apps/guides/src/main.ts'))) return
  await buildWhenChanged(root, {
    folder: 'apps/guides/dist',
    sources: ['apps/guides', 'docs', 'packages/client/README.md', 'CHANGELOG.md', 'package-lock.json'],
    saying: 'Building the guides.',
    build(made) {
      const node = join(root, 'node_modules/.bin/node')
      const run = spawnSync(node, ['apps/guides/src/main.ts', made], { cwd: root, stdio: ['ignore', 2, 2] })
      if (run.status !== 0) throw fail('the guides could not be built; the message is above.')
    },
  })
}
