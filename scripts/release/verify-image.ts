import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { expectAnswer, note, run } from './try-out.ts'

/** Runs the commands of the image in `release` as its account: by podman where that works, else, as root, in a changed root. */
export function verifyImage(release: string, folder: string): void {
  const [name] = readdirSync(release).filter((file) => /^bridgework-server-image-.*\.tar$/.test(file))
  if (name === undefined) {
    note('image', 'there is no image: the release was not made on Debian')
    return
  }
  const file = join(release, name)
  const podman = (...args: string[]) => {
    const storage = ['--root', join(folder, 'podman'), '--runroot', join(folder, 'podman-run')]
    return spawnSync('podman', [...storage, ...args], { encoding: 'utf8', timeout: 120_000 })
  }
  const inPodman = (args: string[]) =>
    podman('run', '--rm', '--read-only', '--cap-drop=all', `bridgework-server:${releaseVersion}`, ...args)
  const hasPodman =
    podman('load', '--quiet', '--input', file).status === 0 &&
    inPodman(['bridgework-operator', '--version']).status === 0
  if (!hasPodman && process.getuid?.() !== 0) {
    note('image', 'not run: podman does not work here, and only root can change the root')
    return
  }
  const command = hasPodman ? inPodman : inChangedRoot(unpack(file, folder))
  expectAnswer(command(['bridgework-operator', '--version']).stdout, releaseVersion)
  const refused = command(['bridgework-server'])
  expectAnswer(refused.stderr, 'DATABASE_URL must be set in production')
  if (refused.status !== 1) throw new Error(`The image's server ended with ${refused.status} without settings.`)
  if (command(['bridgework-health']).status !== 1) throw new Error('The health check finds a server where none runs.')
  const how = hasPodman ? 'in podman, with a root that cannot be written' : 'in a changed root, as account 10001'
  note('image', `${name}: ${how}, its commands say the version and what is missing`)
}

/** The root of the image's files: its layers, one over the other. */
function unpack(file: string, folder: string): string {
  const [layout, root] = [join(folder, 'layout'), join(folder, 'image')]
  for (const path of [layout, root]) mkdirSync(path)
  run('tar', ['xf', file, '-C', layout], {})
  const blob = (digest: string) => join(layout, 'blobs/sha256', digest.replace('sha256:', ''))
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const manifest: { layers: { digest: string }[] } = read(blob(read(join(layout, 'index.json')).manifests[0].digest))
  for (const { digest } of manifest.layers) run('tar', ['xzf', blob(digest), '-C', root], {})
  return root
}

function inChangedRoot(root: string) {
  const env = { PATH: '/usr/bin', BRIDGEWORK_ENVIRONMENT: 'production' }
  return ([command = '', ...args]: string[]) =>
    spawnSync('/usr/sbin/chroot', ['--userspec=10001:10001', root, `/usr/bin/${command}`, ...args], {
      encoding: 'utf8',
      env,
    })
}
