// Calls npm from the set-up as the person at the keyboard would.
import { existsSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'

/** The npm that runs us, with the Node that runs it: the Node in node_modules is about to be replaced. */
export function npmCommand(root) {
  const { npm_execpath: program, npm_node_execpath: node } = process.env
  if (!program || !existsSync(program) || !/\.c?js$/.test(program)) return ['npm']
  return [node && existsSync(node) && !node.startsWith(join(root, 'node_modules') + sep) ? node : 'node', program]
}

/**
 * A person's settings stay. What npm tells its scripts about the running command does not: with `npm_config_workspace` of `npm test -w x`
 * only one workspace would be installed.
 */
export function npmEnvironment() {
  const dropped =
    /^(npm_(package|lifecycle)_.*|npm_command|npm_config_(workspaces?|include_workspace_root|local_prefix|global|dry_run)|INIT_CWD)$/i
  const kept = Object.entries(process.env).filter(([name]) => !dropped.test(name))
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.split(sep).includes('node_modules'))
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) }
}
