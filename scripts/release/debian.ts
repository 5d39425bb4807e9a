import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }

/** Whether this machine can make packages for Debian. */
export function canPackForDebian(): boolean {
  return process.platform === 'linux' && spawnSync('dpkg-deb', ['--version']).status === 0
}

/**
 * Makes the Debian package of the server from its tree, and returns its name. `folder` is an empty folder to lay it out in. The same tree
 * and time make the same bytes.
 */
export function packForDebian(options: {
  definition: string
  tree: string
  folder: string
  to: string
  version: string
  madeAt: Date
}): string {
  const { definition, tree, folder, version, madeAt } = options
  const at = (path: string) => {
    const target = join(folder, path)
    mkdirSync(join(target, '..'), { recursive: true })
    return target
  }
  cpSync(tree, at('usr/lib/bridgework-server'), { recursive: true, verbatimSymlinks: true })
  for (const command of ['bridgework-server', 'bridgework-operator']) {
    symlinkSync(`../lib/bridgework-server/${command}`, at(`usr/bin/${command}`))
  }
  for (const [name, path] of [
    ['server.env', 'etc/bridgework/server.env'],
    ['bridgework-server.service', 'usr/lib/systemd/system/bridgework-server.service'],
  ] as const) {
    cpSync(join(definition, name), at(path))
  }
  const architecture = architectures[process.arch] ?? process.arch
  const control = readFileSync(join(definition, 'control'), 'utf8')
    .replace('{version}', version)
    .replace('{architecture}', architecture)
    .replace('{kilobytes}', String(Math.ceil(bytesIn(folder) / 1024)))
  writeFileSync(at('DEBIAN/control'), control)
  for (const name of ['conffiles', 'postinst', 'prerm', 'postrm']) cpSync(join(definition, name), at(`DEBIAN/${name}`))
  for (const path of globSync('**', { cwd: folder, withFileTypes: true })) {
    const file = join(path.parentPath, path.name)
    // Who may write is a matter of the machine that packs.
    if (!path.isSymbolicLink()) chmodSync(file, path.isDirectory() || statSync(file).mode & 0o100 ? 0o755 : 0o644)
  }
  const name = `bridgework-server_${version}_${architecture}.deb`
  const run = spawnSync(
    'dpkg-deb',
    ['--root-owner-group', '-Zzstd', '-z12', '--build', folder, join(options.to, name)],
    {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(Math.floor(madeAt.getTime() / 1000)) },
      encoding: 'utf8',
    },
  )
  if (run.status !== 0) throw new Error(`dpkg-deb failed: ${run.stderr}`)
  return name
}

function bytesIn(folder: string): number {
  return globSync('**', { cwd: folder, withFileTypes: true })
    .filter((path) => path.isFile())
    .reduce((sum, path) => sum + statSync(join(path.parentPath, path.name)).size, 0)
}
