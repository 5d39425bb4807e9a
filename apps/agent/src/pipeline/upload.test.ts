import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { test } from 'node:test'
import { IngestProblem, ingestClient } from '../ingest-client.ts'
import { runCycle, todoFor } from './cycle.ts'
import { someAgent } from './testing/test-cycle.ts'
import { testPlan } from './testing/test-source.ts'

test('an answer that was lost changes nothing: the same number with the same body is sent again', async (t) => {
  const agent = await someAgent(t)
  let cuts = 2
  agent.server.world.interference = ({ kind }) => (kind === 'records' && cuts-- > 0 ? 'cut_after_effect' : undefined)
  assert.equal((await agent.run()).result, 'complete')
  assert.deepEqual(await agent.server.counts(), { uploads: 1, inserted: 3, changed: 0, unchanged: 0, hidden: 0 })
})

test('an upload under way when the process died is finished first at the next start, under its number', async (t) => {
  const agent = await someAgent(t)
  agent.server.world.interference = ({ kind }) => (kind === 'records' ? 'cut_after_effect' : undefined)
  assert.equal((await agent.run()).result, 'failed')
  agent.server.world.interference = undefined
  // Meanwhile the row changed: the kept upload must go out as it was, then the change.
  agent.source.content.insurance_plans.set('1', testPlan('1', 'Changed meanwhile'))
  agent.restart()
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.named('upload.resumed').length, 1)
  assert.deepEqual(await agent.server.counts(), { uploads: 2, inserted: 3, changed: 1, unchanged: 0, hidden: 0 })
})

test('a busy or failing server is left alone as long as it asks, with jitter, and a bounded number of times', async (t) => {
  const agent = await someAgent(t)
  let busy = 2
  agent.server.world.interference = ({ kind }) => {
    if (kind !== 'records' || busy-- <= 0) return undefined
    return { status: 503, body: { errors: 'Busy', code: 'busy' }, headers: { 'retry-after': '7' } }
  }
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.waits.length, 2)
  for (const wait of agent.waits) assert.ok(wait >= 7_000 && wait <= 7_700, `${wait}`)

  agent.waits.length = 0
  agent.server.world.interference = () => ({ status: 500, body: { errors: 'Internal error', code: 'internal' } })
  assert.deepEqual(await agent.run(), { result: 'failed', retryAfterMs: null })
  assert.equal(agent.waits.length, 12)
  assert.ok(Math.max(...agent.waits) <= 60_000)

  agent.waits.length = 0
  agent.server.world.interference = () => ({ status: 429, body: { errors: 'x' }, headers: { 'retry-after': '3600' } })
  assert.deepEqual(await agent.run(), { result: 'failed', retryAfterMs: 3_600_000 })
  assert.deepEqual(agent.waits, [])
})

test('an upload still being processed is asked for again', async (t) => {
  const agent = await someAgent(t)
  let running = 1
  agent.server.world.interference = ({ kind }) =>
    kind === 'records' && running-- > 0
      ? { status: 409, body: { errors: 'Still being processed', code: 'idempotency_in_progress' } }
      : undefined
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.waits.length, 1)
})

test('a refused key ends the cycle at once, and has an outcome of its own', async (t) => {
  const agent = await someAgent(t)
  agent.server.world.interference = () => ({
    status: 401,
    body: { errors: 'Not authorized', code: 'agent_key_invalid' },
  })
  assert.deepEqual(await agent.run(), { result: 'key_refused' })
  assert.deepEqual(agent.waits, [])
  assert.match(agent.named('cycle.failed')[0]?.todo ?? '', /new enrolment code/)
})

test('a redirect is not followed', async (t) => {
  const agent = await someAgent(t)
  agent.server.world.interference = () => ({
    status: 307,
    body: {},
    headers: { location: `${agent.server.url}/elsewhere` },
  })
  assert.equal((await agent.run()).result, 'failed')
  assert.equal(agent.named('cycle.failed')[0]?.because, 'redirected')
  assert.ok(agent.server.requests.every((request) => !request.path.includes('elsewhere')))
})

test('one record that the server refuses does not hold up the others, is reported at each cycle, and is not hidden', async (t) => {
  const agent = await someAgent(t, { plans: 10 })
  const bad = testPlan('5', 'Bad')
  agent.source.content.insurance_plans.set('5', { ...bad, attributes: { ...bad.attributes, renewal_month: 13 } })
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 9, refused: 1, held: 0 })
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 0, refused: 1, held: 0 })
  const refused = agent.named('record.refused')
  assert.deepEqual(
    refused.map((event) => event.sourceId),
    ['5', '5'],
  )
  assert.match(refused[0]?.errors ?? '', /Line 5: attributes\.renewal_month/)
  assert.ok(agent.server.lists().every((each) => each.dataset === 'fee_schedules' || each.source_ids.includes('5')))

  agent.source.content.insurance_plans.set('5', testPlan('5', 'Mended'))
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 1, refused: 0, held: 0 })
  assert.equal(agent.plans().get('5')?.plan_name, 'Mended')
})

test('a refused record keeps its last good version, and is tried again after an hour or when it is as before', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  const bad = testPlan('2', 'Bad')
  agent.source.content.insurance_plans.set('2', { ...bad, attributes: { ...bad.attributes, plan_type: 'hmo' } })
  agent.source.changed.insurance_plans = ['2']
  await agent.run()
  assert.equal(agent.plans().get('2')?.plan_name, 'Plan 2')
  const uploads = agent.server.requests.filter((request) => request.path.endsWith('/records')).length
  await agent.run()
  assert.equal(agent.server.requests.filter((request) => request.path.endsWith('/records')).length, uploads)
  agent.clock.ms += 3_600_000
  await agent.run()
  assert.equal(agent.server.requests.filter((request) => request.path.endsWith('/records')).length, uploads + 1)
  agent.source.content.insurance_plans.set('2', testPlan('2', 'Plan 2'))
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 1, refused: 0, held: 0 })
})

test('the refused record is found by the member line, by the text of an older server, or by halving', async (t) => {
  // Two uploads of plans are enough when the line is known; halving needs more.
  for (const [how, uploads] of [
    [({ line }: IngestProblem) => ({ errors: 'Something is wrong.', line }), 2],
    [({ errors }: IngestProblem) => ({ errors, line: null }), 2],
    [() => ({ errors: 'Something is wrong.', line: null }), 7],
  ] as const) {
    const agent = await someAgent(t, { plans: 9 })
    const bad = testPlan('7', 'Bad')
    agent.source.content.insurance_plans.set('7', { ...bad, attributes: { ...bad.attributes, extra: 1 } })
    const client = ingestClient({
      serverUrl: agent.server.url,
      agentKey: agent.server.agentKey,
      agentId: agent.server.agentId,
      organizationId: agent.server.organizationId,
    })
    const outcome = await runCycle({
      ...agent.deps(),
      client: {
        ...client,
        sendRecords: (...args) =>
          client.sendRecords(...args).catch((error) => {
            const { errors, line } = how(error)
            throw new IngestProblem('record_invalid', errors, { status: 422, line })
          }),
      },
    })
    assert.deepEqual(outcome, { result: 'complete', uploaded: 8, refused: 1, held: 0 })
    const sent = agent.server.requests.filter(({ path }) => path.endsWith('/insurance_plans/records')).length
    assert.equal(sent, uploads)
  }
})

test('a batch that is too large is halved; a record that is too large alone is refused', async (t) => {
  const agent = await someAgent(t, { plans: 8 })
  agent.server.world.interference = ({ kind, headers }) =>
    kind === 'records' && Number(headers['content-length']) > 300
      ? { status: 413, body: { errors: 'Too large.', code: 'body_too_large' } }
      : undefined
  agent.source.content.insurance_plans.set('3', testPlan('3', [...Array(400).keys()].join('')))
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 7, refused: 1, held: 0 })
  assert.equal(agent.plans().size, 7)
})

test('when the server refuses record upon record the cycle fails instead of going on', async (t) => {
  const agent = await someAgent(t, { plans: 150 })
  for (let id = 1; id <= 150; id++) {
    agent.source.content.insurance_plans.set(String(id), { source_id: String(id), attributes: { unknown: true } })
  }
  assert.equal((await agent.run()).result, 'failed')
  assert.match(
    agent.named('cycle.failed')[0]?.what ?? '',
    /^The server refused more than 100 records; the last reason was: /,
  )
})

test('an answer that does not name every location ends the cycle', async (t) => {
  const agent = await someAgent(t)
  agent.server.world.interference = ({ path }) =>
    path.endsWith('/locations') ? { status: 200, body: { locations: [] } } : undefined
  assert.equal((await agent.run()).result, 'failed')
  assert.equal(agent.named('cycle.failed')[0]?.what, 'The answer of the server does not name every location.')
})

test('a key with NUL is never sent, and is reported', async (t) => {
  const agent = await someAgent(t)
  agent.source.content.insurance_plans.set('9\u0000', testPlan('9\u0000', 'Odd'))
  assert.deepEqual(await agent.run(), { result: 'complete', uploaded: 3, refused: 1, held: 0 })
  const [refused] = agent.named('record.refused')
  assert.deepEqual([refused?.sourceId, refused?.errors], ['9 ', 'The key contains a NUL character.'])
})

test('without its state the agent sends everything again under new numbers, and the server finds it unchanged', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.source.content.insurance_plans.delete('3')
  agent.clock.ms += 60_000
  agent.loseState()
  assert.equal((await agent.run()).result, 'complete')
  assert.deepEqual(await agent.server.counts(), { uploads: 2, inserted: 3, changed: 0, unchanged: 2, hidden: 1 })
})

test('with a state restored from a backup the agent is refused, and compares everything when a person lets it go on', async (t) => {
  const agent = await someAgent(t)
  await agent.run()
  agent.restart()
  copyFileSync(agent.statePath, `${agent.statePath}-backup`)
  agent.source.changed.insurance_plans = ['1', '2']
  agent.source.content.insurance_plans.set('1', testPlan('1', 'Later'))
  await agent.run()
  // Back to what the backup remembers as sent: only a full read finds that the server has "Later".
  agent.source.content.insurance_plans.set('1', testPlan('1', 'Plan 1'))
  agent.source.content.insurance_plans.set('2', testPlan('2', 'New'))
  agent.clock.ms += 60_000
  agent.restart(() => copyFileSync(`${agent.statePath}-backup`, agent.statePath))
  assert.equal((await agent.run()).result, 'failed')
  assert.equal(agent.named('cycle.failed')[0]?.because, 'copied')
  await agent.server.takeOverCopy()
  assert.equal((await agent.run()).result, 'complete')
  assert.equal(agent.named('state.behind').length, 1)
  assert.deepEqual(
    [...agent.plans().values()].map((plan) => plan.plan_name),
    ['Plan 1', 'New', 'Plan 3'],
  )
})

test('a large dataset goes out in batches, and a stop in between loses nothing', async (t) => {
  const agent = await someAgent(t, { plans: 120, linesMax: 20 })
  let uploads = 0
  agent.server.world.interference = ({ kind }) => {
    if (kind === 'records' && ++uploads === 4) agent.stop.abort()
    return undefined
  }
  assert.deepEqual(await agent.run(), { result: 'stopped' })
  assert.equal((await agent.server.counts()).uploads, 4)
  agent.server.world.interference = undefined
  const outcome = await runCycle({ ...agent.deps(), signal: new AbortController().signal })
  assert.equal(outcome.result, 'complete')
  assert.deepEqual(await agent.server.counts(), { uploads: 7, inserted: 120, changed: 0, unchanged: 0, hidden: 0 })
})

test('every answer of the service that stops a cycle has a sentence that says what to do', () => {
  const told = {
    key_refused: /^The agent’s key was revoked or is wrong\. .* Until then the agent asks again every hour\.$/,
    denied: /^The server no longer knows this organization or location for this agent\. Ask for a new enrolment code/,
    unknown: /^The server no longer knows this organization or location/,
    busy: 'The server is busy or under maintenance. The agent tries again by itself.',
    failing: 'The server is busy or under maintenance. The agent tries again by itself.',
    in_progress: 'The server is busy or under maintenance. The agent tries again by itself.',
    restore_unmarked:
      /^Tell the people who operate the server\. The agent goes on by itself when they have run the command/,
    unexpected: 'Update the agent. If the error persists, send this line to support.',
    record_invalid: 'Update the agent. If the error persists, send this line to support.',
  } as const
  for (const [kind, expected] of Object.entries(told)) {
    const todo = todoFor(kind as keyof typeof told)
    if (typeof expected === 'string') assert.equal(todo, expected)
    else assert.match(todo, expected)
  }
})
