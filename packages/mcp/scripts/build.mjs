// Bundles the server into dist, so that it is installed without fetching anything else: what this project's packages are called at npm may be a
// stranger's.
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licenceTexts } from '../../../scripts/licences.mjs'

const folder = fileURLToPath(new URL('..', import.meta.url))
const to = join(folder, 'dist')
rmSync(to, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: folder,
  entryPoints: ['src/main.ts', 'src/sqlite-process.ts'],
  outdir: to,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.3',
  // pg is CommonJS and asks for Node's own modules by `require`, which an ES module does not have; pg-native is another package's, and optional.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  external: ['pg-native'],
  metafile: true,
  logLevel: 'warning',
})
const packages = new Set(
  Object.keys(metafile.inputs).map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]),
)
packages.delete(undefined)
writeFileSync(
  join(to, 'THIRD-PARTY-LICENSES.txt'),
  licenceTexts([...packages].sort().map((name) => join(folder, name))),
)
chmodSync(join(to, 'main.js'), 0o755)
