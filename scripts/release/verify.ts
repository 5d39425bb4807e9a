// Tries the artefacts in release/ as an operator would: npm run release:verify, after npm run release. A long run, not part of npm test.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../apps/server/src/platform/database/embedded/embedded-postgres.ts'
import { freePort } from '../../apps/server/src/testing/test-port.ts'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { expectAnswer, note, run, verifyUnit } from './try-out.ts'
import { verifyAgentArchives, verifyInstalledAgent } from './verify-agent.ts'
import { verifyImage } from './verify-image.ts'
import { verifySameBytes } from './verify-same-bytes.ts'
import { verifyWindowsInstaller } from './verify-windows.ts'

const root = join(import.meta.dirname, '../..')
const release = join(root, 'release')
const folder = mkdtempSync(join(tmpdir(), 'bridgework-verify-'))
chmodSync(folder, 0o711)
const readyWithinMs = 10_000
const secretKey = `${Buffer.alloc(32, 7).toString('base64')}\n`
/** As root, what is tried runs as an account that owns nothing else. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

try {
  if (!existsSync(join(release, 'SHA256SUMS')))
    throw new Error('There is nothing in release/. Run npm run release first.')
  run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: release })
  note('sums', 'every file has the hash that SHA256SUMS says')
  const database = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    copyRoot: join(folder, 'copy'),
    log: () => {},
  })
  try {
    openSocketTo(new URL(database.serverUrl))
    await verifyTarball(database)
    await verifyImage({ root, folder, database, secretKey })
  } finally {
    await database.stop()
  }
  verifyDebianPackage()
  verifyAgentArchives(release, folder)
  verifySameBytes(root, release, folder)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Unpack, set the environment, run: as an ordinary user, in an empty folder, against a PostgreSQL that is there. */
async function verifyTarball(database: EmbeddedPostgres): Promise<void> {
  const home = join(folder, 'home')
  mkdirSync(home)
  if (account.uid !== undefined) chownSync(home, account.uid, account.gid)
  const [tarball = ''] = readdirSync(release).filter((name) =>
    new RegExp(`^bridgework-server-.*-${process.platform}-${process.arch}[.]tar[.]gz$`).test(name),
  )
  const beganAt = performance.now()
  run('tar', ['xzf', join(release, tarball)], { cwd: home, ...account })
  const unpackedMs = performance.now() - beganAt
  const key = join(home, 'secret.key')
  writeFileSync(key, secretKey, { mode: 0o600 })
  if (account.uid !== undefined) chownSync(key, account.uid, account.gid)
  const port = await freePort()
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    BRIDGEWORK_ENVIRONMENT: 'production',
    BRIDGEWORK_LOG: 'important',
    BRIDGEWORK_HOST: '127.0.0.1',
    BRIDGEWORK_PORT: String(port),
    BRIDGEWORK_PUBLIC_URL: 'https://api.example.com',
    BRIDGEWORK_TRUSTED_PROXIES: '127.0.0.1',
    BRIDGEWORK_SECRET_KEY_FILE: key,
    DATABASE_URL: database.serverUrl,
    BRIDGEWORK_MIGRATION_DATABASE_URL: database.ownerUrl,
  }
  const tree = join(home, tarball.replace('.tar.gz', ''))
  const server = spawn(join(tree, 'bridgework-server'), {
    cwd: home,
    env,
    ...account,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    const at = `http://127.0.0.1:${port}`
    while (!(await fetch(`${at}/readyz`).catch(() => null))?.ok) {
      if (server.exitCode !== null) throw new Error(`The server ended with exit code ${server.exitCode}.`)
      await sleep(20)
    }
    const readyMs = performance.now() - beganAt
    note(
      'tarball',
      `ready ${seconds(readyMs)} after unpacking began, which took ${seconds(unpackedMs)}, with migrations`,
    )
    if (readyMs > readyWithinMs) fail(`The server must be ready within ${seconds(readyWithinMs)} on a quiet machine.`)
    expectAnswer(await (await fetch(`${at}/healthz`)).text(), releaseVersion)
    const page = await fetch(`${at}/sign-in`, { headers: { accept: 'text/html', 'x-forwarded-proto': 'https' } })
    expectAnswer(await page.text(), '<div id="root">')
    const command = join(tree, 'bridgework-operator')
    run(command, ['organization', 'create', '--name', 'Smile Group'], { cwd: home, env, ...account })
    expectAnswer(run(command, ['organization', 'list'], { cwd: home, env, ...account }), 'Smile Group')
    const service = {
      release,
      folder,
      serviceUrl: at,
      operator: (args: string[]) => run(command, args, { cwd: home, env, ...account }),
    }
    await verifyInstalledAgent(service)
    await verifyWindowsInstaller(service)
    server.kill('SIGTERM')
    const [code] = await once(server, 'exit')
    if (code !== 0) throw new Error(`The server ended with exit code ${code} after SIGTERM.`)
    note('tarball', 'health, pages and the operator’s command answer; SIGTERM ends it with exit code 0')
  } finally {
    server.kill('SIGKILL')
  }
}

/** Lets every account of this machine reach our PostgreSQL by its socket; its passwords still hold. */
function openSocketTo(url: URL): void {
  const socket = url.searchParams.get('host') ?? ''
  for (let path = socket; path !== folder && path.startsWith(folder); path = join(path, '..')) chmodSync(path, 0o755)
  for (const name of readdirSync(socket)) if (name.startsWith('.s.')) chmodSync(join(socket, name), 0o777)
}

/** What can be known of the package without installing it. */
function verifyDebianPackage(): void {
  const [name] = readdirSync(release).filter((file) => /^bridgework-server_.*[.]deb$/.test(file))
  if (name === undefined) {
    note('Debian', 'there is no package: dpkg-deb was not on the machine that made the release')
    return
  }
  const unpacked = join(folder, 'debian')
  run('dpkg-deb', ['--raw-extract', join(release, name), unpacked], {})
  expectAnswer(run(join(unpacked, 'usr/lib/bridgework-server/bridgework-server'), ['--version'], {}), releaseVersion)
  const copyright = join(unpacked, 'usr/share/doc/bridgework-server/copyright')
  expectAnswer(readFileSync(copyright, 'utf8'), 'License: Apache-2.0')
  note('Debian', `${name}: unpacks, and its server says its version`)
  if (spawnSync('systemd-analyze', ['--version']).status === 0) verifyUnit(unpacked, 'bridgework-server')
  else note('systemd', 'not looked at: systemd-analyze is not on this machine')
}

/** One thing is not as promised; what follows is tried all the same. */
function fail(text: string): void {
  console.error(text)
  process.exitCode = 1
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
