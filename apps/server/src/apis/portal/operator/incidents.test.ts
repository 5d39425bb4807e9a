import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PortalAnswers, ServiceStatus } from '@bridgework/contract/portal'
import { createPublicStatus, statusKeptMs } from '../../../modules/incidents/public-status.ts'
import { read } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

type Listed = PortalAnswers['listIncidents']

test('an incident that an operator writes is public at once, update by update, and on record', async (t) => {
  const world = await somePortal(t)
  const [admin, support] = [await world.signInAs('operator', 'admin'), await world.signInAs('operator', 'support')]
  const owner = await world.signInAs({ companyId: (await world.addVendor()).companyId }, 'owner')
  const path = '/operator/incidents'
  const slow = { title: ' Slow reads ', state: 'investigating', text: 'Reads take\n up to 10 s.' }
  assert.equal((await owner.post(path, slow)).body.code, 'role_denied')
  assert.equal((await support.post(path, slow)).body.code, 'field_invalid', 'support says why')
  assert.equal((await admin.post(path, { ...slow, text: ' ' })).body.code, 'field_invalid')

  const { id } = read<{ id: string }>(await admin.post(path, slow))
  const status = await world.request('/portal/api/status')
  assert.equal(status.headers.get('cache-control'), 'public, max-age=15')
  const { incidents } = status.body as unknown as ServiceStatus
  assert.deepEqual(
    incidents.map(({ title, state, updates }) => [title, state, updates.map(({ text }) => text)]),
    [['Slow reads', 'investigating', ['Reads take up to 10 s.']]],
  )
  const update = { state: 'resolved', text: 'Reads are fast again.', reason: 'Seen in the plots' }
  read(await support.post(`${path}/${id}/updates`, update))
  for (const unknown of ['0', '999', 'x']) {
    assert.equal((await support.post(`${path}/${unknown}/updates`, update)).status, 404, unknown)
  }
  const { data } = read<Listed>(await support.get(path))
  assert.deepEqual(
    data.map(({ state, updates }) => [state, updates.map((each) => each.state)]),
    [['resolved', ['resolved', 'investigating']]],
  )
  const events = read<{ data: { what: string; reason: string | null }[] }>(await admin.get('/operator/events'))
  assert.deepEqual(
    events.data.map(({ what, reason }) => [what, reason]),
    [
      ['Posted about the incident “Slow reads”: resolved', 'Seen in the plots'],
      ['Posted about the incident “Slow reads”: investigating', null],
    ],
  )
})

test('the public status asks the database once in 15 seconds, and answers as before while the database is away', async (t) => {
  const world = await somePortal(t)
  const admin = await world.signInAs('operator', 'admin')
  const clock = { ms: 0, asked: 0, isAway: false }
  const publicStatus = createPublicStatus({
    pool: {
      query: ((...query: Parameters<typeof world.pool.query>) => {
        clock.asked += 1
        return clock.isAway ? Promise.reject(new Error('away')) : world.pool.query(...query)
      }) as typeof world.pool.query,
    },
    now: () => new Date(),
    monotonicMs: () => clock.ms,
  })
  const titles = async () => (await publicStatus()).map(({ title }) => title)
  clock.isAway = true
  await assert.rejects(titles(), /away/)
  clock.isAway = false
  assert.deepEqual(await Promise.all([titles(), titles(), titles()]), [[], [], []])
  assert.equal(clock.asked, 2)
  read(await admin.post('/operator/incidents', { title: 'Slow reads', state: 'identified', text: 'Slow.' }))
  clock.ms += statusKeptMs - 1
  assert.deepEqual(await titles(), [])
  clock.ms += 1
  assert.deepEqual(await titles(), ['Slow reads'])
  clock.isAway = true
  clock.ms += statusKeptMs
  assert.deepEqual([await titles(), await titles(), clock.asked], [['Slow reads'], ['Slow reads'], 4])
})
