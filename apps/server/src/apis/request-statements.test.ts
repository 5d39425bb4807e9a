import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetNames } from '@bridgework/contract'
import { analyzeFilled, fillPractices } from '../testing/test-practices.ts'
import { aHeartbeat, aPlan, aRecord, someWorld } from '../testing/test-world.ts'
import { planOf, type Sent, sentStatements } from './testing/test-plans.ts'

/** Practices besides those that are asked for, and rows of them that a step of a statement may look at. */
const practices = 3_000
const examinedMax = 1_500

/** Tables with rows for each practice. The others are small, or of one practice in this test. */
const large = [
  ...['organization', 'location', 'attribution_script', 'agent', 'agent_contact', 'agent_number', 'location_writer'],
  ...['portal_user', 'membership', 'upload', 'location_hour', 'agent_hour', 'sync_activity', 'dataset_state'],
  ...['access_grant', 'dataset_grant'],
]

/** Tables of which a statement of a request finds rows without naming a location, and by what it finds them. */
const exceptions = {
  access_grant: 'what a company or an organization granted: by company and organization',
  agent_problem: 'what an agent says is wrong: by agent',
  location_writer: 'where an agent writes: by agent',
  sync_slot: 'how many locations a company reads now: by company',
  upload: 'whether an agent has used a number, at whatever location of its organization: by agent and number',
}

test('no statement of a request reads through a table that grows with practices, or looks at many of its rows, and each names its location', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation({ insurancePlans: 300 })
  const vendor = await world.addVendor([location])
  await fillPractices(world.ownerPool, { count: practices, companyId: vendor.companyId })
  await analyzeFilled(world.ownerPool)
  const { agent } = location
  const statements = await sentStatements(t, async () => {
    const at = `/locations/${location.id}`
    const first = (await vendor.get(`${at}/insurance_plans?items=2`)).body
    const since = encodeURIComponent(String(first.meta.next_fetch_modified_since))
    const paths = [
      // The second page: of a long list the first one counts how long it is, once for some time.
      ...['/organizations?items=10', '/organizations?items=10&page=2', `/organizations/${location.organizationId}`],
      ...[
        '/locations?items=10',
        '/locations?items=10&page=2',
        `/locations?organization_id=${location.organizationId}`,
        at,
      ],
      ...[`${at}/sync_status`, `${at}/insurance_plans?items=250`, `${at}/insurance_plans/${first.data[0]?.id}`],
      ...[`${at}/insurance_plans/digest`, `${at}/insurance_plans/export`],
      ...[
        `${at}/insurance_plans?q[fetch_modified_since]=${since}`,
        `${at}/patients`,
        `${at}/appointments?q[patient_id]=1`,
      ],
    ]
    for (const path of paths) assert.equal((await vendor.get(path)).status, 200, path)
    await location.upload('insurance_plans', { p1: aPlan({ plan_name: 'Changed' }), p2: null })
    await location.upload('patients', { a: aRecord('patients') })
    assert.equal((await vendor.get(`${at}/insurance_plans?q[fetch_modified_since]=${since}`)).body.data.length, 2)
    const keys = Array.from({ length: 300 }, (_, index) => `p${index + 1}`)
    assert.equal((await world.sendList(agent, location.id, 'insurance_plans', 9_000_000, keys)).status, 200)
    assert.equal((await world.confirmReads(agent, location.id, datasetNames)).status, 200)
    assert.equal((await world.post('/agents/self/heartbeats', agent, aHeartbeat())).status, 200)
  })

  assert.ok(statements.length > 40, `${statements.length} statements`)
  const { rows } = await world.ownerPool.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'location_id'
      where c.relnamespace::regnamespace::text = any(current_schemas(false)) and c.relkind in ('r', 'p')`,
  )
  const ofLocations = new Set(rows.map(({ name }) => name))
  const wrong: string[] = []
  const unnamed = new Set<string>()
  for (const statement of statements) {
    const { readThrough, examined, withoutLocation } = await planOf(world.ownerPool, statement)
    for (const table of withoutLocation) if (ofLocations.has(table)) unnamed.add(table)
    const through = readThrough.filter((table) => large.includes(table))
    if (through.length > 0 || examined > examinedMax)
      wrong.push(`${examined} rows, reads through ${through.join(', ') || 'none'}: ${inOneLine(statement)}`)
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual([...unnamed].toSorted(), Object.keys(exceptions))
  t.diagnostic(`${statements.length} statements`)
})

function inOneLine({ text }: Sent): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 400)
}
