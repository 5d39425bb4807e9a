import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pack } from './archive.ts'
import { type ImageConfig, writeOciLayout } from './oci-layout.ts'
import type { Program } from './sbom.ts'

/** The account in the image. Not of root, nor of any account that a machine has. */
export const account = 10_001
const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }
const node = '/opt/bridgework/node/bin/node'
const second = 1_000_000_000

/** What Node needs of the machine: files of Debian packages. */
export type SystemParts = { files: string[]; packages: Program[] }

/**
 * Finds the libraries that Node needs on this machine, with the Debian packages that they are from; null where they are not from such: then no
 * image can be made that says what is in it.
 */
export function findSystemParts(nodeFile: string): SystemParts | null {
  const { stdout, status } = spawnSync('ldd', [nodeFile], { encoding: 'utf8' })
  if (status !== 0) return null
  const files = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, file = '']) => file).sort()
  const packages = new Map<string, Program>()
  for (const file of files) {
    const name = packageOf(file)
    const version = name && output('dpkg-query', ['--show', name])?.split('\t')[1]
    if (!name || !version) return null
    packages.set(name, {
      name: name.replace(/:.*/, ''),
      version,
      license: `see /usr/share/doc/${name.replace(/:.*/, '')}/copyright`,
    })
  }
  return { files, packages: [...packages.values()].sort((a, b) => a.name.localeCompare(b.name)) }
}

/**
 * Makes the image of the server from its tree and the machine's libraries, from scratch: no shell, no package manager, nothing that its account
 * can write. `bom` is its bill of materials. Returns the name of the file, an OCI layout in a .tar that podman and Docker load.
 */
export async function makeImage(options: {
  tree: string
  parts: SystemParts
  bom: string
  /** The folder of the commands: scripts of Node's, because there is no shell. */
  commands: string
  /** Places below the tree's `app` that the image does without. */
  leftOut: readonly string[]
  folder: string
  to: string
  version: string
  madeAt: Date
}): Promise<string> {
  const { tree, parts, folder, version, madeAt } = options
  const [system, runtime, app] = ['system', 'node', 'app'].map((name) => join(folder, 'layers', name)) as [
    string,
    string,
    string,
  ]
  layOutSystem(system, parts)
  cpSync(join(tree, 'node'), join(runtime, 'opt/bridgework/node'), { recursive: true })
  const leftOut = options.leftOut.map((place) => join(tree, 'app', place))
  cpSync(tree, join(app, 'opt/bridgework'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => ![join(tree, 'node'), ...leftOut].includes(path) && !/\/bridgework-(server|operator)$/.test(path),
  })
  writeFileSync(join(app, 'opt/bridgework/sbom.cdx.json'), options.bom)
  cpSync(options.commands, join(app, 'usr/bin'), { recursive: true })
  const layout = join(folder, `bridgework-server-image-${version}-linux-${process.arch}`)
  mkdirSync(layout)
  await writeOciLayout({
    folder: layout,
    layers: [
      { folder: system, comment: `Debian: ${parts.packages.map((each) => `${each.name} ${each.version}`).join(', ')}` },
      { folder: runtime, comment: 'Node' },
      { folder: app, comment: `Bridgework ${version}` },
    ],
    config: configOf(version),
    architecture: architectures[process.arch] ?? process.arch,
    tag: `bridgework-server:${version}`,
    madeAt,
  })
  const file = join(options.to, `bridgework-server-image-${version}-linux-${process.arch}.tar`)
  await pack(layout, file, madeAt, { isRoot: true })
  return file
}

/** The licences of the Debian packages, as they come with them. */
function layOutSystem(root: string, { files, packages }: SystemParts): void {
  for (const file of files) copyFile(realpathSync(file), join(root, file))
  for (const { name } of packages) {
    const copyright = `/usr/share/doc/${name}/copyright`
    copyFile(realpathSync(copyright), join(root, copyright))
  }
  const text = {
    'etc/passwd': `root:x:0:0:root:/:/nonexistent\nbridgework:x:${account}:${account}:Bridgework:/var/lib/bridgework:/nonexistent\n`,
    'etc/group': `root:x:0:\nbridgework:x:${account}:\n`,
    'etc/nsswitch.conf': 'hosts: files dns\n',
  }
  for (const [path, content] of Object.entries(text)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  for (const path of ['tmp', 'var/lib/bridgework']) mkdirSync(join(root, path), { recursive: true })
}

/** As `npm start` has them. */
const memoryFlags = [
  '--max-old-space-size=256',
  '--heap-growing-percent=60',
  '--no-memory-pool',
  '--max-semi-space-size=8',
]

/** How the image runs: as an account without rights, with nothing that it may write. */
export function configOf(version: string): ImageConfig {
  return {
    User: `${account}:${account}`,
    Env: [
      'PATH=/usr/bin',
      'BRIDGEWORK_ENVIRONMENT=production',
      'BRIDGEWORK_HOST=0.0.0.0',
      'BRIDGEWORK_PORT=8080',
      'BRIDGEWORK_DATA_DIR=/var/lib/bridgework',
      'MALLOC_ARENA_MAX=2',
      'MALLOC_MMAP_THRESHOLD_=1048576',
    ],
    Cmd: [node, ...memoryFlags, '/usr/bin/bridgework-server'],
    WorkingDir: '/var/lib/bridgework',
    ExposedPorts: { '8080/tcp': {} },
    Labels: {
      'org.opencontainers.image.title': 'bridgework-server',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
    StopSignal: 'SIGTERM',
    Healthcheck: {
      Test: ['CMD', '/usr/bin/bridgework-health'],
      Interval: 30 * second,
      Timeout: 5 * second,
      StartPeriod: 60 * second,
      Retries: 3,
    },
  }
}

function copyFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
}

/** dpkg knows a file by one of the two paths that a merged /usr gives it. */
function packageOf(file: string): string | null {
  const real = realpathSync(file)
  const paths = [file, real, real.replace(/^\/usr/, ''), `/usr${real}`].filter((path) => existsSync(path))
  for (const path of paths) {
    const found = output('dpkg-query', ['--search', path])
    if (found) return found.split('\n')[0]?.replace(/: \/.*$/, '') ?? null
  }
  return null
}

function output(command: string, args: string[]): string | null {
  const run = spawnSync(command, args, { encoding: 'utf8' })
  return run.status === 0 ? run.stdout.trim() : null
}
