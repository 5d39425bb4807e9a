import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Notice, NoticeSettings } from '@bridgework/contract/portal'
import { operator } from '../../../modules/membership/tenant.ts'
import { notify } from '../../../modules/notices/notice.ts'
import { read } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

type Page = { data: Notice[]; total: number; unread: number }

test('a member reads their own notices, marks them as read, and touches those of no other member', async (t) => {
  const world = await somePortal(t)
  const id = await world.addOrganization()
  const [owner, admin] = [
    await world.signInAs({ organizationId: id }, 'owner'),
    await world.signInAs({ organizationId: id }, 'admin'),
  ]
  for (const title of ['First', 'Second', 'Third']) {
    await notify(
      world.pool,
      { publicUrl: 'http://localhost', now: new Date() },
      {
        ...{ title, body: 'B.', path: `/organization/${id}/removals`, event: 'removal_held', kind: 'removals' },
        ...{ to: 'removal.decide', tenant: { side: 'organization', id } },
      },
    )
  }
  const path = `/tenants/${id}/notices`
  const listed = async (person: typeof owner) => read<Page>(await person.get(path))

  const { data, total, unread } = await listed(owner)

  assert.deepEqual([data.map(({ title }) => title), total, unread], [['Third', 'Second', 'First'], 3, 3])
  const [third, second] = data
  await owner.post(`${path}/read`, { id: second?.id, with_older: false })
  assert.deepEqual(
    (await listed(owner)).data.map(({ read_at }) => read_at !== null),
    [false, true, false],
  )
  await owner.post(`${path}/read`, { id: third?.id, with_older: true })
  assert.equal(read<{ unread: number }>(await owner.get(`/tenants/${id}/unread_notices`)).unread, 0)
  // The ids of another member's notices are neither found nor marked.
  await owner.post(`${path}/read`, { id: (await listed(admin)).data[0]?.id, with_older: true })
  assert.equal((await listed(admin)).unread, 3)
  assert.equal((await owner.post(`${path}/read`, { id: 'x', with_older: true })).status, 422)
})

test('support marks notices as read without a reason', async (t) => {
  const world = await somePortal(t)
  const support = await world.signInAs('operator', 'support')
  await notify(
    world.pool,
    { publicUrl: 'http://localhost', now: new Date() },
    {
      ...{ title: 'T', body: 'B.', path: '/operator/jobs', event: 'backlog', kind: 'service', to: 'operator.read' },
      tenant: operator,
    },
  )
  const { data } = read<Page>(await support.get('/tenants/operator/notices'))
  await support.post('/tenants/operator/notices/read', { id: data[0]?.id, with_older: false })
  assert.equal(read<Page>(await support.get('/tenants/operator/notices')).unread, 0)
})

test('each person chooses mails for what they belong to, of the kinds that their role gets, and security stays on', async (t) => {
  const world = await somePortal(t)
  const id = await world.addOrganization('Smile Group')
  const { companyId } = await world.addVendor()
  const member = await world.signInAs({ organizationId: id }, 'member')
  const owner = await world.signInAs({ organizationId: id }, 'owner')
  await world.joinCompany(owner.person, companyId, 'admin')
  const settings = async (person: typeof owner) =>
    read<{ data: NoticeSettings[] }>(await person.get('/account/notice_settings')).data

  const [company, practice] = await settings(owner)

  assert.deepEqual([practice?.name, company?.tenant_id], ['Smile Group', companyId])
  assert.deepEqual(
    practice?.kinds.map(({ kind, delivery }) => `${kind} ${delivery}`),
    ['security at_once', 'access at_once', 'removals at_once', 'agents at_once', 'datasets daily'],
  )
  assert.deepEqual((await settings(member))[0]?.kinds, [{ kind: 'security', delivery: 'at_once' }])
  const change = (tenant_id: string, kind: string, delivery: string) =>
    owner.put('/account/notice_settings', { tenant_id, kind, delivery })
  assert.equal((await change(id, 'access', 'off')).status, 200)
  const [ofCompany, ofPractice] = await settings(owner)
  assert.equal(ofPractice?.kinds.find(({ kind }) => kind === 'access')?.delivery, 'off')
  assert.equal(ofCompany?.kinds.find(({ kind }) => kind === 'access')?.delivery, 'at_once')
  assert.equal((await change(id, 'security', 'off')).status, 422)
  assert.equal((await change(id, 'keys', 'off')).status, 422)
  assert.equal((await change('operator', 'service', 'off')).status, 404)
  assert.equal((await change(id, 'access', 'never')).status, 422)
})
