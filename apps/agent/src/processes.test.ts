import assert from 'node:assert/strict'
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { startTestMariaDb } from '@bridgework/practice-simulator/test-mariadb'
import { markRestored } from '../../server/src/apis/operator/installation/database-restored.ts'
import { testFamily } from './open-dental/testing/test-family.ts'
import { runAgentCommand, spawnAgent, temporaryFolder, writeTestConfig } from './testing/test-agent.ts'
import { startTestService } from './testing/test-service.ts'

const mariaDb = await startTestMariaDb({ after })

/** The real agent in a folder that it has run in once, with the service and the office's database. */
async function someInstalled(t: TestContext) {
  const server = await startTestService(t)
  const practice = await testFamily(mariaDb)
  const root = temporaryFolder(t)
  const folder = join(root, 'agent')
  mkdirSync(folder)
  const settings = { time_zone: 'America/Chicago' }
  const configIn = (place: string) => writeTestConfig(place, server, practice.settings, settings)
  configIn(folder)
  const run = async (place = folder) => {
    const { code, stdout } = await runAgentCommand(['run', '--once', '--config', join(place, 'config.json')])
    return { code, stdout }
  }
  const { pool } = server.service
  const works = async (what: string, place?: string) => {
    const { code, stdout } = await run(place)
    assert.equal(code, 0, `${what}: ${stdout}`)
    return stdout
  }
  await works('the first start')
  return {
    server,
    practice,
    folder,
    run,
    works,
    /** The folder as it stands, with its settings, at another place of the same computer. */
    copy: (name: string) => {
      const place = join(root, name)
      cpSync(folder, place, { recursive: true })
      configIn(place)
      return place
    },
    /** Refused: it says so, and no request but the first one was sent. */
    refused: async (what: string, place?: string) => {
      const before = server.requests.length
      const { code, stdout } = await run(place)
      assert.equal(code, 1, what)
      assert.match(stdout, /Another copy of this agent is in use, on the computer ".+"; its last contact was 20/, what)
      assert.match(
        stdout,
        /lets it take over in the portal, on the page of the agents\. If not, stop this agent and remove its folder\./,
        what,
      )
      assert.deepEqual([...new Set(server.requests.slice(before).map(({ kind }) => kind))], ['heartbeats'], what)
    },
    /** As if the agent had not been heard for as long as it takes. */
    silence: () => pool.query(`update agent_contact set last_contact_at = now() - interval '181 seconds'`),
    takeOver: () => server.takeOverCopy(),
    firstName: async () => (await server.visible('1', 'patients')).get('1')?.first_name,
    rename: (name: string) => practice.update('patient', 'PatNum', 1, { FName: name }),
  }
}

test('a restart, within a second, after a kill at its first contact or with a lost answer, goes on by itself', async (t) => {
  const { server, works, folder } = await someInstalled(t)
  await works('a restart')
  const uploads = (await server.counts()).uploads
  for (const effect of ['before', 'after'] as const) {
    const { process, ended } = spawnAgent(['run', '--once', '--config', join(folder, 'config.json')])
    server.world.interference = ({ kind }) => {
      if (kind !== 'heartbeats') return undefined
      process.kill('SIGKILL')
      return effect === 'after' ? 'cut_after_effect' : { status: 502, body: {} }
    }
    assert.equal((await ended).signal, 'SIGKILL')
  }
  server.world.interference = undefined
  await works('after two kills')
  await works('and again')
  assert.equal((await server.counts()).uploads, uploads, 'a restart compares nothing anew')
})

test('a copied folder is refused while the first is heard, takes its place when that was moved, and the old one is refused then', async (t) => {
  const { works, refused, copy, silence, rename, firstName, folder, server } = await someInstalled(t)
  const moved = copy('moved')
  await refused('a copy beside a living agent', moved)
  await works('the first goes on')
  await rename('Anna')
  await refused('a copy beside a living agent', moved)
  await silence()
  // The first one has sent since the copy was made, under the same name of a process.
  await works('it sends', folder)
  await silence()
  await refused('an older copy', moved)
  assert.equal(await firstName(), 'Anna')

  const next = copy('next')
  await silence()
  assert.match(await works('the folder was moved', next), /everything is compared/)
  await refused('the old one is switched on again', folder)
  await silence()
  await refused('however long the other one is silent', folder)
  await works('the moved one goes on', next)
  const { rows } = await server.service.pool.query('select refused_computer from agent_process')
  assert.deepEqual(rows, [{ refused_computer: hostname() }])
})

test('the image of yesterday, put back over the folder, is refused until a person decides; then everything is compared', async (t) => {
  const { works, refused, folder, rename, firstName, takeOver, copy } = await someInstalled(t)
  const yesterday = join(folder, '..', 'yesterday')
  cpSync(folder, yesterday, { recursive: true })
  await rename('Anna')
  await works('a day of work')
  await rename('Ann')
  for (const file of ['state.sqlite', 'state.sqlite-source.json'])
    copyFileSync(join(yesterday, file), join(folder, file))
  await refused('the image')
  await refused('also the next time')
  assert.equal(await firstName(), 'Anna')
  await takeOver()
  assert.match(await works('a person let it'), /everything is compared/)
  assert.equal(await firstName(), 'Ann')
  await works('and it goes on')
  await refused('while a copy beside it does not', copy('beside'))
})

test('a new state goes on by itself where the old one was, and elsewhere when the other one is silent', async (t) => {
  const { works, refused, folder, copy, silence, rename, firstName } = await someInstalled(t)
  writeFileSync(join(folder, 'state.sqlite'), Buffer.alloc(64 * 1024))
  assert.match(await works('a damaged state'), /The state file was damaged/)
  await rename('Anna')
  await works('it goes on')
  assert.equal(await firstName(), 'Anna')

  const bare = copy('bare')
  rmSync(join(bare, 'state.sqlite'))
  await refused('settings that were copied without their state', bare)
  await silence()
  await works('the other one is gone', bare)
  await refused('and back again', folder)
})

test('after a restore of the service, which knows an older process, the agent goes on when the restore is marked', async (t) => {
  const { works, server, run } = await someInstalled(t)
  const { pool } = server.service
  await pool.query(`update agent_process set process_id = repeat('0', 32)`)
  await pool.query('delete from upload; delete from agent_number')
  const { code, stdout } = await run()
  assert.equal(code, 1)
  assert.match(stdout, /"database restored"/)
  await markRestored(pool)
  assert.match(await works('the restore is marked'), /everything is compared/)
})

test('a copy that a person lets take over sends, and the process of the other one is refused in the middle of its work', async (t) => {
  const { works, copy, refused, takeOver, server, folder } = await someInstalled(t)
  const next = copy('next')
  await refused('the copy', next)
  let requests = 0
  server.world.interference = ({ kind }) => {
    if (kind !== 'records' && kind !== 'complete_lists') return undefined
    requests += 1
    if (requests === 2) return { delayMs: 1500 }
    return undefined
  }
  const running = runAgentCommand(['run', '--once', '--full', '--config', join(folder, 'config.json')])
  while (requests < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  await takeOver()
  const ended = await running
  server.world.interference = undefined
  assert.equal(ended.code, 1)
  assert.match(ended.stdout, /Another copy of this agent is in use/)
  await works('the copy', next)
  await refused('the other one', folder)
})
