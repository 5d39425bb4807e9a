import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { sealRelease } from '@bridgework/contract/signed-release'
import { publishRelease, withdrawRelease } from '../../modules/agents/release.ts'
import { setAgentUpdates } from '../../modules/directory/organization.ts'
import { someWorld } from '../../testing/test-world.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')

test('an agent is offered the newest release where its organization turned updates on, and only a newer one', async (t) => {
  const { offered, publish, turn, withdraw } = await someOffice(t)
  await publish('0.3.0')
  assert.equal(await offered('0.2.0'), null, 'off by default')
  await turn(true)
  assert.equal(await offered('0.2.0'), '0.3.0')
  await publish('0.10.0')
  assert.equal(await offered('0.2.0'), '0.10.0')
  for (const version of ['0.10.0', '0.11.0', '1.0.0', 'unknown']) assert.equal(await offered(version), null, version)
  await withdraw('0.10.0')
  assert.deepEqual([await offered('0.2.0'), await offered('0.3.0')], ['0.3.0', null])
  await turn(false)
  assert.equal(await offered('0.2.0'), null)
})

test('the parts of an offered release are its file, and nothing else is handed out', async (t) => {
  const { self, part, publish, turn, withdraw } = await someOffice(t)
  const file = await publish('0.3.0', randomBytes(600_000))
  assert.deepEqual((await part('0.2.0', '0.3.0', '0')).body.code, 'release_unknown', 'updates are off')
  await turn(true)
  const { release } = (await self('0.2.0')).body
  const sha256 = createHash('sha256').update(file).digest('hex')
  assert.deepEqual(release, { version: '0.3.0', size: file.length, sha256 })
  const parts = await Promise.all(['0', '1', '2'].map((number) => part('0.2.0', '0.3.0', number)))
  const bytes = parts.map(({ body }) => Buffer.from(String(body.bytes), 'base64'))
  assert.deepEqual(
    bytes.map(({ length }) => length),
    [262_144, 262_144, file.length - 524_288],
  )
  assert.ok(Buffer.concat(bytes).equals(file))

  for (const number of ['3', '9999', '-1', 'x', '1e1', '99999999999']) {
    const { status, body } = await part('0.2.0', '0.3.0', number)
    assert.deepEqual([status, body.code], [404, 'release_unknown'], number)
  }
  for (const [running, version] of [
    ['0.3.0', '0.3.0'],
    ['0.4.0', '0.3.0'],
    ['0.2.0', '0.2.0'],
  ] as const) {
    assert.equal((await part(running, version, '0')).body.code, 'release_unknown', `${version} for ${running}`)
  }
  assert.equal((await part('0.2.0', '0.3.0', '0', 'Bearer bwa_wrong')).body.code, 'agent_key_invalid')
  await withdraw('0.3.0')
  assert.equal((await part('0.2.0', '0.3.0', '0')).body.code, 'release_unknown')
})

test('what an agent says of a release that it did not take is kept, and saying it again changes nothing', async (t) => {
  const { world, agent } = await someOffice(t)
  const report = (version: string, body: object) => world.post(`/agents/self/releases/${version}/failures`, agent, body)
  const kept = async () => {
    const { rows } = await world.pool.query(
      'select failed_release, failed_release_outcome, failed_release_at from agent where id = $1',
      [agent.agentId],
    )
    return rows[0]
  }
  assert.equal((await report('0.3.0', { outcome: 'rolled_back' })).status, 200)
  const first = await kept()
  assert.deepEqual([first.failed_release, first.failed_release_outcome], ['0.3.0', 'rolled_back'])
  assert.equal((await report('0.3.0', { outcome: 'refused' })).status, 200)
  assert.deepEqual(await kept(), first)
  assert.equal((await report('0.3.1', { outcome: 'refused' })).status, 200)
  assert.equal((await kept()).failed_release, '0.3.1')
  assert.equal((await report('0.3.2', { outcome: 'taken' })).body.code, 'field_invalid')
  assert.equal((await report('x', { outcome: 'refused' })).body.code, 'release_unknown')
})

async function someOffice(t: TestContext) {
  const world = await someWorld(t)
  const organizationId = await world.addOrganization()
  const agent = await world.addAgent(organizationId)
  const get = (path: string, running: string, headers: Record<string, string> = {}) =>
    world.request(`/ingest/v1/agents/self${path}`, {
      headers: {
        authorization: `Bearer ${agent.agentKey}`,
        'user-agent': `bridgework-agent/${running}`,
        ...headers,
      },
    })
  const self = (running: string, headers = {}) => get('', running, headers)
  return {
    world,
    agent,
    self,
    offered: async (running: string) =>
      ((await self(running)).body as unknown as { release: { version: string } | null }).release?.version ?? null,
    part: (running: string, version: string, number: string, authorization = `Bearer ${agent.agentKey}`) =>
      get(`/releases/${version}/parts/${number}`, running, { authorization }),
    publish: async (version: string, program = Buffer.from(version)) => {
      const file = sealRelease(version, program, privateKey)
      await publishRelease(world.pool, file, publicKey, async () => {})
      return file
    },
    withdraw: (version: string) => withdrawRelease(world.pool, version),
    turn: (isOn: boolean) => setAgentUpdates(world.pool, organizationId, isOn),
  }
}
