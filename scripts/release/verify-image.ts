import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedPostgres } from '../../apps/server/src/platform/database/embedded-postgres.ts'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { account } from './image.ts'
import { expectAnswer, freePort, note, run } from './try-out.ts'

type Ended = { status: number | null; stdout: string; stderr: string }
type Podman = (...args: string[]) => Ended

/** What the image is tried with: a database that the tarball's server has migrated and filled, with its key. */
type Trial = { release: string; folder: string; database: EmbeddedPostgres; secretKey: string }

const image = `bridgework-server:${releaseVersion}`
// The image needs no more, and not every machine can give podman's usual limits.
const limits = ['--read-only', '--cap-drop=all', '--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096']

/**
 * Runs the commands of the image in `release` as its account: by podman where that works, else, as root, in a changed root. With podman and as
 * root, its server also serves what the tarball's server left in the database.
 */
export async function verifyImage(trial: Trial): Promise<void> {
  try {
    await tryImage(trial)
  } finally {
    // Podman leaves its storage mounted on itself, and what is mounted cannot be deleted.
    spawnSync('umount', [join(trial.folder, 'podman/overlay')])
  }
}

async function tryImage(trial: Trial): Promise<void> {
  const { release, folder } = trial
  const [name] = readdirSync(release).filter((file) => /^bridgework-server-image-.*\.tar$/.test(file))
  if (name === undefined) {
    note('image', 'there is no image: the release was not made on Debian')
    return
  }
  const file = join(release, name)
  const podman = findPodman(file, folder)
  const isRoot = process.getuid?.() === 0
  if (!podman && !isRoot) {
    note('image', 'not run: podman does not work here, and only root can change the root')
    return
  }
  const command = podman
    ? (args: string[]) => podman('run', '--rm', ...limits, image, ...args)
    : inChangedRoot(unpack(file, folder))
  expectAnswer(command(['bridgework-operator', '--version']).stdout, releaseVersion)
  const refused = command(['bridgework-server'])
  expectAnswer(refused.stderr, 'DATABASE_URL must be set in production')
  if (refused.status !== 1) throw new Error(`The image's server ended with ${refused.status} without settings.`)
  if (command(['bridgework-health']).status !== 1) throw new Error('The health check finds a server where none runs.')
  const how = podman ? 'in podman, with a root that cannot be written' : 'in a changed root, as account 10001'
  note('image', `${name}: ${how}, its commands say the version and what is missing`)
  if (podman && isRoot) await verifyServing(podman, trial)
  else note('image', 'not run with a database: that needs podman and root')
}

/**
 * Podman with a storage of its own that has the image, when it can run it; null otherwise. Its usual runtime refuses a machine with control
 * groups of both versions; runc takes it.
 */
function findPodman(file: string, folder: string): Podman | null {
  const storage = ['--root', join(folder, 'podman'), '--runroot', join(folder, 'podman-run')]
  for (const runtime of [[], ['--runtime', 'runc']]) {
    const podman: Podman = (...args) =>
      spawnSync('podman', [...runtime, ...storage, ...args], { encoding: 'utf8', timeout: 120_000 })
    const loaded = podman('load', '--quiet', '--input', file)
    if (loaded.status !== 0) break
    const tried = podman('run', '--rm', ...limits, image, 'bridgework-operator', '--version')
    if (tried.status === 0) return podman
    note('image', `${['podman', ...runtime].join(' ')} does not run it: ${tried.stderr.trim()}`)
  }
  return null
}

/** Starts the server as compose.yaml and the chart do: secrets from files, no connection as the owner of the schema. */
async function verifyServing(podman: Podman, { folder, database, secretKey }: Trial): Promise<void> {
  const secrets = join(folder, 'secrets')
  mkdirSync(secrets)
  for (const [name, text] of Object.entries({ 'secret.key': secretKey, database_url: database.serverUrl })) {
    writeFileSync(join(secrets, name), text, { mode: 0o600 })
    chownSync(join(secrets, name), account, account)
  }
  const socket = new URL(database.serverUrl).searchParams.get('host') ?? ''
  const port = await freePort()
  const settings = {
    BRIDGEWORK_HOST: '127.0.0.1',
    BRIDGEWORK_PORT: String(port),
    BRIDGEWORK_PUBLIC_URL: 'https://api.example.com',
    BRIDGEWORK_TRUSTED_PROXIES: '127.0.0.1',
    BRIDGEWORK_MIGRATIONS: 'apart',
    BRIDGEWORK_SECRET_KEY_FILE: '/run/secrets/secret.key',
    DATABASE_URL_FILE: '/run/secrets/database_url',
  }
  const expectDone = (...args: string[]) => {
    const { status, stdout, stderr } = podman(...args)
    if (status !== 0) throw new Error(`podman ${args.join(' ')} failed: ${stderr}${stdout}`)
    return stdout
  }
  const server = 'bridgework-verify'
  const beganAt = performance.now()
  try {
    expectDone(
      'run',
      '--detach',
      `--name=${server}`,
      '--network=host',
      ...limits,
      ...Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...['--volume', `${secrets}:/run/secrets:ro`, '--volume', `${socket}:${socket}`],
      image,
    )
    while (!(await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok) {
      const state = expectDone('inspect', '--format={{.State.Status}}', server).trim()
      if (state !== 'running') throw new Error(`The container ${state}: ${podman('logs', server).stderr}`)
      await sleep(100)
    }
    const readyS = ((performance.now() - beganAt) / 1000).toFixed(1)
    expectDone('exec', server, 'bridgework-health')
    expectAnswer(expectDone('exec', server, 'bridgework-operator', 'organization', 'list'), 'Smile Group')
    expectDone('stop', '--time=40', server)
    const code = expectDone('inspect', '--format={{.State.ExitCode}}', server).trim()
    if (code !== '0') throw new Error(`The image's server ended with exit code ${code} after SIGTERM.`)
    note('image', `ready in ${readyS} s with the tarball’s database: health check and command answer, SIGTERM ends it`)
  } finally {
    podman('rm', '--force', server)
  }
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
  return ([command = '', ...args]: string[]): Ended =>
    spawnSync('/usr/sbin/chroot', [`--userspec=${account}:${account}`, root, `/usr/bin/${command}`, ...args], {
      encoding: 'utf8',
      env,
    })
}
