import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { datasetNames, vendorApiPath } from '@bridgework/contract'
import { startFeeder } from '../../../../../server/src/sandbox/feeder-process.ts'
import { keepVendorPractices } from '../../../../../server/src/sandbox/vendor-practices.ts'
import { freePort } from '../../../../../server/src/testing/test-port.ts'
import { someWorld } from '../../../../../server/src/testing/test-world.ts'
import { type Snippet, snippetKinds, snippetsOf } from './snippets.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../../../../..')
const paths = (process.env.PATH ?? '').split(delimiter)
const find = (program: string) => paths.map((folder) => join(folder, program)).find(existsSync)
const shells = ['bash', 'zsh'].filter(find)

test('each snippet of the quickstart does in bash and zsh what it says, and the secret is on no command line', async (t) => {
  const missing = ['bash', 'zsh', 'curl'].filter((program) => !find(program))
  if (missing.length > 0) t.diagnostic(`not tried, because this machine has none: ${missing.join(', ')}`)
  assert.ok(shells.length > 0 && find('curl'), 'install curl, and bash or zsh')
  const vendor = await someVendor(t)
  for (const shell of shells) {
    const place = somePlace(t)
    const secrets = [vendor.clientSecret]
    const curl = await paste(place, shell, vendor, vendor.snippets('curl'), 'printf %s "$token" > token')
    const record = JSON.parse(curl.split('\n').at(-1) ?? '')
    assert.deepEqual([record.data.length, record.data[0].type], [1, 'insurance_plan'], shell)
    secrets.push(readFileSync(join(place.folder, 'token'), 'utf8'))

    const program = vendor.snippets('typescript')
    const printed = await paste(place, shell, vendor, program)
    for (const { id, name } of vendor.locations) assert.ok(printed.includes(`${id} ${name}\n`), `${shell}: ${name}`)
    assert.match(printed, /^\d+ .+ false$/m, shell)

    const commands = vendor.snippets('command')
    const [install, enter, read, copy] = commands
    assert.ok(install && enter && read && copy && commands.length === 4)
    // It was installed above.
    assert.deepEqual(install, program[0])
    const command = await paste(place, shell, vendor, [enter, read])
    for (const { name } of vendor.locations) assert.ok(command.includes(name), `${shell}: ${name}`)
    const [head, first] = readFileSync(join(place.folder, 'insurance_plans.csv'), 'utf8').split('\r\n')
    assert.match(`${head} ${first}`, /^location_id,id,.* \d+,\d+,/)
    await keepCopy(place, shell, vendor, [enter, copy])

    const lines = readFileSync(place.commands, 'utf8')
    assert.match(lines, /auth\/token/)
    for (const secret of secrets) assert.ok(!lines.includes(secret), `${shell}: a secret is on a command line`)
  }
})

test('the snippets use nothing that bash and zsh understand differently', () => {
  const given = { baseUrl: 'http://localhost/api', clientId: 'bw', clientUrl: 'http://localhost/client.tgz' }
  const code = snippetKinds.flatMap((kind) => snippetsOf(kind, given)).filter(({ label }) => !label.endsWith('.ts'))
  for (const { label, code: lines } of code) {
    // What is in quotes is the same in both, but for the history expansion of an exclamation mark.
    assert.doesNotMatch(lines, /!/, label)
    const bare = lines.replace(/'[^']*'/g, "''").replace(/"[^"]*"/g, '""')
    // zsh: no match of a pattern is an error, # begins no comment at the prompt, $x is not split, =x is a path, arrays begin at 1.
    assert.doesNotMatch(bare, /[*?[\]#]|(^|\s)[=~]|\$[\w{]/m, label)
    // What a shell reads from the terminal is the last thing that a snippet does.
    assert.doesNotMatch(lines, /read -rs.*\n/, label)
  }
})

/** A vendor of a sandbox that listens, with its demo practice. */
async function someVendor(t: TestContext) {
  const port = await freePort()
  const publicUrl = `http://localhost:${port}`
  const world = await someWorld(t, { publicUrl, port })
  const vendor = await world.addVendor()
  const stateDir = mkdtempSync(join(tmpdir(), 'bridgework-quickstart-'))
  t.after(() => rmSync(stateDir, { recursive: true, force: true }))
  const feeder = startFeeder({ demo: null, serverUrl: world.url, stateDir, log: () => {} })
  t.after(feeder.stop)
  await keepVendorPractices({ ...world, feeder, stateDir, signal: new AbortController().signal })
  const environment = await world.request('/portal/api/environment')
  const { client } = environment.body as unknown as { client: { url: string; sha256: string } }
  const { clientId, clientSecret } = vendor
  const { rows: locations } = await world.pool.query<{ id: string; name: string }>('select id, name from location')
  const given = { baseUrl: publicUrl + vendorApiPath, clientId, clientUrl: client.url }
  return { clientSecret, locations, snippets: (kind: (typeof snippetKinds)[number]) => snippetsOf(kind, given) }
}

type Place = { folder: string; commands: string; env: NodeJS.ProcessEnv }

/** An empty folder. Whatever a shell starts there notes its command line first. */
function somePlace(t: TestContext): Place {
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-quickstart-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  const commands = join(folder, 'commands')
  mkdirSync(bin)
  const programs = { curl: find('curl'), sed: find('sed'), node: process.execPath, npm: find('npm'), npx: find('npx') }
  for (const [name, path] of Object.entries(programs)) {
    if (!path) throw new Error(`${name} was not found`)
    const noted = `#!/bin/sh\nprintf '%s\\n' "${name} $*" >> ${commands}\nexec ${path} "$@"\n`
    writeFileSync(join(bin, name), noted)
    chmodSync(join(bin, name), 0o755)
  }
  const env = {
    PATH: [bin, join(root, 'node_modules/.bin'), ...paths].join(delimiter),
    HOME: folder,
    // Nothing but the package itself is fetched.
    npm_config_registry: 'http://127.0.0.1:1',
    npm_config_fetch_retries: '0',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
  return { folder, commands, env }
}

/** Runs snippets as one session of a shell, with the secret typed when it is asked for. A snippet named as a file becomes that file. */
async function paste(
  place: Place,
  shell: string,
  { clientSecret }: { clientSecret: string },
  all: Snippet[],
  then = ':',
) {
  const lines = all.flatMap(({ label, code }) => {
    if (!label.endsWith('.ts')) return [code]
    writeFileSync(join(place.folder, label), code)
    return []
  })
  const running = run(shell, ['-c', ['set -e', ...lines, then].join('\n')], { cwd: place.folder, env: place.env })
  running.child.stdin?.end(`${clientSecret}\n`)
  const { stdout } = await running
  assert.ok(!stdout.includes(clientSecret))
  return stdout.trim()
}

/** Runs snippets whose last one goes on until a person stops it. */
async function keepCopy(
  place: Place,
  shell: string,
  { clientSecret, locations }: { clientSecret: string; locations: readonly unknown[] },
  all: Snippet[],
) {
  const lines = all.map(({ code }) => code).join('\n')
  const child = spawn(shell, ['-c', lines], { cwd: place.folder, env: place.env, detached: true })
  const ended = once(child, 'exit')
  child.stdin.end(`${clientSecret}\n`)
  child.stdout.resume()
  let printed = ''
  for await (const text of child.stderr.setEncoding('utf8')) {
    printed += text
    if (/datasets are current/.test(printed)) break
  }
  process.kill(-(child.pid ?? assert.fail()), 'SIGINT')
  await ended
  assert.ok(printed.includes(` ${datasetNames.length * locations.length} datasets are current`), printed)
  assert.ok(existsSync(join(place.folder, 'practices.sqlite')))
}
