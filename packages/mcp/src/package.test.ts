import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { openStore } from '../../client/src/sync/testing/test-mirror.ts'
import { clientVersion } from '../../client/src/version.ts'
import { startServer } from './testing/test-server.ts'

const run = promisify(execFile)
const folder = join(import.meta.dirname, '..')

test('the package, installed into an empty folder without a registry, is started as the guide’s files say', async (t) => {
  const project = await someProject(t)
  const installed = join(project, 'node_modules/.bin/bridgework-mcp')
  assert.equal((await run(installed, ['--version'])).stdout, `${clientVersion}\n`)
  assert.match((await run(installed, ['--help'])).stdout, /--records/)
  await assert.rejects(run(installed, [], { env: { PATH: process.env.PATH, HOME: project } }), /There is no key pair/)
  await assert.rejects(
    run(installed, ['--to', 'folder'], { env: { PATH: process.env.PATH } }),
    /A folder of files cannot/,
  )
  // Newer than Node 20.3, which is enough for PostgreSQL: all that runs at the start does without.
  const older = join(project, 'older-node.mjs')
  writeFileSync(
    older,
    `for (const [of, names] of [[Map, ['groupBy']], [Object, ['groupBy']], [Promise, ['withResolvers', 'try']], [Array, ['fromAsync']],
    [Set.prototype, ['union', 'intersection', 'difference']], [globalThis, ['Iterator']]]) for (const name of names) delete of[name]`,
  )
  const env = { PATH: process.env.PATH, NODE_OPTIONS: `--import=${older}` }
  assert.equal((await run(installed, ['--version'], { env })).stdout, `${clientVersion}\n`)

  await assert.rejects(run(installed, ['--tx']), /Unknown option '--tx'.*\nSee bridgework-mcp --help\n/)

  const licences = readFileSync(join(project, 'node_modules/@bridgework/mcp/dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  for (const name of ['@modelcontextprotocol/server', 'pg', 'zod', 'typebox'])
    assert.match(licences, new RegExp(`^${name} \\d`, 'm'))

  const guide = readFileSync(join(folder, '../../docs/guides/ask-your-mirror.md'), 'utf8')
  const [example] = [...guide.matchAll(/^```json\n(.*?)^```$/gms)].map(
    ([, text = '']) => JSON.parse(text).mcpServers.bridgework,
  )
  const copy = join(project, 'practices.sqlite')
  await (await openStore('sqlite', copy)).close()
  const args = example.args.map((arg: string) => arg.replace('/home/me/practices.sqlite', copy))
  assert.deepEqual([example.command, args], ['bridgework-mcp', ['--to', `sqlite:${copy}`]])
  const { call } = await startServer(t, args, {}, join(project, 'node_modules/@bridgework/mcp/dist/main.js'))
  const { rows } = await call('query', { source: 'current_patients' })
  assert.deepEqual(rows, [{ count: 0 }])
})

/** An empty project with the package installed as npm would publish it. */
async function someProject(t: TestContext): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), 'bridgework-mcp-'))
  t.after(() => rmSync(project, { recursive: true, force: true }))
  await run(process.execPath, ['scripts/build.mjs'], { cwd: folder })
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], {
    cwd: folder,
  })
  const [{ filename, files }] = JSON.parse(stdout)
  const names = files.map(({ path }: { path: string }) => path)
  assert.ok(
    names.every((path: string) => /^(dist\/[\w.-]+|README\.md|LICENSE|package\.json)$/.test(path)),
    names.join(),
  )
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(project, filename)], { cwd: project })
  return project
}
