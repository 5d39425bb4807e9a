import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasetNames } from '@bridgework/contract'
import pg from 'pg'
import { embeddedServerRole, startEmbeddedPostgres } from '../platform/database/embedded/embedded-postgres.ts'
import { migrate } from '../platform/database/migrate.ts'
import type { SandboxFile } from '../sandbox/sandbox-file.ts'
import type { Body } from '../testing/test-world.ts'
import { runVendorGuides } from './testing/test-guides.ts'
import { alive, descendantsOf, paste, postgresOf, someNewcomer } from './testing/test-newcomer.ts'

type Newcomer = Awaited<ReturnType<typeof someNewcomer>>

test('K22: a newcomer starts the sandbox, makes the first call, stops it, and finds it again as it was', async (t) => {
  const newcomer = await someNewcomer(t)
  let server = newcomer.start()
  t.diagnostic(`first start: ${Math.round(await server.ready())} ms`)
  const file = sandboxFile(newcomer)
  const token = await tokenOf(file)

  await t.test('the ready line comes first, and nothing worries the newcomer', () => {
    assert.match(server.stdout(), new RegExp(`^Bridgework is ready at http://localhost:${newcomer.port}\n`))
    assert.equal(server.stderr(), '')
  })

  await t.test('sandbox.json has all members, ids as numbers, and is the owner’s alone', () => {
    assert.equal(statSync(join(newcomer.dataDir, 'sandbox.json')).mode & 0o777, 0o600)
    assert.deepEqual(Object.keys(file), [
      'base_url',
      'client_id',
      'client_secret',
      'organization_id',
      'granted_location_ids',
      'ungranted_location_ids',
      'agent_key',
      'portal_sign_ins',
    ])
    assert.equal(file.base_url, `http://localhost:${newcomer.port}/api/v1/vendors`)
    assert.deepEqual([file.granted_location_ids.length, file.ungranted_location_ids.length], [2, 1])
    const ids = [file.organization_id, ...file.granted_location_ids, ...file.ungranted_location_ids]
    assert.ok(ids.every(Number.isSafeInteger))
  })

  await t.test('the printed commands, pasted, get a token and plans', async () => {
    const printed = server.stdout()
    const commands = printed.match(/^ {2}(?:.*\\\n)*.*$/gm) ?? []
    assert.equal(commands.length, 4)
    assert.ok(!printed.includes(file.client_secret ?? assert.fail()), 'the secret is on no command line')
    // A line's end between the answers, which have none; otherwise just what a newcomer pastes.
    const { stdout } = await paste([...commands, 'echo "$TOKEN"'].join('\necho\n'))
    const [locations = '', plans = '', pasted = ''] = stdout.split('\n').filter((line) => line !== '')
    assert.equal(JSON.parse(locations).data.length, 2)
    assert.equal(JSON.parse(plans).data.length, 3)
    assert.match(pasted, /^[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  await t.test(
    'the README’s first call, pasted in the clone, saves the key pair, prints plans and makes a copy',
    async (t) => {
      const home = mkdtempSync(join(tmpdir(), 'bridgework-home-'))
      t.after(() => rmSync(home, { recursive: true, force: true }))
      const root = join(import.meta.dirname, '../../../..')
      const [, section = ''] =
        /^## The first call\n(.*?)^## /ms.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
      const commands = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, body = '']) => body).join('')
      assert.equal(commands.match(/^bridgework /gm)?.length, 4)
      // Offline: a command that the clone lacks is not looked for in the registry.
      const { stdout } = await paste(
        `set -e; cd '${root}'; export HOME='${home}' npm_config_offline=true npm_config_update_notifier=false
       ${commands.replaceAll('.bridgework/', `${newcomer.dataDir}/`).replaceAll('practices.sqlite', `${home}/practices.sqlite`)}`,
      )
      assert.equal(stdout.match(/^\{"location_id":"\d+","id":"\d+","type":"insurance_plan",.*\}$/gm)?.length, 520)
      assert.ok(statSync(join(home, 'practices.sqlite')).size > 0)
    },
  )

  await t.test('the people that are printed sign in to the portal, and are whom it says', async () => {
    const base = `http://localhost:${newcomer.port}/portal/api`
    const sides = []
    for (const { role, email, password } of file.portal_sign_ins) {
      const signIn = await fetch(`${base}/auth/sign-in/email`, {
        method: 'POST',
        headers: { origin: `http://localhost:${newcomer.port}`, 'content-type': 'application/json' },
        body: JSON.stringify({ email, password }),
      })
      const cookie = signIn.headers.getSetCookie().map((each) => each.split(';')[0])
      const session = await fetch(`${base}/session`, { headers: { cookie: cookie.join('; ') } })
      const { memberships } = (await session.json()) as { memberships: { side: string; role: string }[] }
      sides.push([role, ...memberships.map((each) => `${each.side} ${each.role}`)])
      if (!/admin|member/.test(role)) assert.match(server.stdout(), new RegExp(`^${role} +${email} +${password}$`, 'm'))
    }
    assert.deepEqual(sides, [
      ['vendor owner', 'company owner'],
      ['vendor admin', 'company admin'],
      ['vendor member', 'company member'],
      ['practice owner', 'organization owner'],
      ['practice admin', 'organization admin'],
      ['practice member', 'organization member'],
      ['operator', 'operator admin'],
    ])
  })

  await t.test('the location that was not granted is refused', async () => {
    const { status, body } = await get(file, token, `/locations/${file.ungranted_location_ids[0]}/insurance_plans`)
    assert.deepEqual([status, body.code], [403, 'location_denied'])
  })

  await t.test('something changes within seconds, and a delta tells what', async (t) => {
    const began = performance.now()
    const watermarks = new Map<string, string>()
    for (let changed = 0; changed === 0; await sleep(100)) {
      assert.ok(performance.now() - began < 20_000, 'nothing has changed for 20 s')
      changed = await countChanged(file, token, watermarks)
    }
    t.diagnostic(`after ${Math.round(performance.now() - began)} ms`)
  })

  await t.test('a second server on the same data directory is refused in one line', async () => {
    const { code, stdout, stderr } = await newcomer.start({ BRIDGEWORK_PORT: '1' }).ended
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Another Bridgework server \(process \d+\) is using the data directory .*\n$/)
  })

  const known = await plansOf(file, token)
  await t.test('Ctrl-C ends it and all that it started within seconds, and it says that all is well', async (t) => {
    const started = [...descendantsOf(server.pid), ...postgresOf(newcomer.dataDir)]
    assert.ok(process.platform !== 'linux' || started.length > 2)
    const began = performance.now()
    // Twice, as it comes through a wrapper.
    process.kill(server.pid, 'SIGINT')
    const { code, stderr } = await server.kill('SIGINT')
    t.diagnostic(`after ${Math.round(performance.now() - began)} ms`)
    assert.deepEqual([code, stderr, alive(started)], [0, '', []])
    assert.ok(performance.now() - began < 8_000)
  })

  await t.test('a second start is quick, with the same credentials and the same data', async (t) => {
    server = newcomer.start()
    t.diagnostic(`second start: ${Math.round(await server.ready())} ms`)
    await checkSame(newcomer, file, known)
  })

  await t.test('killed at once it starts again as it was, and its orphans are dealt with', async () => {
    const orphans = [...descendantsOf(server.pid), ...postgresOf(newcomer.dataDir)]
    await server.kill('SIGKILL')
    server = newcomer.start()
    await server.ready()
    await checkSame(newcomer, file, known)
    await changesAgain(file, await tokenOf(file))
    const ours = new Set([...descendantsOf(server.pid), ...postgresOf(newcomer.dataDir)])
    assert.deepEqual(
      alive(orphans).filter((pid) => !ours.has(pid)),
      [],
    )
  })

  await t.test(
    'a revoked agent key stops the demo practice with one warning; the next start enrolls its agent again',
    async () => {
      const [agent] = await operate(newcomer, ['agent', 'list', '--organization', String(file.organization_id)])
      await operate(newcomer, ['agent', 'revoke', '--agent', String(agent.id)])
      while (!server.stderr().includes('no longer changes')) await sleep(50)
      await sleep(3_000)
      assert.equal(server.stderr().trimEnd().split('\n').length, 1, server.stderr())
      assert.equal((await server.kill('SIGTERM')).code, 0)
      server = newcomer.start()
      await server.ready()
      const { agent_key, ...others } = sandboxFile(newcomer)
      assert.notEqual(agent_key, file.agent_key)
      assert.deepEqual({ ...others, agent_key: file.agent_key }, file)
      await changesAgain(file, await tokenOf(file))
      assert.equal((await server.kill('SIGINT')).code, 0)
    },
  )
})

test('a first start that is interrupted, by Ctrl-C or for good, is taken up by the next one', async (t) => {
  const newcomer = await someNewcomer(t)
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const server = newcomer.start()
    const delayMs = 300 + Math.random() * 1500
    t.diagnostic(`${signal} after ${Math.round(delayMs)} ms`)
    await sleep(delayMs)
    const began = performance.now()
    const ended = await server.kill(signal)
    // Without a code it was so early that nothing had begun.
    if (signal === 'SIGINT') assert.deepEqual([ended.code ?? 0, ended.stderr], [0, ''])
    assert.ok(performance.now() - began < 8_000)
  }
  const server = newcomer.start()
  await server.ready()
  const file = sandboxFile(newcomer)
  assert.deepEqual([file.granted_location_ids.length, file.ungranted_location_ids.length], [2, 1])
  assert.ok((await plansOf(file, await tokenOf(file))).size >= 520)
  for (const place of ['In a clone', 'On any other computer'] as const) {
    await t.test(
      `${place}, every command of the vendors’ guides succeeds, with the answers that the pages show`,
      async (t) => {
        const began = performance.now()
        const { commands } = await runVendorGuides(newcomer, place)
        t.diagnostic(`${commands} blocks of commands in ${Math.round(performance.now() - began)} ms`)
        assert.ok(commands >= 15)
      },
    )
  }
  assert.equal((await server.kill('SIGTERM')).code, 0)
})

test('a folder that a version before the first release made is refused in one clear line, by each command, and left as it is', async (t) => {
  const newcomer = await someNewcomer(t)
  const { dataDir } = newcomer
  const directory = mkdtempSync(join(tmpdir(), 'bridgework-migrations-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, '0001_directory.sql'), 'create table organization as select 1 as id')
  const inDatabase = async (work: (ownerUrl: string) => Promise<unknown>) => {
    const database = await startEmbeddedPostgres({ dataDir, log: () => {} })
    await work(database.ownerUrl).finally(database.stop)
  }
  await inDatabase((url) => migrate(url, { directory, serverRole: embeddedServerRole, log: () => {} }))

  const text = `A version of Bridgework that was never released made this database: this version does not have its migration 0001_directory. Start the version that made it, or move the folder ${dataDir} away and start again.\n`
  const { code, stdout, stderr } = await newcomer.start().ended
  assert.deepEqual([code, stdout, stderr], [1, '', text])
  const operator = await newcomer.start({}, 'apis/operator/main.ts', ['organization', 'list']).ended
  assert.deepEqual([operator.code, operator.stderr], [1, `Starting the database for this command …\n${text}`])
  assert.deepEqual(postgresOf(dataDir), [])
  await inDatabase(async (connectionString) => {
    const client = new pg.Client({ connectionString })
    await client.connect()
    const { rows } = await client.query(
      `select tablename from pg_tables where schemaname = any(current_schemas(false)) order by 1`,
    )
    await client.end()
    assert.deepEqual(rows, [{ tablename: 'migration' }, { tablename: 'organization' }])
  })

  renameSync(dataDir, `${dataDir}.old`)
  const anew = newcomer.start()
  await anew.ready()
  assert.equal((await anew.kill('SIGTERM')).code, 0)
})

test('a taken port is one clear line, and nothing keeps running', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const address = taken.address()
  const newcomer = await someNewcomer(t, { port: typeof address === 'object' ? (address?.port ?? 0) : 0 })
  const { code, stdout, stderr } = await newcomer.start().ended
  const text = 'The port is in use. Stop the program that uses it, or set BRIDGEWORK_PORT to another port.\n'
  assert.deepEqual([code, stdout, stderr], [1, '', text])
  assert.deepEqual(postgresOf(newcomer.dataDir), [])
})

test('an address that is not this machine’s, and settings that do not exist, are one clear line each', async (t) => {
  const newcomer = await someNewcomer(t)
  const misspelt = await newcomer.start({ BRIDGEWORK_PROT: '8080' }).ended
  assert.deepEqual([misspelt.code, misspelt.stdout], [1, ''])
  assert.match(misspelt.stderr, /^BRIDGEWORK_PROT is not a known setting\. Known settings: .*BRIDGEWORK_PORT.*\n$/)
  const foreign = await newcomer.start({ BRIDGEWORK_HOST: '192.0.2.1' }).ended
  assert.deepEqual([foreign.code, foreign.stdout], [1, ''])
  assert.match(foreign.stderr, /^This machine cannot listen on that address \(\w+\)\. Set BRIDGEWORK_HOST .*\n$/)
})

function sandboxFile({ dataDir }: Newcomer): SandboxFile {
  return JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8'))
}

async function tokenOf({ base_url, client_id, client_secret }: SandboxFile): Promise<string> {
  const answer = await fetch(`${base_url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret }),
  })
  assert.equal(answer.status, 200)
  return ((await answer.json()) as Body).token
}

async function get({ base_url }: SandboxFile, token: string, path: string): Promise<{ status: number; body: Body }> {
  const answer = await fetch(`${base_url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { status: answer.status, body: (await answer.json()) as Body }
}

/** How many records of the granted locations changed since the watermarks, which it moves; 0 the first time. */
async function countChanged(file: SandboxFile, token: string, watermarks: Map<string, string>): Promise<number> {
  let changed = 0
  for (const id of file.granted_location_ids) {
    for (const dataset of datasetNames) {
      const path = `/locations/${id}/${dataset}`
      const since = watermarks.get(path)
      const filter = since === undefined ? '' : `?q[fetch_modified_since]=${encodeURIComponent(since)}`
      const { status, body } = await get(file, token, path + filter)
      assert.equal(status, 200)
      watermarks.set(path, body.meta.next_fetch_modified_since)
      if (since !== undefined) changed += body.data.length
    }
  }
  return changed
}

async function changesAgain(file: SandboxFile, token: string): Promise<void> {
  const watermarks = new Map<string, string>()
  const began = performance.now()
  while ((await countChanged(file, token, watermarks)) === 0) {
    assert.ok(performance.now() - began < 30_000, 'nothing has changed for 30 s')
    await sleep(100)
  }
}

/** The practice's own keys of all plans of the granted locations, by our ids. */
async function plansOf(file: SandboxFile, token: string): Promise<Map<string, string>> {
  const plans = new Map<string, string>()
  for (const id of file.granted_location_ids) {
    const { body } = await get(file, token, `/locations/${id}/insurance_plans?items=5000`)
    for (const record of body.data) plans.set(record.id, record.attributes.source_id)
  }
  return plans
}

async function checkSame(newcomer: Newcomer, file: SandboxFile, known: ReadonlyMap<string, string>): Promise<void> {
  assert.deepEqual(sandboxFile(newcomer), file)
  const now = await plansOf(file, await tokenOf(file))
  for (const [id, sourceId] of known) assert.equal(now.get(id), sourceId)
}

async function operate(newcomer: Newcomer, args: string[]) {
  const { code, stdout, stderr } = await newcomer.start({}, 'apis/operator/main.ts', [...args, '--json']).ended
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}
