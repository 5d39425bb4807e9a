// Packs the client, the agent and the server for AI assistants, as npm would publish them, into apps/server/dist/downloads, from where the server hands them out.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildWhenChanged } from './setup-build.mjs'
import { npmCommand, npmEnvironment } from './setup-npm.mjs'

const sources = ['packages/client', 'packages/mcp', 'apps/agent', 'packages/contract/src', 'packages/command-line/src']

/** Throws `fail` when that does not succeed. A clone without their sources has nothing to pack. */
export async function packDownloads(root, fail) {
  if (!existsSync(join(root, 'packages/client/scripts/build.mjs'))) return
  const pinnedNode = join(root, 'node_modules/.bin/node')
  // Without the packages for development there is nothing that bundles: then the portal says to ask the operator for the agent.
  const canBundle = existsSync(join(root, 'node_modules/esbuild'))
  await buildWhenChanged(root, {
    folder: 'apps/server/dist/downloads',
    sources: [
      ...sources,
      'scripts/setup/setup-downloads.mjs',
      ...(canBundle ? ['scripts/release/archive.ts', 'node_modules/esbuild/package.json'] : []),
    ],
    saying: canBundle ? 'Packing the client, the agent and the server for AI assistants.' : 'Packing the client.',
    build(made) {
      const run = (cwd, command, args) => {
        const { status, stdout } = spawnSync(command, args, {
          cwd,
          env: npmEnvironment(),
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 2],
        })
        if (status !== 0) throw fail(`${cwd} could not be packed; the message is above.`)
        return stdout
      }
      const sums = ['packages/client', ...(canBundle ? ['apps/agent', 'packages/mcp'] : [])].map((workspace) => {
        const folder = join(root, workspace)
        // By ourselves: a person's npm may be set to run no scripts.
        run(folder, pinnedNode, ['scripts/build.mjs'])
        const [command, ...before] = npmCommand(root)
        const packed = run(folder, command, [
          ...before,
          'pack',
          '--ignore-scripts',
          '--json',
          '--pack-destination',
          made,
        ])
        const name = JSON.parse(packed)[0].filename
        if (canBundle) run(root, pinnedNode, ['scripts/release/pack-again.ts', join(made, name)])
        const sum = createHash('sha256').update(readFileSync(join(made, name)))
        return `${sum.digest('hex')}  ${name}\n`
      })
      writeFileSync(join(made, 'SHA256SUMS'), sums.join(''))
    },
  })
}
