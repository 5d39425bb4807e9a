import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  Listed,
  OperatorCompany,
  OperatorOverview,
  OrganizationPage,
  VendorEntry,
  VendorPage,
} from '@bridgework/contract/portal'
import { actionsOf, read } from '../testing/test-company.ts'
import { type PortalWorld, somePortal } from '../testing/test-portal.ts'

test('in production a practice finds the companies that an operator verified, by name, id and proved domain, and keeps those that it granted', async (t) => {
  const world = await somePortal(t, { environment: 'production' })
  const { location, owner, path, found } = await somePractice(world)
  const [vendor, granted] = [await world.addVendor(), await world.addVendor([location])]
  const claims = `insert into company_domain (company_id, domain, token, method, verified_at) values ($1, $2, 't', $3, $4)`
  await world.pool.query(claims, [vendor.companyId, 'acme.example', 'dns', new Date()])
  await world.pool.query(claims, [granted.companyId, 'claimed.example', null, null])
  const operator = await world.signInAs('operator', 'support')
  const verify = (is_verified: boolean, reason?: string) =>
    operator.put(`/operator/companies/${vendor.companyId}/verification`, { is_verified, reason })
  const page = `${path}/vendors/${vendor.companyId}`
  const whole = { access_version: '', all_locations: ['patients'], locations: [] }

  assert.deepEqual(await found('Vendor'), [granted.companyId], 'the one with access')
  assert.equal((await owner.get(page)).body.code, 'company_unknown')
  const { companies_not_verified: waiting } = read<OperatorOverview>(await operator.get('/operator/overview'))
  assert.equal(waiting, 2)
  const own = read<VendorPage>(await owner.get(`${path}/vendors/${granted.companyId}`))
  const change = { ...whole, access_version: own.access_version }
  assert.equal((await owner.put(`${path}/vendors/${granted.companyId}/access`, change)).status, 200, 'it may get more')

  assert.equal((await verify(true)).body.code, 'field_invalid', 'support says why')
  read(await verify(true, 'Contract of 1 May'))
  for (const search of ['vendor', 'ACME.example', vendor.companyId, vendor.companyId.toUpperCase()]) {
    assert.ok((await found(search)).includes(vendor.companyId), search)
  }
  assert.deepEqual(await found('claimed.example'), [], 'a domain that is only claimed is not searched')
  assert.deepEqual(await found('clinic'), [])
  const seen = read<VendorPage>(await owner.get(page))
  assert.notEqual(seen.profile.verified_at, null)
  const listed = read<Listed<OperatorCompany>>(await operator.get('/operator/companies?verified=yes'))
  assert.deepEqual(
    listed.data.map(({ id, verified_by }) => [id, verified_by]),
    [[vendor.companyId, `${operator.person.name} <${operator.person.email}>`]],
  )

  assert.equal((await verify(false)).body.code, 'field_invalid')
  read(await verify(false, 'The contract ended'))
  assert.deepEqual(await found('acme.example'), [])
  // The page was open when the verification was taken back.
  const late = await owner.put(`${page}/access`, { ...whole, access_version: seen.access_version })
  assert.equal(late.body.code, 'company_unknown')
  assert.equal(location.organizationId, path.split('/').at(-1))
  const company = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  assert.deepEqual(
    (await actionsOf(company, `/companies/${vendor.companyId}`)).map(([, what]) => what),
    ['Took back the verification of the company “Vendor”', 'Verified the company “Vendor”'],
  )
})

test('a vendor that had access and is not verified gets none anew in production, and a sandbox asks for no verification', async (t) => {
  const world = await somePortal(t, { environment: 'production' })
  const { location, owner, path } = await somePractice(world)
  const vendor = await world.addVendor([location])
  await world.revoke(vendor.companyId, location)
  const page = `${path}/vendors/${vendor.companyId}`
  const grant = async () => {
    const { access_version } = read<VendorPage>(await owner.get(page))
    return await owner.put(`${page}/access`, { access_version, all_locations: ['patients'], locations: [] })
  }
  assert.equal((await grant()).body.code, 'company_not_verified')
  await world.pool.query('update company set verified_at = now() where id = $1', [vendor.companyId])
  assert.equal((await grant()).status, 200)

  const sandbox = await somePortal(t)
  const practice = await somePractice(sandbox)
  const other = await sandbox.addVendor()
  const [entry] = read<Listed<VendorEntry>>(await practice.owner.get(`${practice.path}/vendors?search=Vendor`)).data
  assert.deepEqual([entry?.company_id, entry?.is_verified], [other.companyId, false])
})

test('a rename is announced for 30 days to the practices with access, ends the verification, and the former name stays taken', async (t) => {
  const world = await somePortal(t)
  const { location, owner, path } = await somePractice(world)
  const foreign = await somePractice(world)
  const vendor = await world.addVendor([location])
  await world.pool.query('update company set verified_at = now() where id = $1', [vendor.companyId])
  const company = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const other = await world.addVendor()
  const rival = await world.signInAs({ companyId: other.companyId }, 'owner')
  const seen = async () => read<VendorPage>(await owner.get(`${path}/vendors/${vendor.companyId}`))
  const overview = async () => read<OrganizationPage>(await owner.get(path)).renamed_vendors

  read(await company.patch(`/companies/${vendor.companyId}`, { name: 'Vendor' }))
  assert.deepEqual(await overview(), [], 'the same name is no rename')
  read(await company.patch(`/companies/${vendor.companyId}`, { name: 'Recall Radar' }))
  const { name, former_names, profile } = await seen()
  assert.deepEqual([name, former_names.map((each) => each.former_name)], ['Recall Radar', ['Vendor']])
  assert.equal(profile.verified_at, null)
  assert.deepEqual(
    (await overview()).map((each) => [each.name, each.former_name]),
    [['Recall Radar', 'Vendor']],
  )
  assert.deepEqual((await actionsOf(owner, path))[0], [
    'company.rename',
    'Changed its name from “Vendor” to “Recall Radar”',
  ])
  assert.deepEqual(await actionsOf(foreign.owner, foreign.path), [], 'practices without a grant are not told')
  assert.equal((await rival.patch(`/companies/${other.companyId}`, { name: 'Vendor, Inc.' })).body.code, 'name_taken')

  await world.pool.query(`update company_former_name set used_until = used_until - interval '31 days'`)
  assert.deepEqual(await overview(), [])
  assert.deepEqual((await seen()).former_names, [])
})

async function somePractice(world: PortalWorld) {
  const location = await world.addLocation()
  const owner = await world.signInAs({ organizationId: location.organizationId }, 'owner')
  const path = `/organizations/${location.organizationId}`
  const found = async (search: string) => {
    const answer = await owner.get(`${path}/vendors?search=${encodeURIComponent(search)}`)
    return read<Listed<VendorEntry>>(answer).data.map(({ company_id }) => company_id)
  }
  return { location, owner, path, found }
}
