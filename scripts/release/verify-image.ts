import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedPostgres } from '../../apps/server/src/platform/database/embedded/embedded-postgres.ts'
import { freePort } from '../../apps/server/src/testing/test-port.ts'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { makeDebianRoot } from './debian-root.ts'
import { expectAnswer, note, run } from './try-out.ts'

type Ended = { status: number | null; stdout: string; stderr: string }
type Podman = (...args: string[]) => Ended

/** What the image is tried with: a database that the tarball's server has migrated and filled, with its key. */
type Trial = { root: string; folder: string; database: EmbeddedPostgres; secretKey: string }

const image = `bridgework-server:${releaseVersion}`
/** The account in the image: the Dockerfile's USER. */
const account = 10_001
// The image needs no more, and not every machine can give podman's usual limits. Its health check is called here; podman's needs systemd.
const limits = [
  '--no-healthcheck',
  '--read-only',
  '--cap-drop=all',
  '--ulimit=nofile=4096:4096',
  '--ulimit=nproc=4096:4096',
]
const cache = '/var/cache/bridgework'

/**
 * Builds the image of the last commit twice, as docs/operate/image.md says, and runs it in podman: its commands, and its server with what the
 * tarball's server left in the database. Its bases are made of Debian's packages, so that no registry of images is needed.
 */
export async function verifyImage(trial: Trial): Promise<void> {
  const missing = ['buildah', 'podman', 'debootstrap'].filter((name) => spawnSync(name, ['--version']).error)
  if (process.getuid?.() !== 0 || missing.length > 0) {
    note('image', `not tried: that needs root, buildah, podman and debootstrap${missing.map((name) => `; no ${name}`)}`)
    return
  }
  const storage = ['--root', join(trial.folder, 'podman'), '--runroot', join(trial.folder, 'podman-run')]
  try {
    build(trial, storage)
    const podman = findPodman(storage)
    tryCommands(podman)
    await verifyServing(podman, trial)
  } finally {
    // Podman leaves its storage mounted on itself, and what is mounted cannot be deleted.
    spawnSync('umount', [join(trial.folder, 'podman/overlay')])
  }
}

function build({ root, folder }: Trial, storage: string[]): void {
  const bases = makeBases()
  for (const [name, place] of Object.entries(bases)) {
    const file = join(folder, `${name}.tar`)
    run('tar', ['--create', '--file', file, '--directory', place, '.'], {})
    run('podman', [...storage, 'import', file, `localhost/${name}`], {})
    rmSync(file)
  }
  const context = join(folder, 'context')
  mkdirSync(context)
  run('git', ['archive', '--format=tar', `--output=${context}.tar`, 'HEAD'], { cwd: root })
  run('tar', ['--extract', '--file', `${context}.tar`, '--directory', context], {})
  const madeAt = run('git', ['log', '-1', '--format=%ct'], { cwd: root }).trim()
  const certificates = '/etc/ssl/certs'
  const built = () => {
    run(
      'buildah',
      [
        ...[...storage, 'build', '--isolation=chroot', '--format=docker', '--no-cache', `--timestamp=${madeAt}`],
        ...[`--build-arg=SOURCE_DATE_EPOCH=${madeAt}`, `--tag=${image}`],
        ...['--build-arg=BUILD_BASE=localhost/build-base', '--build-arg=BASE=localhost/base'],
        // npm trusts what this machine trusts.
        ...[`--volume=${certificates}:${certificates}:ro`, '.'],
      ],
      { cwd: context },
    )
    return run('podman', [...storage, 'image', 'inspect', '--format={{json .RootFS.Layers}}', image], {})
  }
  const [first, second] = [built(), built()]
  if (first !== second) throw new Error('The same commit makes other layers the second time.')
  const bytes = Number(run('podman', [...storage, 'image', 'inspect', '--format={{.Size}}', image], {}))
  note('image', `built twice from the last commit, the same layers: ${Math.round(bytes / 1_000_000)} MB unpacked`)
}

/** The roots of the two bases, made once of Debian's packages and npm's own. */
function makeBases(): { base: string; 'build-base': string } {
  const [base, buildBase] = [join(cache, 'image-base'), join(cache, 'image-build-base')]
  if (!existsSync(base)) makeDebianRoot(base, [])
  if (!existsSync(buildBase)) {
    makeDebianRoot(buildBase, ['nodejs', 'ca-certificates'], (place) => {
      // Debian's own npm has no bill of materials.
      run('npm', ['install', '--global', '--prefix', join(place, 'usr/local'), 'npm@11'], {})
    })
  }
  return { base, 'build-base': buildBase }
}

/** Podman with this storage, by the runtime that works here: its usual one refuses a machine with control groups of both versions. */
function findPodman(storage: string[]): Podman {
  const complaints: string[] = []
  for (const runtime of [[], ['--runtime', 'runc']]) {
    const podman: Podman = (...args) =>
      spawnSync('podman', [...runtime, ...storage, ...args], { encoding: 'utf8', timeout: 120_000 })
    const tried = podman('run', '--rm', ...limits, image, 'bridgework-operator', '--version')
    if (tried.status === 0) return podman
    complaints.push(tried.stderr.trim())
  }
  throw new Error(`podman does not run the image: ${complaints.join(' / ')}`)
}

function tryCommands(podman: Podman): void {
  const command = (...args: string[]) => podman('run', '--rm', ...limits, image, ...args)
  expectAnswer(command('bridgework-operator', '--version').stdout, releaseVersion)
  const refused = command()
  expectAnswer(refused.stderr, 'DATABASE_URL must be set in production')
  if (refused.status !== 1) throw new Error(`The image's server ended with ${refused.status} without settings.`)
  if (command('bridgework-health').status !== 1) throw new Error('The health check finds a server where none runs.')
  note('image', 'in podman, with a root that cannot be written, its commands say the version and what is missing')
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
