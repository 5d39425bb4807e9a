import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CompanyProfilePage, VendorPage } from '@bridgework/contract/portal'
import { recheckDomains } from '../../../modules/directory/domain.ts'
import { aPng } from '../../../modules/directory/testing/test-png.ts'
import { someWebsite } from '../../../modules/directory/testing/test-website.ts'
import { Problem } from '../../../platform/errors/problem.ts'
import { actionsOf, read } from '../testing/test-company.ts'
import { somePortal } from '../testing/test-portal.ts'

const filledIn = {
  legal_name: 'Acme Dental Software, Inc.',
  postal_address: '1 Main Street\n Springfield, IL 62701',
  website: 'www.acme.example',
  contact: 'help@acme.example',
  purpose: 'Recall messages  for patients.',
}

test('a practice sees before it grants who the vendor is: name in law, website, contact, logo, purpose, since when, how many practices', async (t) => {
  const world = await somePortal(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const path = `/companies/${vendor.companyId}`
  const practice = await world.signInAs({ organizationId: location.organizationId }, 'member')
  const seen = async () =>
    read<VendorPage>(await practice.get(`/organizations/${location.organizationId}/vendors/${vendor.companyId}`))
      .profile
  assert.deepEqual({ ...(await seen()), since: '' }, { ...nothing, since: '' })

  const saved = read<CompanyProfilePage>(await owner.put(`${path}/profile`, filledIn))
  read(await owner.put(`${path}/logo`, { png: aPng().toString('base64') }))
  await world.grant(vendor.companyId, location)
  const profile = await seen()
  assert.deepEqual(
    { ...profile, since: '', logo: profile.logo?.slice(0, 22) },
    {
      ...nothing,
      ...filledIn,
      since: '',
      postal_address: '1 Main Street, Springfield, IL 62701',
      website: 'https://www.acme.example',
      purpose: 'Recall messages for patients.',
      logo: 'data:image/png;base64,',
      practices: '1-4',
    },
  )
  assert.equal(saved.domain?.dns_name, '_bridgework.acme.example')
  assert.equal(saved.domain?.file_url, 'https://acme.example/.well-known/bridgework-verification.txt')
  assert.deepEqual(
    read<CompanyProfilePage>(await owner.get(`${path}/profile`)).profile,
    profile,
    'the company’s preview is what practices see',
  )
  read(await owner.delete(`${path}/logo`))
  assert.equal((await seen()).logo, null)
  assert.deepEqual(
    (await actionsOf(owner, path)).map(([, what]) => what),
    ['Removed the logo of the company', 'Set the logo of the company', 'Changed the profile of the company'],
  )
})

const nothing = {
  legal_name: null,
  postal_address: null,
  website: null,
  contact: null,
  purpose: null,
  logo: null,
  verified_domain: null,
  verified_at: null,
  practices: '0',
}

test('a profile that could mislead is refused, and so is an image that is none', async (t) => {
  const world = await somePortal(t)
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const path = `/companies/${vendor.companyId}`
  const refused: [object, RegExp][] = [
    ...[
      'http://acme.example',
      'https://127.0.0.1',
      'https://2130706433',
      'https://[::1]',
      'https://localhost',
      'https://a:b@acme.example',
      'https://acme.example:8443',
      'javascript:alert(1)',
      'https://intranet',
    ].map((website): [object, RegExp] => [{ website }, /website must be an https address/]),
    [{ legal_name: 'Acme \u202elatneD' }, /control or invisible/],
    [{ legal_name: 'Аcme' }, /several scripts/],
    [{ contact: 'call us' }, /e-mail address/],
    [{ contact: 'a@b.example, c@d.example' }, /e-mail address/],
    [{ postal_address: 'x\n'.repeat(200) }, /at most 300/],
    [{ purpose: 'x'.repeat(501) }, /at most 500/],
    [{ purpose: 'a\u200bb' }, /invisible/],
  ]
  for (const [field, because] of refused) {
    const answer = await owner.put(`${path}/profile`, { ...filledIn, ...field })
    assert.equal(answer.status, 422, JSON.stringify(field))
    assert.match(answer.body.errors, because, JSON.stringify(field))
  }
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')
  assert.equal((await owner.put(`${path}/logo`, { png: svg })).body.code, 'logo_invalid')
  assert.equal((await owner.put(`${path}/logo`, { png: 'not base64 at all' })).body.code, 'logo_invalid')
  assert.equal(read<CompanyProfilePage>(await owner.get(`${path}/profile`)).profile.logo, null)
})

test('a website is proved by a check, checked again each day, and lost with the third failure in a row or with another website', async (t) => {
  const website = await someWebsite(t)
  let now = new Date()
  const later = (ms: number) => {
    now = new Date(now.getTime() + ms)
  }
  const world = await somePortal(t, { proofAccess: website.access, now: () => now })
  const vendor = await world.addVendor()
  const owner = await world.signInAs({ companyId: vendor.companyId }, 'owner')
  const path = `/companies/${vendor.companyId}`
  const check = async () => {
    later(10_000)
    return read<CompanyProfilePage>(await owner.post(`${path}/domain_check`))
  }
  const recheck = async () => {
    later(24 * 60 * 60_000)
    await recheckDomains({ pool: world.pool, access: website.access, now: () => now })
  }
  const current = async () => {
    const { rows } = await world.pool.query<{ domain: string; verified: boolean; failures: number }>(
      'select domain, verified_at is not null as verified, failures from company_domain where company_id = $1',
      [vendor.companyId],
    )
    return rows[0]
  }
  assert.equal((await owner.post(`${path}/domain_check`)).body.code, 'domain_missing')
  const { domain } = read<CompanyProfilePage>(await owner.put(`${path}/profile`, filledIn))
  const token = domain?.token ?? assert.fail()

  const failed = await check()
  assert.equal(failed.profile.verified_domain, null)
  assert.match(failed.domain?.dns_failure ?? '', /no TXT record/)
  assert.equal((await owner.post(`${path}/domain_check`)).body.code, 'domain_checked')
  website.records.set('_bridgework.acme.example', token)
  const passed = await check()
  assert.equal(passed.profile.verified_domain, 'acme.example')
  assert.deepEqual([passed.domain?.method, passed.domain?.dns_failure], ['dns', null])

  website.records.clear()
  await recheckDomains({ pool: world.pool, access: website.access, now: () => now })
  assert.deepEqual(await current(), { domain: 'acme.example', verified: true, failures: 0 }, 'not before a day')
  await recheck()
  await recheck()
  assert.deepEqual(await current(), { domain: 'acme.example', verified: true, failures: 2 })
  website.answerWith(token)
  await recheck()
  assert.deepEqual(await current(), { domain: 'acme.example', verified: true, failures: 0 }, 'a proof counts anew')
  website.answerWith('', 500)
  for (let day = 0; day < 3; day++) await recheck()
  assert.equal((await current())?.verified, false)
  const { rows } = await world.pool.query(
    `select action, facts from audit_event where tenant_id = $1 order by id desc limit 1`,
    [vendor.companyId],
  )
  assert.deepEqual(rows[0], {
    action: 'company.domain_lost',
    facts: { domain: 'acme.example', checks: 3 },
  })

  website.answerWith(token)
  // Back to the clock by which the session of the test is alive.
  now = new Date()
  await world.pool.query('update company_domain set checked_at = null')
  const again = await world.signInAs({ companyId: vendor.companyId }, 'admin')
  assert.equal(
    read<CompanyProfilePage>(await again.post(`${path}/domain_check`)).profile.verified_domain,
    'acme.example',
  )
  const other = read<CompanyProfilePage>(
    await again.put(`${path}/profile`, { ...filledIn, website: 'https://other.example' }),
  )
  assert.equal(other.profile.verified_domain, null)
  assert.notEqual(other.domain?.token, token)
})

test('X06: the check of a website that answers 101 or nothing ends and counts a failure, and one that the server’s end cuts counts none', async (t) => {
  const stopping = new AbortController()
  const website = await someWebsite(t, { timeoutMs: 1_000, stopping: stopping.signal })
  let now = new Date()
  const world = await somePortal(t, { proofAccess: website.access })
  const vendors = [await world.addVendor(), await world.addVendor()]
  for (const [index, { companyId }] of vendors.entries()) {
    await world.pool.query(
      `insert into company_domain (company_id, domain, token, method, verified_at, checked_at)
       values ($1, $2, $3, 'file', $4, $4)`,
      [companyId, `${index}.example`, `token-${index}`, now],
    )
  }
  const recheck = async () => {
    now = new Date(now.getTime() + 24 * 60 * 60_000)
    await recheckDomains({ pool: world.pool, access: website.access, now: () => now })
  }
  const failures = async () => {
    const { rows } = await world.pool.query<{ failures: number; verified: boolean }>(
      'select failures, verified_at is not null as verified from company_domain order by domain',
    )
    return rows.map((row) => `${row.failures} ${row.verified}`)
  }

  website.site.answer = (_, { socket }) => void socket?.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  await recheck()
  assert.deepEqual(await failures(), ['1 true', '1 true'])
  website.site.answer = () => {}
  await recheck()
  assert.deepEqual(await failures(), ['2 true', '2 true'])
  // One is proved by its record; the other waits for its file when the server stops.
  website.records.set('_bridgework.0.example', 'token-0')
  website.site.answer = async () => {
    while ((await failures())[0] !== '0 true') await sleep(10)
    stopping.abort(new Problem('unavailable'))
  }
  await assert.rejects(recheck(), { code: 'unavailable' })
  assert.deepEqual(await failures(), ['0 true', '2 true'])
})

test('X06: at most 20 proofs are checked at a time, those that wait longest, each by one process, and none that failed for good', async (t) => {
  const website = await someWebsite(t)
  const world = await somePortal(t)
  const now = new Date()
  for (let index = 0; index < 23; index += 1) {
    const { companyId } = await world.addVendor()
    await world.pool.query(
      `insert into company_domain (company_id, domain, token, verified_at, method, checked_at)
       values ($1, $2, 'other', $3::timestamptz, case when $3 is not null then 'dns' end,
               $4::timestamptz - $5 * interval '1 hour')`,
      [companyId, `${index}.example`, index === 22 ? null : now, now, 30 + index],
    )
  }
  const recheck = () => recheckDomains({ pool: world.pool, access: website.access, now: () => now })

  const checked = async () => {
    const { rows } = await world.pool.query<{ domain: string }>('select domain from company_domain where failures = 1')
    return rows.map(({ domain }) => Number.parseInt(domain, 10)).sort((a, b) => a - b)
  }

  await recheck()
  assert.deepEqual(
    await checked(),
    Array.from({ length: 20 }, (_, index) => index + 2),
  )
  await Promise.all([recheck(), recheck()])
  assert.deepEqual(
    await checked(),
    Array.from({ length: 22 }, (_, index) => index),
  )
  assert.equal(website.site.asked.length, 22)
})
