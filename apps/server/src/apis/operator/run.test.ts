import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { authenticateAgent, enrollAgent } from '../../modules/agents/agent-key.ts'
import { verifyKeyPair } from '../../modules/credentials/verify-key-pair.ts'
import { insertDisclosures } from '../../modules/disclosure/store.ts'
import { createLocation } from '../../modules/onboarding/upsert-locations.ts'
import type { CompanyId, OrganizationId } from '../../platform/identity/identity.ts'
import { aDigest, secretKey, someOperator } from './testing/test-operator.ts'

test('an operator takes a vendor and a practice from nothing to a first read, and back', async (t) => {
  const { pool, run, ask } = await someOperator(t)

  const organization = await ask('organization', 'create', '--name', 'Smile Group', '--time-zone', 'America/New_York')
  const { enrolment_code: code, command } = await ask('agent', 'enroll', '--organization', organization.id)
  assert.equal(command, `bridgework-agent enroll --server https://b.example --code ${code} --db-user <user>`)
  const { agentId, agentKey } = await enrollAgent(pool, secretKey, { code })
  const location = await createLocation(pool, organization.id as OrganizationId, { sourceId: '1', name: 'Downtown' })
  const locations = await ask('location', 'list', '--organization', organization.id)
  assert.deepEqual(
    locations.map((each: { id: string; name: string }) => [each.id, each.name]),
    [[location.id, 'Downtown']],
  )

  const { company, owner } = await ask(
    'company',
    'create',
    '--name',
    'Vendor',
    '--owner-email',
    'o@v.example',
    '--owner-name',
    'Olga',
  )
  const early = await run('credential', 'generate', '--company', company.id)
  assert.deepEqual([early.code, early.out], [1, ''])
  assert.match(early.err, /not accepted/)
  const accepted = await ask('agreement', 'accept', '--company', company.id)
  assert.deepEqual(accepted, { company_id: company.id, member_id: owner.id, version: 1 })
  assert.equal((await ask('agreement', 'show', '--company', company.id)).is_in_force, true)
  const pair = await ask('credential', 'generate', '--company', company.id)
  assert.ok('companyId' in (await verifyKeyPair(pool, secretKey, pair.client_id, pair.client_secret)))

  const scope = [
    '--company',
    company.id,
    '--organization',
    organization.id,
    '--location',
    location.id,
    '--dataset',
    'all',
  ]
  const opened = await ask('grant', 'add', ...scope, '--by', 'Dr. Adams')
  assert.deepEqual([opened.locations, opened.datasets > 0], [1, true])
  const grants = await ask('grant', 'list', '--company', company.id)
  assert.equal(grants.length, opened.datasets)
  assert.equal(grants[0].granted_by, 'Dr. Adams')
  assert.match((await run('grant', 'add', ...scope)).out, /it was so already/)
  assert.match((await run('grant', 'add', ...scope, '--notes')).out, /Granted 4 datasets of/)
  assert.match((await run('grant', 'list')).out, /appointments with notes/)
  assert.match((await run('grant', 'remove', ...scope, '--notes')).out, /Revoked the notes of 4 datasets of/)
  assert.doesNotMatch((await run('grant', 'list')).out, /with notes/)
  await ask('grant', 'remove', ...scope)
  assert.deepEqual(await ask('grant', 'list', '--organization', organization.id), [])
  // With and without their notes, those that have them ended twice more.
  assert.equal((await ask('grant', 'list', '--ended')).length, opened.datasets + 2 * 4)

  await ask('agent', 'revoke', '--agent', agentId)
  await assert.rejects(authenticateAgent(pool, secretKey, `Bearer ${agentKey}`), { code: 'agent_key_invalid' })
})

test('the operator sets time zones of an organization and of a location, as IANA names only', async (t) => {
  const { pool, run, ask } = await someOperator(t)
  const { id } = await ask('organization', 'create', '--name', 'Smile Group')
  const location = await createLocation(pool, id as OrganizationId, { sourceId: '1', name: 'Downtown' })
  const organization = ['organization', 'update', '--organization', id]
  const place = ['location', 'update', '--location', location.id]
  assert.equal((await ask(...organization, '--time-zone', 'America/Denver')).time_zone, 'America/Denver')
  const renamed = await ask(...organization, '--name', 'Smiles')
  assert.deepEqual([renamed.name, renamed.time_zone], ['Smiles', 'America/Denver'])
  assert.equal((await ask(...organization, '--time-zone', 'none')).time_zone, null)
  assert.equal((await ask(...place, '--time-zone', 'America/Boise')).assigned_time_zone, 'America/Boise')
  assert.equal((await ask('location', 'list'))[0].assigned_time_zone, 'America/Boise')
  assert.equal((await ask(...place, '--time-zone', 'none')).assigned_time_zone, null)
  for (const wrong of ['CST', 'EST5EDT', '-06:00', 'Mars/Base']) {
    const refused = [
      await run('organization', 'create', '--name', 'Other', '--time-zone', wrong),
      await run(...organization, '--time-zone', wrong),
      await run(...place, '--time-zone', wrong),
    ]
    for (const { code, err } of refused) {
      assert.equal(code, 1, wrong)
      assert.match(err, /IANA name like America/)
    }
  }
})

test('a secret is printed once, when it is made, with a line that says so', async (t) => {
  const { pool, run, ask } = await someOperator(t)
  const { company } = await ask(
    'company',
    'create',
    '--name',
    'Vendor',
    '--owner-email',
    'o@v.example',
    '--owner-name',
    'Olga',
  )
  await run('agreement', 'accept', '--company', company.id)

  const made = await run('credential', 'generate', '--company', company.id)

  const [, secret = ''] = /client_secret +(bws_[\w-]{43})$/.exec(made.out) ?? []
  assert.ok(secret)
  assert.match(made.err, /only this once/)
  for (const verb of [
    ['credential', 'list', '--company', company.id],
    ['company', 'list'],
    ['member', 'list', '--company', company.id],
  ]) {
    for (const form of [[], ['--json']]) {
      const { code, out, err } = await run(...verb, ...form)
      assert.equal(code, 0)
      assert.ok(!out.includes(secret) && !err.includes(secret))
    }
  }
  const again = await run('credential', 'regenerate', '--company', company.id)
  const [, next = ''] = /client_secret +(bws_[\w-]{43})$/.exec(again.out) ?? []
  const [, clientId = ''] = /client_id +(bwc_[\w-]{43})$/m.exec(again.out) ?? []
  assert.ok(next && next !== secret)
  assert.ok('companyId' in (await verifyKeyPair(pool, secretKey, clientId, next)))
  assert.equal((await run('credential', 'revoke', '--company', company.id)).code, 0)
  const verdict = await verifyKeyPair(pool, secretKey, clientId, next)
  assert.ok('refused' in verdict && verdict.refused === 'revoked')
  assert.equal((await run('credential', 'revoke', '--company', company.id)).code, 1)
})

test('a company is suspended, resumed and closed, and its people are added and listed', async (t) => {
  const { run, ask } = await someOperator(t)
  const { company } = await ask(
    'company',
    'create',
    '--name',
    'Vendor',
    '--owner-email',
    'o@v.example',
    '--owner-name',
    'Olga',
  )
  const id = company.id as CompanyId
  for (const [verb, state] of [
    ['suspend', 'suspended'],
    ['resume', 'active'],
    ['close', 'closed'],
  ] as const) {
    assert.equal((await ask('company', verb, '--company', id)).state, state)
  }
  assert.equal((await run('company', 'resume', '--company', id)).code, 1)
  await ask('member', 'add', '--company', id, '--email', 'a@v.example', '--name', 'Ada', '--role', 'admin')
  const members = await ask('member', 'list', '--company', id)
  assert.deepEqual(
    members.map((each: { role: string }) => each.role),
    ['owner', 'admin'],
  )
  assert.match((await run('member', 'list', '--company', id)).out, /^id +email +name +role +state +added\n.*Olga/)
})

test('an agreement is published from a file and binds at once or after its grace period', async (t) => {
  const { run, ask } = await someOperator(t)
  const directory = mkdtempSync(join(tmpdir(), 'bridgework-agreement-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'agreement.md')
  writeFileSync(file, '# Be kinder\n')
  const published = await ask('agreement', 'publish', '--file', file, '--grace-days', '30')
  assert.equal(published.version, 2)
  assert.ok(Math.abs(Date.parse(published.enforced_at) - Date.now() - 30 * 86_400_000) < 60_000)
  assert.equal((await ask('agreement', 'show')).body, '# Be kinder\n')
  assert.match((await run('agreement', 'show', '--version', '1')).out, /Developer API agreement, version 1/)
  assert.equal((await run('agreement', 'show', '--version', '9')).code, 1)
  assert.equal((await run('agreement', 'publish', '--file', join(directory, 'none.md'))).code, 1)
  writeFileSync(file, Buffer.from([0xff, 0xfe]))
  assert.match((await run('agreement', 'publish', '--file', file)).err, /not UTF-8|ERR_ENCODING/)
})

test('signing keys rotate and are withdrawn, the database tells its migration, and lists may be empty', async (t) => {
  const { run, ask } = await someOperator(t)
  const { kid } = await ask('signing-key', 'rotate')
  const next = await ask('signing-key', 'rotate')
  assert.deepEqual(
    (await ask('signing-key', 'list')).map((key: { kid: string; state: string }) => [key.kid, key.state]),
    [
      [next.kid, 'active'],
      [kid, 'retired'],
    ],
  )
  await ask('signing-key', 'withdraw', '--kid', kid)
  assert.equal((await run('signing-key', 'withdraw', '--kid', kid)).code, 1)
  assert.ok((await ask('database', 'migrate')).number >= 1)
  for (const list of [
    ['removal', 'list'],
    ['disclosure', 'list', '--since', '2026-11-20'],
    ['agent', 'list'],
  ]) {
    assert.deepEqual(await ask(...list), [])
    assert.equal((await run(...list)).out, 'None.')
  }
})

test('a held removal is listed and confirmed once; a read on record is listed by whom, where and when', async (t) => {
  const { pool, run, ask } = await someOperator(t)
  const organization = await ask('organization', 'create', '--name', 'Smile Group')
  const { company } = await ask(
    'company',
    'create',
    '--name',
    'Vendor',
    '--owner-email',
    'o@v.example',
    '--owner-name',
    'Olga',
  )
  const location = await createLocation(pool, organization.id as OrganizationId, {
    sourceId: '1',
    name: 'Downtown\u001b[2J',
  })
  const where = ['--location', location.id]
  await pool.query(
    `with held as (
       insert into removal (location_id, dataset, id, state, list_hash, visible, remaining, held_at)
       values ($1, 'insurance_plans', gen_random_uuid(), 'held', 'abc', 2, 2, now())
       returning *)
     insert into removal_record (location_id, dataset, removal_id, source_id)
     select location_id, dataset, id, n from held, generate_series(1, 2) n`,
    [location.id],
  )
  await insertDisclosures(pool, [aDigest(company.id, location.id)], { timeoutMs: 5_000 })

  const [held] = await ask('removal', 'list')
  assert.deepEqual([held.location_id, held.remaining, held.visible, held.list_hash], [location.id, 2, 2, 'abc'])
  const table = (await run('removal', 'list')).out
  assert.ok(table.includes('Downtown') && !table.includes('\u001b'), 'a name must not steer the terminal')
  const confirm = ['removal', 'confirm', ...where, '--dataset', 'insurance_plans']
  const shown = await run(...confirm)
  assert.deepEqual([shown.code, shown.out], [1, ''])
  assert.match(shown.err, /would hide 2 of 2 records\. To confirm it, run the command again with --list abc\./)
  assert.match((await run(...confirm, '--list', 'abd')).err, /The list has changed since you saw it/)
  assert.deepEqual(await ask(...confirm, '--list', 'abc'), { hidden: 0, remaining: 0 })
  assert.equal((await run(...confirm, '--list', 'abc')).code, 1)

  const [read] = await ask('disclosure', 'list', ...where)
  assert.deepEqual(
    [read.company_id, read.coverage, read.request_id],
    [company.id, { after_id: '0', last_id: '812' }, 'request-1'],
  )
  assert.match(
    (await run('disclosure', 'list', '--company', company.id)).out,
    /insurance_plans with notes +0 \(digested 100\) +\(0, 812\] +192\.0\.2\.7/,
  )
  assert.deepEqual(await ask('disclosure', 'list', '--since', '2199-01-01'), [])
})

test('an id that names nothing is refused with exit code 1, on stderr, also as JSON', async (t) => {
  const { run } = await someOperator(t)
  const [nobody, nothing] = ['00000000-0000-4000-8000-000000000000', '7']
  const commands = [
    ['company', 'suspend', '--company', nobody],
    ['member', 'list', '--company', nobody],
    ['credential', 'list', '--company', nobody],
    ['credential', 'generate', '--company', nobody],
    ['agreement', 'accept', '--company', nobody],
    ['location', 'list', '--organization', nothing],
    ['agent', 'enroll', '--organization', nothing],
    ['agent', 'list', '--organization', nothing],
    ['agent', 'revoke', '--agent', nothing],
    ['grant', 'list', '--company', nobody],
    ['grant', 'list', '--organization', nothing],
    ['grant', 'add', '--company', nobody, '--organization', nothing, '--location', 'all', '--dataset', 'all'],
    ['removal', 'confirm', '--location', nothing, '--dataset', 'insurance_plans'],
    ['disclosure', 'list', '--location', nothing],
    ['disclosure', 'list', '--company', nobody],
  ]
  for (const command of commands) {
    const { code, out, err } = await run(...command)
    assert.deepEqual([code, out], [1, ''], command.join(' '))
    assert.match(err, /^(There is no|No removal)[^\n]*\.$/, command.join(' '))
    const inJson = await run(...command, '--json')
    assert.equal(inJson.code, 1)
    assert.equal(JSON.parse(inJson.err).errors, err)
    assert.match(JSON.parse(inJson.err).code, /_unknown$/)
  }
})

test('a value that cannot be is refused with what the option takes and exit code 2', async (t) => {
  const { run } = await someOperator(t)
  const company = '00000000-0000-4000-8000-000000000000'
  const grant = ['grant', 'add', '--company', company, '--organization', '7', '--location']
  const commands: [string[], RegExp][] = [
    [['company', 'suspend', '--company', 'x'], /--company must be an id like/],
    [['agent', 'revoke', '--agent', '07'], /--agent must be an id: a positive whole number/],
    [[...grant, 'all', '--location', '7', '--dataset', 'all'], /--location is "all" or a list/],
    [[...grant, 'x', '--dataset', 'all'], /--location must be an id/],
    [[...grant, 'all', '--dataset', 'insurance_plan'], /--dataset must be one of: .*/],
    [
      ['member', 'add', '--company', company, '--email', 'a@b.c', '--name', 'A', '--role', 'boss'],
      /must be one of: owner, admin, member/,
    ],
    [['agent', 'enroll', '--organization', '7', '--hours', '0'], /--hours must be a whole number from 1 to 720/],
    [['disclosure', 'list', '--since', '2026-02-30'], /--since must be a day/],
    [['disclosure', 'list', '--since', 'yesterday'], /--since must be a day/],
    [['disclosure', 'list', '--limit', '1e3'], /--limit must be a whole number/],
  ]
  for (const [command, message] of commands) {
    const { code, out, err } = await run(...command)
    assert.deepEqual([code, out], [2, ''], command.join(' '))
    assert.match(err, message)
  }
})
