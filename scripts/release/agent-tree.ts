import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleAgent } from '../../apps/agent/scripts/bundle.mjs'
import { nodePackage } from './server-tree.ts'

/**
 * Lays out the agent's folder for a kind of machine: `program` with the bundle and what starts it, `node` that runs them, the command and the
 * licences. `node` is the folder of the package with Node for that kind. Returns the folders of `node_modules` whose code is in the bundle,
 * as paths from the root.
 */
export async function layOutAgent(options: {
  root: string
  folder: string
  machine: string
  node: string
}): Promise<string[]> {
  const { root, folder, machine, node } = options
  const program = join(folder, 'program')
  const keyFile = join(root, 'deploy/agent/update-key.pem')
  const places = await bundleAgent(program, existsSync(keyFile) ? readFileSync(keyFile, 'utf8') : '')
  // The bundle is an ES module.
  writeFileSync(join(program, 'package.json'), '{ "type": "module" }\n')
  cpSync(join(program, 'THIRD-PARTY-LICENSES.txt'), join(folder, 'THIRD-PARTY-LICENSES.txt'))
  rmSync(join(program, 'THIRD-PARTY-LICENSES.txt'))
  const [command, nodeFile] = machine.startsWith('win32')
    ? ['bridgework-agent.cmd', 'node/node.exe']
    : ['bridgework-agent', 'node/bin/node']
  mkdirSync(join(folder, nodeFile, '..'), { recursive: true })
  cpSync(join(node, machine.startsWith('win32') ? 'bin/node.exe' : 'bin/node'), join(folder, nodeFile))
  chmodSync(join(folder, nodeFile), 0o755)
  // The package for Windows lacks it; all have one version.
  cpSync(join(nodePackage(root), 'LICENSE'), join(folder, 'node/LICENSE'))
  cpSync(join(root, 'deploy/agent', command), join(folder, command))
  for (const name of ['LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(folder, name))
  return places
}
