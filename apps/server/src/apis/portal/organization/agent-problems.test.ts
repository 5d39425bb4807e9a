import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentEntry, LocationPage, OperatorAgentPage, OrganizationPage } from '@bridgework/contract/portal'
import { revokeAgent } from '../../../modules/agents/agent-key.ts'
import { aHeartbeat } from '../../../testing/test-world.ts'
import { somePortal } from '../testing/test-portal.ts'

test('what an agent reports is on the page of its location, of its agents and of the operator, until it is over', async (t) => {
  const clock = { aheadMs: 0 }
  const world = await somePortal(t, { now: () => new Date(Date.now() + clock.aheadMs) })
  const location = await world.addLocation({ insurancePlans: 1 })
  const { organizationId, agent } = location
  const other = await world.addLocation({ organizationId, insurancePlans: 1 })
  const path = `/organizations/${organizationId}`
  const [member, operator] = [
    await world.signInAs({ organizationId }, 'member'),
    await world.signInAs('operator', 'support'),
  ]
  const beat = async (more: object) =>
    assert.equal((await world.post('/agents/self/heartbeats', agent, { ...aHeartbeat(), ...more })).status, 200)
  const pageOf = async (id: string) => (await member.get(`${path}/locations/${id}`)).body as unknown as LocationPage
  const agents = async () => ((await member.get(`${path}/agents`)).body as unknown as { data: AgentEntry[] }).data

  const damaged = { code: 'table_damaged', table: 'claimproc' }
  const reading = { dataset: 'patients', rows_read: 1_000, rows_total: 7_873 }
  await beat({
    state: 'working',
    reading,
    problems: [
      { ...damaged, dataset: 'treatments' },
      { ...damaged, dataset: 'ledger_transactions' },
      { code: 'records_refused', dataset: 'patients', location_id: other.id },
    ],
  })
  const [problem, ...more] = (await pageOf(location.id)).problems
  assert.deepEqual(more, [], 'the other location has the other one')
  assert.partialDeepStrictEqual(problem, {
    what: 'The table claimproc of the database is damaged.',
    todo: 'Repair it: in Open Dental under Tools, Database Maintenance, or with "repair table" as the database’s administrator.',
    locations: [],
  })
  assert.deepEqual(problem?.datasets.toSorted(), ['Ledger transactions', 'Treatments'])
  assert.ok(Math.abs(Date.parse(problem.since) - Date.now()) < 60_000)
  const shown = await pageOf(location.id)
  assert.deepEqual(
    shown.datasets.filter((each) => each.problem !== null).map((each) => [each.dataset, each.problem]),
    [
      ['treatments', 'The table claimproc of the database is damaged.'],
      ['ledger_transactions', 'The table claimproc of the database is damaged.'],
    ],
  )
  assert.deepEqual(shown.reading, { title: 'Patients', rows_read: 1_000, rows_total: 7_873, seconds_left: null })

  const entry = (await agents()).find(({ id }) => id === agent.agentId)
  assert.deepEqual(entry?.problems.map(({ what, locations }) => [what, locations]).toSorted(), [
    ['Bridgework refused some records, so vendors do not get their latest version.', ['Location']],
    ['The table claimproc of the database is damaged.', []],
  ])
  const ofOperator = (await operator.get(`/operator/agents/${agent.agentId}`)).body as unknown as OperatorAgentPage
  assert.deepEqual([ofOperator.problems.length, ofOperator.reading?.rows_read], [2, 1_000])
  const list = (await operator.get('/operator/agents')).body as unknown as { data: AgentEntry[] }
  assert.equal(list.data.find(({ id }) => id === agent.agentId)?.problems.length, 2)

  clock.aheadMs = 4 * 60_000
  assert.equal((await pageOf(location.id)).reading, null, 'an agent that is silent reads nothing that we know of')
  await revokeAgent(world.pool, agent.agentId)
  assert.deepEqual(
    [(await pageOf(location.id)).problems, (await agents()).flatMap(({ problems }) => problems)],
    [[], []],
  )
})

test('a practice reads how long a read still takes, how far first syncs are, and where an export file is wrong', async (t) => {
  const clock = { aheadMs: 0 }
  const world = await somePortal(t, { now: () => new Date(Date.now() + clock.aheadMs) })
  const { agent, organizationId } = await world.addLocation({ insurancePlans: 1 })
  const member = await world.signInAs({ organizationId }, 'member')
  const path = `/organizations/${organizationId}`
  const overview = async () => (await member.get(path)).body as unknown as OrganizationPage
  const beat = async (more: object) =>
    assert.equal((await world.post('/agents/self/heartbeats', agent, { ...aHeartbeat(), ...more })).status, 200)
  const wrong = (line: number) => ({
    code: 'file_invalid',
    dataset: 'patients',
    file: { name: 'patients_*.csv', line, column: 'Date of birth' },
  })
  await beat({ reading: { dataset: 'patients', rows_read: 1_000, rows_total: 7_000 }, problems: [wrong(12)] })
  const [first] = (await overview()).agent_problems
  assert.equal(
    first?.problems[0]?.what,
    'The export file patients_*.csv (line 12, column “Date of birth”) cannot be read with its mapping, so nothing of it is sent.',
  )
  clock.aheadMs = 15_000
  await beat({ reading: { dataset: 'patients', rows_read: 4_000, rows_total: 7_000 }, problems: [wrong(40)] })
  const { agent_problems, first_syncs } = await overview()
  assert.match(agent_problems[0]?.problems[0]?.what ?? '', /line 40/)
  assert.equal(agent_problems[0]?.problems[0]?.since, first.problems[0]?.since, 'it is the same problem as before')
  const [sync] = first_syncs
  assert.partialDeepStrictEqual(sync, { name: 'Location', complete: 0, reading: { rows_read: 4_000 } })
  const left = sync?.reading?.seconds_left ?? assert.fail('no time is told')
  assert.ok(left > 0 && left <= 15, `${left} seconds`)
  // Another dataset has a speed of its own.
  clock.aheadMs = 30_000
  await beat({ reading: { dataset: 'treatments', rows_read: 100, rows_total: 7_000 } })
  assert.equal((await overview()).first_syncs[0]?.reading?.seconds_left, null)
  assert.deepEqual((await overview()).agent_problems, [])
  for (const file of [{ name: 'x\n' }, { name: '../x' }, { name: 'a.csv', column: '‘’' }, { name: 'a.csv', line: 0 }]) {
    const refused = await world.post('/agents/self/heartbeats', agent, {
      ...aHeartbeat(),
      problems: [{ code: 'file_invalid', file }],
    })
    assert.equal(refused.status, 422, JSON.stringify(file))
  }
})

test('what is over, or of another practice’s agent, is on no page', async (t) => {
  const world = await somePortal(t)
  const [location, stranger] = [
    await world.addLocation({ insurancePlans: 1 }),
    await world.addLocation({ insurancePlans: 1 }),
  ]
  const { organizationId } = location
  const member = await world.signInAs({ organizationId }, 'member')
  const problems = async () =>
    ((await member.get(`/organizations/${organizationId}/locations/${location.id}`)).body as unknown as LocationPage)
      .problems
  const beat = (by: typeof location, more: object) =>
    world.post('/agents/self/heartbeats', by.agent, { ...aHeartbeat(), ...more })
  await beat(stranger, { problems: [{ code: 'unreachable', location_id: location.id }, { code: 'unreachable' }] })
  assert.deepEqual(await problems(), [])
  await beat(location, { problems: [{ code: 'unreachable' }] })
  assert.deepEqual(
    (await problems()).map(({ what }) => what),
    ['The agent cannot reach the database of the practice management system.'],
  )
  await beat(location, {})
  assert.deepEqual(await problems(), [])
})
