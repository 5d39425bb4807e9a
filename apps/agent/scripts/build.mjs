// Bundles the agent into one JavaScript file, so that an office computer installs it without fetching anything else.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

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
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licences(Object.keys(metafile.inputs)))

/** The licence texts of every package whose code is in the bundle: most of them ask to travel along. */
function licences(inputs) {
  const folders = new Set(inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean))
  return [...folders]
    .sort()
    .map((folder) => {
      const path = join(agent, folder)
      const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
      const file = existsSync(path) && readdirSync(path).find((each) => /^licen[cs]e/i.test(each))
      const text = file ? readFileSync(join(path, file), 'utf8').trim() : 'No licence file; see the package.'
      return `${name} ${version} (${license})\n${'-'.repeat(60)}\n${text}\n`
    })
    .join('\n\n')
}
