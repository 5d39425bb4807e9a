import assert from 'node:assert/strict'
import { test } from 'node:test'
import { somePortal } from './test-portal.ts'

test('R10: a history is a file of all that the search finds, newest first, of its own tenant alone, and runs nothing', async (t) => {
  const world = await somePortal(t)
  const [vendor, organizationId] = [await world.addVendor(), await world.addOrganization()]
  const { companyId } = vendor
  const company = await world.signInAs({ companyId }, 'owner')
  const practice = await world.signInAs({ organizationId }, 'owner')
  const operator = await world.signInAs('operator', 'support')
  await world.pool.query(
    `insert into audit_event (side, tenant_id, actor, action, subject, reason, ip, request_id)
     select side, tenant_id, '=cmd|A ' || n, 'company.update', 'Name: "A, B"', 'Ticket ' || n, '192.0.2.7', 'r' || n
       from generate_series(1, 2500) n, (values ('company', $1), ('company', 'other')) as of (side, tenant_id)`,
    [companyId],
  )
  await world.pool.query(
    `insert into audit_event (side, tenant_id, actor, action) values ('organization', $1, 'Pat', 'grant.change'), ('operator', null, 'Otto', 'x')`,
    [organizationId],
  )

  const answer = await company.get(`/companies/${companyId}/events.csv`)

  assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/)
  assert.match(answer.headers.get('content-disposition') ?? '', new RegExp(`filename="history-${companyId}\\.csv"`))
  const [heading, ...lines] = answer.text.trimEnd().split('\r\n')
  assert.equal(heading, 'occurred_at,actor,action,subject,reason,ip,request_id,id')
  assert.equal(lines.length, 2500)
  const ids = lines.map((line) => Number(line.split(',').at(-1)))
  assert.deepEqual(
    ids,
    ids.toSorted((one, other) => other - one),
  )
  assert.match(lines[0] ?? '', /Z,'=cmd\|A 2500,company\.update,"Name: ""A, B""",Ticket 2500,192\.0\.2\.7,r2500,\d+$/)
  const found = await company.get(`/companies/${companyId}/events.csv?search=ticket 1234`)
  assert.equal(found.text.trimEnd().split('\r\n').length, 2)
  const linesOf = async (path: string, person: typeof practice) => (await person.get(path)).text.split('\r\n').slice(1)
  assert.match((await linesOf(`/organizations/${organizationId}/events.csv`, practice)).join('\n'), /^\S+,Pat,grant/)
  assert.match((await linesOf('/operator/events.csv', operator)).join('\n'), /^\S+,Otto,x,,,,,\d+\n$/)
})
