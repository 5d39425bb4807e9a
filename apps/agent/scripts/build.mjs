// Bundles the agent into one JavaScript file, so that an office computer installs it without fetching anything else.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licenceTexts } from '../../../scripts/licences.mjs'

const agent = fileURLToPath(new URL('..', import.meta.url))
const dist = join(agent, 'dist')

rmSync(dist, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: agent,
  entryPoints: ['src/main.ts'],
  outfile: 'dist/bridgework-agent.js',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  // mysql2 is CommonJS and asks for Node's own modules by `require`, which an ES module does not have.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  metafile: true,
  logLevel: 'warning',
})
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenceTexts(packagesOf(Object.keys(metafile.inputs))))

/** The folders of the packages whose code is in the bundle. */
function packagesOf(inputs) {
  const folders = new Set(inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean))
  return [...folders].sort().map((folder) => join(agent, folder))
}
