import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { someClient } from './testing/test-client.ts'

const run = promisify(execFile)
const folder = join(import.meta.dirname, '..')
const modules = join(folder, '../../node_modules')
const tsc = join(modules, '.bin/tsc')

test('the package, installed into an empty project, works from TypeScript and JavaScript, and so do its command and the README’s examples', async (t) => {
  const project = await someProject(t)
  const examples = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(exampleOf)]
  assert.ok(examples.length >= 3)
  for (const [, name, code] of examples) writeFileSync(join(project, `${name}.ts`), code ?? '')
  writeFileSync(
    join(project, 'plain.js'),
    `import { Bridgework, ApiError } from '@bridgework/client'
     const { BRIDGEWORK_BASE_URL: baseUrl, BRIDGEWORK_CLIENT_ID: clientId, BRIDGEWORK_CLIENT_SECRET: clientSecret } = process.env
     const client = new Bridgework({ baseUrl, clientId, clientSecret })
     for await (const { id } of client.locations.list()) {
       const page = await client.insurancePlans.list({ locationId: id, pageSize: 1 }).pages().next()
       console.log(page.value.total)
     }
     await client.locations.get({ locationId: '1' }).catch((error) => console.log(error instanceof ApiError, error.status))`,
  )
  writeFileSync(
    join(project, 'common.cts'),
    `import { Bridgework, type LocationRecord } from '@bridgework/client'
     import required = require('@bridgework/client')
     const { BRIDGEWORK_BASE_URL: baseUrl, BRIDGEWORK_CLIENT_ID: clientId, BRIDGEWORK_CLIENT_SECRET: clientSecret } = process.env
     const client = new required.Bridgework({ baseUrl: baseUrl!, clientId: clientId!, clientSecret: clientSecret! })
     async function main(): Promise<void> {
       const ids: LocationRecord['id'][] = []
       for await (const { id } of client.locations.list()) ids.push(id)
       console.log(ids.length, required.Bridgework === Bridgework)
     }
     void main()`,
  )

  // Declarations are read as a stranger's compiler reads them: strictly, and without skipping the library's.
  await run(tsc, ['-p', project], { cwd: project })
  const all = [...nodesOnThisMachine(), ...givenRuntimes()]
  const runtimes = [...new Map(all.map((runtime) => [runtime.title, runtime])).values()]
  t.diagnostic(runtimes.map(({ title }) => title).join(', '))
  for (const runtime of runtimes) {
    // Each with a service of its own: all of these processes together would ask for more tokens than an address may have in a minute.
    const { world, vendor } = await someClient(t, { locations: 2, insurancePlans: 2 })
    const env = {
      ...process.env,
      HOME: project,
      BRIDGEWORK_BASE_URL: world.url,
      BRIDGEWORK_CLIENT_ID: vendor.clientId,
      BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
    }
    const program = (...args: string[]) => run(runtime.path, [...runtime.args, ...args], { cwd: project, env })
    assert.equal((await program('plain.js')).stdout, '2\n2\ntrue 404\n', runtime.title)
    if (runtime.requiresModules)
      assert.equal((await program(join('out', 'common.cjs'))).stdout, '2 true\n', runtime.title)
    await tryCommand(program, project, runtime)
    for (const [, name] of examples) await program(join('out', `${name}.js`))
    if (runtime.runsTypeScript) for (const [, name] of examples) await program(`${name}.ts`)
  }
})

test('what npm publishes is in order: its manifest, its exports, its licence and its changelog', async () => {
  const { archive, files } = await packed()
  const inProject = (program: string) => join(modules, '.bin', program)
  await run(inProject('publint'), ['run', archive, '--strict'])
  // The one rule that is left out: "require" of an ES module, which the promised versions of Node can.
  await run(inProject('attw'), [archive, '--ignore-rules', 'cjs-resolves-to-esm'])

  assert.ok(files.every((path) => /^(dist\/|(README|CHANGELOG)\.md$|LICENSE$|package\.json$)/.test(path)))
  assert.ok(!files.some((path) => path.includes('test')))
  for (const path of ['LICENSE', 'CHANGELOG.md', 'README.md']) assert.ok(files.includes(path), path)
  const read = (path: string) => readFileSync(path, 'utf8')
  assert.equal(read(join(folder, 'LICENSE')), read(join(folder, '../../LICENSE')))
  const manifest = JSON.parse(read(join(folder, 'package.json')))
  assert.equal(manifest.repository.directory, 'packages/client')
})

/** The command as npx runs it, with each runtime. */
async function tryCommand(
  program: (...args: string[]) => Promise<{ stdout: string; stderr: string }>,
  project: string,
  runtime: Runtime,
): Promise<void> {
  const bin = join(project, 'node_modules/.bin/bridgework')
  const command = (...args: string[]) => program(bin, ...args)
  assert.ok((statSync(bin).mode & 0o111) !== 0, 'npx runs it')
  assert.match((await command('--version')).stdout, /^\d+\.\d+\.\d+\n$/)
  const { stdout } = await command('pull', 'insurance_plans')
  assert.equal(stdout.trim().split('\n').length, 4)
  const copy = `copy of ${runtime.title}`
  assert.match((await command('mirror', '--to', copy)).stderr, /datasets are current; 4 records/)
  assert.match((await command('mirror', '--to', copy, '--verify')).stderr, /14 datasets equal the service/)
  const table = command('mirror', '--to', `sqlite:${runtime.title}.sqlite`)
  if (runtime.hasSqlite) assert.match((await table).stderr, /datasets are current; 4 records/)
  else await assert.rejects(table, /needs node:sqlite: Node 22.13 or newer/)
  await assert.rejects(command('pull', 'insurance_plans', '--output', 'x.parquet'), /npm install hyparquet-writer/)
  await assert.rejects(command('mirror', '--to', 'postgres://localhost/x'), /npm install pg/)
}

const exampleOf = /<!-- example: ([\w-]+) -->\n```ts\n(.*?)```/gs

/** As npm would publish it, made once for all tests. */
function packed(): Promise<{ archive: string; files: string[] }> {
  packing ??= run('npm', ['pack', '--json', '--pack-destination', made], { cwd: folder }).then(({ stdout }) => {
    const [{ filename, files }] = JSON.parse(stdout)
    return { archive: join(made, filename), files: files.map(({ path }: { path: string }) => path) }
  })
  return packing
}
let packing: ReturnType<typeof packed> | undefined
const made = mkdtempSync(join(tmpdir(), 'bridgework-packed-'))
after(() => rmSync(made, { recursive: true, force: true }))

/** An empty project with the packed package installed, and TypeScript's types for Node. */
async function someProject(t: TestContext): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), 'bridgework-project-'))
  t.after(() => rmSync(project, { recursive: true, force: true }))
  const { archive } = await packed()
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], {
    cwd: project,
  })
  symlinkSync(join(modules, '@types'), join(project, 'node_modules/@types'))
  symlinkSync(join(modules, 'undici-types'), join(project, 'node_modules/undici-types'))
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        lib: ['es2023'],
        module: 'nodenext',
        strict: true,
        exactOptionalPropertyTypes: true,
        types: ['node'],
        outDir: 'out',
        rootDir: '.',
      },
      include: ['*.ts', '*.cts'],
    }),
  )
  return project
}

type Runtime = {
  title: string
  path: string
  args: readonly string[]
  hasSqlite: boolean
  runsTypeScript: boolean
  requiresModules: boolean
}

/** Those that the soak has installed: Node's oldest that is promised, Bun and Deno. */
function givenRuntimes(): Runtime[] {
  const runtimes: { name: string; path: string }[] = JSON.parse(process.env.BRIDGEWORK_TEST_RUNTIMES ?? '[]')
  return runtimes.map(({ name, path }) => {
    if (name === 'node') return nodeAt(path)
    const args = name === 'deno' ? ['run', '--allow-all'] : []
    return {
      title: `${name} ${versionOf(path).replace(/^deno /, '')}`,
      path,
      args,
      hasSqlite: true,
      runsTypeScript: true,
      requiresModules: true,
    }
  })
}

/** This Node and the one that the machine has beside it, if it is another. */
function nodesOnThisMachine(): Runtime[] {
  const others = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => !entry.includes('node_modules'))
    .map((entry) => join(entry, 'node'))
    .filter(existsSync)
    .slice(0, 1)
  const paths = [process.execPath, ...others]
  return paths.filter((path) => major(versionOf(path)) >= 20).map(nodeAt)
}

function nodeAt(path: string): Runtime {
  const version = versionOf(path)
  const isNew = major(version) > 22
  const [first = 0, second = 0] = version.slice(1).split('.').map(Number)
  const requiresModules = first === 20 ? second >= 19 : first === 22 ? second >= 12 : isNew
  return { title: `node ${version}`, path, args: [], hasSqlite: isNew, runsTypeScript: isNew, requiresModules }
}

function versionOf(path: string): string {
  return execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().split('\n')[0] ?? ''
}

function major(version: string): number {
  return Number(version.slice(1).split('.')[0])
}
