// Makes every artefact of a release into release/: npm run release. The same commit makes the same bytes on the same kind of machine.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { pack } from './archive.ts'
import { canPackForDebian, packForDebian } from './debian.ts'
import type { LockFile } from './production-packages.ts'
import { billOfMaterials, nameOf } from './sbom.ts'
import { layOutServer, nodePackage } from './server-tree.ts'

const root = join(import.meta.dirname, '../..')
const to = join(root, 'release')
const stage = mkdtempSync(join(tmpdir(), 'bridgework-release-'))
try {
  await release()
} finally {
  rmSync(stage, { recursive: true, force: true })
}

async function release(): Promise<void> {
  const changed = output('git', ['status', '--porcelain'])
  if (changed !== '' && !process.argv.includes('--changed')) {
    throw new Error(
      `A release is made of a commit. These files differ from it (--changed makes a trial anyway):\n${changed}`,
    )
  }
  const madeAt = new Date(Number(output('git', ['log', '-1', '--format=%ct'])) * 1000)
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to)

  const kind = `${process.platform}-${process.arch}`
  const server = `bridgework-server-${releaseVersion}-${kind}`
  const tree = join(stage, server)
  mkdirSync(tree)
  say('The server: sources and packages')
  const places = await layOutServer(root, tree)
  const lock: LockFile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const node = JSON.parse(readFileSync(join(nodePackage(root), 'package.json'), 'utf8')).version
  const bom = billOfMaterials(JSON.parse(output('npm', ['sbom', '--sbom-format', 'cyclonedx'])), lock, {
    name: 'bridgework-server',
    version: releaseVersion,
    madeAt,
    places,
    programs: [{ name: 'node', version: node, license: 'Node.js' }],
  })
  writeFileSync(join(to, `${server}.cdx.json`), bom)
  writeFileSync(join(tree, 'sbom.cdx.json'), bom)
  say('The server: tarball')
  await pack(tree, join(to, `${server}.tar.gz`), madeAt)
  if (canPackForDebian()) {
    say('The server: Debian package')
    const folder = join(stage, 'debian')
    mkdirSync(folder)
    const definition = join(root, 'deploy/debian/server')
    packForDebian({ definition, tree, folder, to, version: releaseVersion, madeAt })
  } else console.error('No Debian package: dpkg-deb is not on this machine (Debian and Ubuntu have it).')
  for (const workspace of ['packages/client', 'apps/agent']) {
    say(`${workspace}: npm package`)
    output('npm', ['pack', '-w', workspace, '--pack-destination', to, '--silent'])
  }

  const files = readdirSync(to).sort()
  const sums = files.map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(to, name)))
        .digest('hex')}  ${name}\n`,
  )
  writeFileSync(join(to, 'SHA256SUMS'), sums.join(''))
  for (const name of files) console.log(`${size(join(to, name)).padStart(9)}  ${name}`)
  console.log(`${places.length} packages in the server: ${new Set(places.map(nameOf)).size} names`)
}

function say(text: string): void {
  console.error(text)
}

function size(file: string): string {
  return `${(statSync(file).size / 1_000_000).toFixed(2)} MB`
}

function output(command: string, args: string[]): string {
  const run = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 })
  if (run.status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${run.error?.message ?? run.stderr}`)
  return run.stdout.trim()
}
