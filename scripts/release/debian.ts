import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether this machine can make packages for Debian. */
export function canPackForDebian(): boolean {
  return process.platform === 'linux' && spawnSync('dpkg-deb', ['--version']).status === 0
}

/** Debian's name of a kind of machine: "amd64" of "linux-x64". */
export function debianArchitecture(machine: string): string {
  const architecture = machine.slice(machine.indexOf('-') + 1)
  return architecture === 'x64' ? 'amd64' : architecture
}

/**
 * Makes a Debian package of a folder, laid out as it will be installed, with the control files of `definition`. Returns its name. The same
 * folder and time make the same bytes.
 */
export function packForDebian(options: {
  name: string
  definition: string
  folder: string
  to: string
  version: string
  architecture: string
  madeAt: Date
}): string {
  const { name, definition, folder, version, architecture, madeAt } = options
  const documents = join(folder, 'usr/share/doc', name)
  mkdirSync(documents, { recursive: true })
  writeFileSync(join(documents, 'copyright'), copyrightOf(name))
  const control = readFileSync(join(definition, 'control'), 'utf8')
    .replace('{version}', version)
    .replace('{architecture}', architecture)
    .replace('{kilobytes}', String(Math.ceil(bytesIn(folder) / 1024)))
  mkdirSync(join(folder, 'DEBIAN'))
  writeFileSync(join(folder, 'DEBIAN/control'), control)
  for (const part of ['conffiles', 'postinst', 'prerm', 'postrm']) {
    if (existsSync(join(definition, part))) cpSync(join(definition, part), join(folder, 'DEBIAN', part))
  }
  for (const path of globSync('**', { cwd: folder, withFileTypes: true })) {
    const file = join(path.parentPath, path.name)
    // Who may write is a matter of the machine that packs.
    if (!path.isSymbolicLink()) chmodSync(file, path.isDirectory() || statSync(file).mode & 0o100 ? 0o755 : 0o644)
  }
  const file = `${name}_${version}_${architecture}.deb`
  const run = spawnSync(
    'dpkg-deb',
    ['--root-owner-group', '-Zzstd', '-z12', '--build', folder, join(options.to, file)],
    {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(Math.floor(madeAt.getTime() / 1000)) },
      encoding: 'utf8',
    },
  )
  if (run.status !== 0) throw new Error(`dpkg-deb failed: ${run.stderr}`)
  return file
}

/** In Debian's own form: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/ */
function copyrightOf(name: string): string {
  const tree = `/usr/lib/${name}`
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Bridgework

Files: *
Copyright: the authors of Bridgework
License: Apache-2.0
Comment: The licence of Node is ${tree}/node/LICENSE. The licences of the
 libraries are in ${tree}/THIRD-PARTY-LICENSES.txt.

License: Apache-2.0
 The text is in /usr/share/common-licenses/Apache-2.0.
`
}

function bytesIn(folder: string): number {
  return globSync('**', { cwd: folder, withFileTypes: true })
    .filter((path) => path.isFile())
    .reduce((sum, path) => sum + statSync(join(path.parentPath, path.name)).size, 0)
}
