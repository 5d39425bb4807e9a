import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { sealRelease } from '@bridgework/contract/signed-release'
import { publishRelease, withdrawRelease } from '../../../server/src/modules/agents/release.ts'
import { setAgentUpdates } from '../../../server/src/modules/directory/organization.ts'
import type { AgentEvent } from '../agent-event.ts'
import { ingestClient } from '../ingest-client.ts'
import { temporaryFolder } from '../testing/test-agent.ts'
import { type Interference, startTestService } from '../testing/test-service.ts'
import { createSelfUpdate } from './self-update.ts'
import { openUpdates } from './updates.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')

test('a release is taken where updates are on, once, and nothing where they are off', async (t) => {
  const { contact, publish, turn, updates, asked, texts } = await someAgent(t)
  await publish('9.1.0', randomBytes(600_000))
  assert.equal(await contact(), false)
  assert.deepEqual([asked(), texts], [[], []])
  await turn(true)
  assert.equal(await contact(), true)
  assert.deepEqual([updates.read().next, asked()], ['9.1.0', ['0', '1', '2']])
  assert.deepEqual(texts, ['update.downloading 9.1.0', 'update.installed 9.1.0'])
  // The launcher has not looked yet.
  await publish('9.2.0')
  assert.equal(await contact(), false)
  assert.equal(updates.read().next, '9.1.0')
})

test('a withdrawn release is not taken, also when it is withdrawn during the download', async (t) => {
  const { contact, publish, turn, withdraw, updates, disturb, asked } = await someAgent(t)
  await turn(true)
  await publish('9.1.0')
  await withdraw('9.1.0')
  assert.equal(await contact(), false)
  assert.deepEqual(asked(), [])

  await publish('9.2.0')
  // What the service answers for a release that was withdrawn since the contact.
  disturb(({ path }) =>
    path.includes('/parts/') ? { status: 404, body: { errors: 'Gone.', code: 'release_unknown' } } : undefined,
  )
  assert.equal(await contact(), false)
  assert.equal(updates.read().next, null)
})

test('a file with a changed byte, another signature, another version or an older one is refused, said, and not asked for again', async (t) => {
  const good = sealRelease('9.1.0', Buffer.from('// 9.1.0\n'), privateKey)
  const changed = Buffer.from(good)
  changed[good.length - 3] = 0
  const foreign = sealRelease('9.1.0', Buffer.from('//'), generateKeyPairSync('ed25519').privateKey)
  const other = sealRelease('9.3.0', Buffer.from('//'), privateKey)
  const older = sealRelease('0.0.9', Buffer.from('//'), privateKey)
  const cases: [string, { file: Buffer; announced?: Buffer; version?: string }, RegExp][] = [
    ['changed on the way', { file: changed, announced: good }, /differs from what was announced/],
    ['changed at the service', { file: changed }, /not whole/],
    ['signed by another', { file: foreign }, /not signed with the key/],
    ['another version', { file: other }, /another version than was announced/],
    ['an older one', { file: older, version: '0.0.9' }, /^It is not newer than 0\.2\.0, which runs\.$/],
    ['an older one under a newer name', { file: older }, /another version than was announced/],
    [
      'shorter',
      { file: good.subarray(0, 100), announced: good },
      /^The download has another size than was announced\.$/,
    ],
    ['longer', { file: good, announced: good.subarray(0, 100) }, /another size/],
    [
      'of no size',
      { file: good, announced: Buffer.alloc(0) },
      /^It is announced with 0 bytes; at most \d+ are taken\.$/,
    ],
  ]
  const { contact, offerInstead, updates, asked, events, failedRelease } = await someAgent(t)
  for (const [name, { file, announced = file, version = '9.1.0' }, why] of cases) {
    const { contactAgain } = offerInstead({ version, announced, file })
    assert.equal(await contact(), false, name)
    const said = events.at(-1)
    assert.ok(said?.event === 'update.refused' && why.test(said.what), `${name}: ${JSON.stringify(said)}`)
    const before = asked().length
    assert.equal(await contactAgain(), false, name)
    assert.equal(asked().length, before, `${name} is asked for again`)
  }
  assert.deepEqual(updates.read(), { current: null, next: null, starts: 0, refused: [] })
  assert.deepEqual(await failedRelease(), ['9.1.0', 'refused'])
})

test('K53: an announced version of another form than 1.2.3 is refused once, and neither shown nor sent back', async (t) => {
  const { contact, offerInstead, asked, texts } = await someAgent(t)
  for (const version of ['0.3.0/../../x', '../..', '9.1.0 ', '9.1.0\0', '9.1.0-\u001b[2J']) {
    const file = sealRelease('9.1.0', Buffer.from('//'), privateKey)
    const { contactAgain } = offerInstead({ version, announced: file, file })
    texts.splice(0)
    assert.equal(await contact(), false)
    assert.equal(await contactAgain(), false)
    assert.deepEqual(texts, ['update.refused unknown'])
  }
  assert.deepEqual(asked(), [])
})

test('a download goes on after a broken connection where it was, an hour later', async (t) => {
  const { contact, publish, turn, disturb, asked, clock, texts } = await someAgent(t)
  await turn(true)
  await publish('9.1.0', randomBytes(600_000))
  disturb(({ path }) => (path.endsWith('/parts/1') ? { status: 502, body: {} } : undefined))
  assert.equal(await contact(), false)
  assert.equal(texts.at(-1), 'update.postponed 9.1.0')
  disturb(undefined)
  const before = asked().length
  assert.equal(await contact(), false)
  assert.equal(asked().length, before, 'not in the next cycle')
  clock.ms += 60 * 60_000
  assert.equal(await contact(), true)
  assert.deepEqual(asked().slice(before), ['1', '2'])
})

test('a version that was rolled back is not taken again, and the service knows of it after the next contact', async (t) => {
  const { contact, publish, turn, updates, asked, failedRelease, texts } = await someAgent(t)
  await turn(true)
  await publish('9.1.0')
  updates.write({ ...updates.read(), refused: ['9.1.0'] })
  assert.equal(await contact(), false)
  assert.equal(await contact(), false)
  assert.deepEqual(
    [asked(), texts, await failedRelease()],
    [[], ['update.rolled_back 9.1.0'], ['9.1.0', 'rolled_back']],
  )
  await publish('9.2.0')
  assert.equal(await contact(), true)
})

test('where the disk is full, nothing changes and the agent goes on', async (t) => {
  const { contact, publish, turn, updates, texts, events } = await someAgent(t, () => {
    throw Object.assign(new Error('full'), { code: 'ENOSPC' })
  })
  await turn(true)
  await publish('9.1.0')
  assert.equal(await contact(), false)
  assert.equal(texts.at(-1), 'update.postponed 9.1.0')
  assert.deepEqual(events.at(-1), {
    event: 'update.postponed',
    version: '9.1.0',
    what: 'It cannot be stored (ENOSPC).',
  })
  assert.equal(updates.read().next, null)
})

/** What takes updates of an agent, on the real service and on a clock that only waiting moves. */
async function someAgent(t: TestContext, step?: () => void) {
  const server = await startTestService(t)
  const { pool } = server.service
  const updates = openUpdates(temporaryFolder(t), publicKey, step)
  const client = ingestClient({ ...server, serverUrl: server.url })
  const events: AgentEvent[] = []
  const texts: string[] = []
  const clock = { ms: Date.parse('2026-11-20T12:00:00Z') }
  const make = () =>
    createSelfUpdate({
      client,
      publicKey,
      updates,
      running: '0.2.0',
      sleep: async (ms) => {
        clock.ms += ms
      },
      random: () => 0.5,
      nowMs: () => clock.ms,
      report: (event) => {
        events.push(event)
        if ('version' in event) texts.push(`${event.event} ${event.version}`)
      },
      signal: new AbortController().signal,
    })
  let selfUpdate = make()
  const contact = async () => {
    selfUpdate.offer((await client.identify()).release)
    return await selfUpdate.take()
  }
  const disturb = (interference: Interference | undefined) => {
    server.world.interference = interference
  }
  return {
    updates,
    events,
    texts,
    clock,
    contact,
    disturb,
    turn: (isOn: boolean) => setAgentUpdates(pool, server.organizationId, isOn),
    publish: (version: string, program = Buffer.from(`// ${version}\n`)) =>
      publishRelease(pool, sealRelease(version, program, privateKey), publicKey, async () => {}),
    withdraw: (version: string) => withdrawRelease(pool, version),
    /** The numbers of the parts that were asked for. */
    asked: () => server.requests.filter(({ path }) => path.includes('/parts/')).map(({ kind }) => kind),
    failedRelease: async () => {
      const { rows } = await pool.query('select * from agent where id = $1', [server.agentId])
      return [rows[0].failed_release, rows[0].failed_release_outcome]
    },
    /** A service of another's: it announces one file and sends another. The agent is a new process. */
    offerInstead: (served: { version: string; announced: Buffer; file: Buffer }) => {
      selfUpdate = make()
      const sha256 = createHash('sha256').update(served.announced).digest('hex')
      const release = { version: served.version, size: served.announced.length, sha256 }
      const answer = {
        agent_id: server.agentId,
        organization_id: server.organizationId,
        server_time: '2026-11-20T12:00:00Z',
        highest_number: null,
        epoch: 'e',
        time_zone: null,
        location_time_zones: [],
        notes: [],
        written_by_others: [],
        locations: [],
        release,
      }
      disturb(({ path, kind }) => {
        if (kind === 'self') return { status: 200, body: answer }
        if (!path.includes('/parts/')) return undefined
        return { status: 200, body: { bytes: kind === '0' ? served.file.toString('base64') : '' } }
      })
      return { contactAgain: contact }
    },
  }
}
