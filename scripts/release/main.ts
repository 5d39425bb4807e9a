// Makes every artefact of a release into release/: npm run release. The same commit makes the same bytes on the same kind of machine.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { makeAgentArtefacts } from './agent.ts'
import { pack } from './archive.ts'
import { canPackForDebian, debianArchitecture, packForDebian } from './debian.ts'
import { billsOfMaterials, nameOf } from './sbom.ts'
import { layOutServer, layOutServerForDebian } from './server-tree.ts'

const root = join(import.meta.dirname, '../..')
const to = join(root, 'release')
const downloads = join(root, 'apps/server/dist/downloads')
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
  const bomOf = billsOfMaterials(root, madeAt)
  const bom = bomOf('bridgework-server', places)
  writeFileSync(join(to, `${server}.cdx.json`), bom)
  writeFileSync(join(tree, 'sbom.cdx.json'), bom)
  say('The server: tarball')
  await pack(tree, join(to, `${server}.tar.gz`), madeAt)
  if (canPackForDebian()) {
    say('The server: Debian package')
    const folder = join(stage, 'debian')
    mkdirSync(folder)
    const definition = join(root, 'deploy/debian/server')
    layOutServerForDebian(definition, tree, folder)
    const architecture = debianArchitecture(kind)
    const name = 'bridgework-server'
    packForDebian({ name, definition, folder, to, version: releaseVersion, architecture, madeAt })
  } else console.error('No Debian package: dpkg-deb is not on this machine (Debian and Ubuntu have it).')
  await makeAgentArtefacts({
    root,
    stage,
    to,
    version: releaseVersion,
    madeAt,
    bom: (places) => bomOf('bridgework-agent', places),
    say,
  })
  say('Files for containers and monitoring')
  const deploy = join(stage, `bridgework-deploy-${releaseVersion}`)
  for (const name of ['compose.yaml', 'compose', 'chart', 'prometheus', 'grafana', 'LICENSE']) {
    const from = name === 'LICENSE' ? join(root, name) : join(root, 'deploy', name)
    // Made on this machine, for this machine.
    cpSync(from, join(deploy, name), { recursive: true, filter: (path) => !path.endsWith('/compose/secrets') })
  }
  await pack(deploy, join(to, `bridgework-deploy-${releaseVersion}.tar.gz`), madeAt)
  // What the server hands out: the set-up of this command packed them.
  for (const name of globSync('*.tgz', { cwd: downloads })) cpSync(join(downloads, name), join(to, name))

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
