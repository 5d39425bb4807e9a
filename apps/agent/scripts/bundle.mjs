import { rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licenceTexts } from '../../../scripts/licences.mjs'

const agent = fileURLToPath(new URL('..', import.meta.url))
const root = join(agent, '../..')

/**
 * Bundles the agent into one JavaScript file in this folder, beside the licences of the packages whose code is in it. Returns the folders of
 * these packages, as paths from the root. The same sources make the same bytes. `launcher.mjs`, which starts an installed agent, is beside it;
 * both know the key (PEM) that signs updates, or take none.
 */
export async function bundleAgent(to, updateKey = '') {
  rmSync(to, { recursive: true, force: true })
  const options = {
    absWorkingDir: agent,
    define: { BRIDGEWORK_UPDATE_KEY: JSON.stringify(updateKey) },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.13',
    // mysql2 is CommonJS and asks for Node's own modules by `require`, which an ES module does not have.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    // tedious calls these to sign in to Azure alone, which the agent does not: any module of Node stands for them.
    alias: { '@azure/identity': 'node:util', '@azure/keyvault-keys': 'node:util' },
    metafile: true,
    logLevel: 'warning',
  }
  await build({ ...options, entryPoints: ['src/launcher/main.ts'], outfile: join(to, 'launcher.mjs') })
  const outfile = join(to, 'bridgework-agent.js')
  const { metafile } = await build({ ...options, entryPoints: ['src/main.ts'], outfile })
  const packages = packagesOf(Object.keys(metafile.inputs))
  writeFileSync(join(to, 'THIRD-PARTY-LICENSES.txt'), licenceTexts(packages))
  return packages.map((folder) => relative(root, folder))
}

/** The folders of the packages whose code is in the bundle. */
function packagesOf(inputs) {
  const folders = new Set(inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean))
  return [...folders].sort().map((folder) => join(agent, folder))
}
