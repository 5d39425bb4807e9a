import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sealRelease } from '@bridgework/contract/signed-release'
import { enrollAgent } from '../../modules/agents/agent-key.ts'
import { actInWords, factsOf } from '../../modules/audit/in-words.ts'
import { makeMonthsBetween } from '../../modules/disclosure/testing/test-months.ts'
import { tablesOf } from '../../modules/leaving/testing/test-filled-tenant.ts'
import { activateMember } from '../../modules/membership/member.ts'
import { createLocation } from '../../modules/onboarding/upsert-locations.ts'
import { createPerson } from '../../modules/sign-in/create-person.ts'
import type { MemberId, OrganizationId } from '../../platform/identity/identity.ts'
import type { Command } from './command-line.ts'
import { commands } from './commands.ts'
import { secretKey, someOperator } from './testing/test-operator.ts'

type Operator = Awaited<ReturnType<typeof someOperator>>
/** What a command is run with, and where it is not the installation of the other commands. */
type Case = { args: string[]; on?: Operator }

test('K36: every command that changes something, or hands out patients’ data, leaves an act in the same transaction', async (t) => {
  const { main, cases } = await someInstallation(t)
  const all = Object.entries(commands).flatMap(([group, { commands: ofGroup }]) =>
    Object.entries(ofGroup).map(([name, command]): [string, Command] => [`${group} ${name}`, command]),
  )
  assert.deepEqual(Object.keys(cases).toSorted(), all.map(([name]) => name).toSorted(), 'each command has its case')

  for (const [name, { act, options }] of all) {
    const { args, on = main } = await (cases[name as keyof typeof cases] as () => Promise<Case>)()
    const line = [...name.split(' '), ...args]
    const before = await contentOf(on)
    if (act === null) {
      const { code, err } = await on.run(...line)
      assert.equal(code, 0, `${name}: ${err}`)
      assert.deepEqual(await contentOf(on), before, `${name} changes nothing`)
      continue
    }
    if (options.reason?.isRequired) {
      const { code, err } = await on.run(...line)
      assert.deepEqual([code, /^Missing: --reason <text>\./.test(err)], [2, true], name)
    }
    // A reason of its own tells its act from those that a restored backup brings.
    const reason = `To ${name}`
    line.push('--reason', reason)
    await refuseActs(on, reason)
    const refused = await on.run(...line)
    assert.deepEqual([refused.code, refused.out], [1, ''], name)
    assert.deepEqual(await contentOf(on), before, `${name} changes nothing without its act`)
    await acceptActs(on)

    const { code, err } = await on.run(...line)
    assert.equal(code, 0, `${name}: ${err}`)
    const { rows } = await on.pool.query(
      'select side, action, actor, facts from audit_event where reason = $1 order by id',
      [reason],
    )
    assert.equal(rows[0]?.side, 'operator', `${name} is in the operator’s history`)
    for (const row of rows) {
      assert.equal(row.action, act, name)
      assert.equal(row.actor, `The operator of Bridgework (command line, ${userInfo().username})`, name)
      assert.doesNotMatch(JSON.stringify(row.facts), /P-4711|bwe_|bws_/, `${name} names no patient and no secret`)
      const { what } = actInWords(row)
      assert.doesNotMatch(what, /\d{15}|[\da-f]{8}-|bwc_|[a-z]_[a-z]/, `${name}: a sentence without ids and codes`)
      assert.notEqual(factsOf(act, row.facts), null, `${name} records the facts of its act`)
    }
  }
})

test('an act names the operator who says so, and an address of no operator changes nothing', async (t) => {
  const { main, operators } = await someInstallation(t)
  const create = ['organization', 'create', '--name', 'Smiles', '--as']
  const before = await contentOf(main)
  const refused = await main.run(...create, 'nobody@example.com')
  assert.deepEqual([refused.code, refused.err.slice(0, 49)], [1, 'No operator has the address nobody@example.com. S'])
  assert.deepEqual(await contentOf(main), before)

  await main.ask('operator', 'set-role', '--operator', operators.two.id, '--role', 'support')
  assert.match((await main.run(...create, 'two@example.com')).err, /is in support, which works in the portal/)
  const { id } = await main.ask(...create, 'ONE@example.com')
  const { rows } = await main.pool.query(
    'select side, tenant_id, user_id, actor from audit_event order by id desc limit 2',
  )
  const actor = `One <one@example.com> (command line, ${userInfo().username})`
  assert.deepEqual(rows.toReversed(), [
    { side: 'operator', tenant_id: null, user_id: operators.one.userId, actor },
    { side: 'organization', tenant_id: id, user_id: operators.one.userId, actor },
  ])
})

/** An installation, and a case for each command, which works when the commands before it were run. */
async function someInstallation(t: TestContext) {
  const main = await someOperator(t)
  const { pool, ask } = main
  const folder = mkdtempSync(join(tmpdir(), 'bridgework-acts-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'agreement.md'), 'An agreement.')
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(join(folder, 'key.pem'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(join(folder, 'agent.release'), sealRelease('0.3.0', Buffer.from('a program'), privateKey))
  const addOperator = async (name: string) => {
    const email = `${name.toLowerCase()}@example.com`
    const { id } = await ask('operator', 'add', '--email', email, '--name', name)
    const { userId } = await createPerson(pool, { email, name, passwordHash: 'x' })
    await activateMember(pool, id as MemberId, userId)
    return { id, userId }
  }
  const operators = { one: await addOperator('One'), two: await addOperator('Two') }
  const makeOrganization = async () => (await ask('organization', 'create', '--name', 'Smile Group')).id as string
  const owner = ['--owner-email', 'o@v.example', '--owner-name', 'Olga']
  const makeCompany = async (name: string) =>
    (await ask('company', 'create', '--name', name, ...owner)).company.id as string
  const [organization, company] = [await makeOrganization(), await makeCompany('Vendor')]
  const addAgent = async () => {
    const { enrolment_code: code } = await ask('agent', 'enroll', '--organization', organization)
    return (await enrollAgent(pool, secretKey, { code })).agentId
  }
  const location = await createLocation(pool, organization as OrganizationId, { sourceId: '1', name: 'Downtown' })
  await pool.query(
    `insert into record (location_id, dataset, id, source_id, modified_at, is_hidden, agent_id, upload_number, received_at, source_hash, source, document)
     values ($1, 'patients', 12, 'P-4711', 1, false, 1, 1, now(), '', '', '{"attributes":{}}')`,
    [location.id],
  )
  await pool.query(
    `insert into removal (location_id, dataset, id, state, list_hash, visible, remaining, held_at)
     values ($1, 'insurance_plans', gen_random_uuid(), 'held', 'abc', 0, 0, now())`,
    [location.id],
  )
  const person = (email: string) => ['--email', email, '--name', 'Ada', '--role', 'admin']
  const scope = ['--company', company, '--organization', organization, '--location', 'all', '--dataset', 'patients']
  const none = async (): Promise<Case> => ({ args: [] })
  const of =
    (...args: string[]) =>
    (): Promise<Case> =>
      Promise.resolve({ args })
  const keyed = await someOperator(t, { secretKeyFile: null, dataDir: folder })
  await keyed.ask('secret-key', 'status')
  const ofKeys = async (): Promise<Case> => ({ args: [], on: keyed })

  const cases = {
    'operator add': of('--email', 'three@example.com', '--name', 'Three'),
    'operator list': none,
    'operator set-role': of('--operator', operators.two.id, '--role', 'support'),
    'operator remove': of('--operator', operators.two.id),
    'organization create': of('--name', 'Smiles', ...owner),
    'organization update': of('--organization', organization, '--time-zone', 'America/Denver'),
    'organization set-agent-updates': of('--organization', organization, '--to', 'on'),
    'organization export': of('--organization', organization, '--output', join(folder, 'export')),
    'organization erase': async () => ({
      args: ['--organization', await makeOrganization(), '--confirm', 'Smile Group'],
    }),
    'organization list': none,
    'agent enroll': of('--organization', organization),
    'agent list': none,
    'agent take-over': async () => ({ args: ['--agent', await addAgent(), '--location', location.id] }),
    'agent revoke': async () => ({ args: ['--agent', await addAgent()] }),
    'agent-release publish': of('--file', join(folder, 'agent.release'), '--key', join(folder, 'key.pem')),
    'agent-release withdraw': of('--version', '0.3.0'),
    'agent-release list': none,
    'location update': of('--location', location.id, '--time-zone', 'America/Boise'),
    'location list': none,
    'company create': of('--name', 'Recall Radar', ...owner),
    'company list': none,
    'company suspend': of('--company', company),
    'company resume': of('--company', company),
    'company verify': of('--company', company),
    'company unverify': of('--company', company),
    'company close': async () => ({ args: ['--company', await makeCompany('Closing')] }),
    'company erase': async () => ({ args: ['--company', await makeCompany('Leaving'), '--confirm', 'Leaving'] }),
    'member add': of('--company', company, ...person('ada@example.com')),
    'member list': of('--company', company),
    'member invite': async () => ({
      args: ['--member', (await ask('member', 'add', '--organization', organization, ...person('b@example.com'))).id],
    }),
    'person show': of('--email', 'one@example.com'),
    'person reset-second-factor': async () => {
      await pool.query(
        `insert into portal_passkey (id, user_id, name, public_key, credential_id, counter, device_type, backed_up)
         values (gen_random_uuid(), $1, 'Phone', 'k', 'k', 0, 'singleDevice', false)`,
        [operators.one.userId],
      )
      return { args: ['--email', 'One@example.com'] }
    },
    'agreement show': none,
    'agreement publish': of('--file', join(folder, 'agreement.md')),
    'agreement accept': of('--company', company),
    'credential generate': of('--company', company),
    'credential regenerate': of('--company', company),
    'credential revoke': of('--company', company),
    'credential list': of('--company', company),
    'grant add': of(...scope),
    'grant remove': of(...scope),
    'grant list': none,
    'removal list': none,
    'removal confirm': of('--location', location.id, '--dataset', 'insurance_plans', '--list', 'abc'),
    'disclosure list': none,
    'disclosure patient': of('--organization', organization, '--patient', 'P-4711'),
    'disclosure drop-month': async () => {
      const on = await someOperator(t)
      await makeMonthsBetween(on.ownerPool, new Date('2019-03-01'), new Date('2019-03-01'))
      return { args: ['--month', '2019-03', '--confirm', '2019-03'], on }
    },
    'disclosure verify': none,
    'disclosure key': none,
    'audit export': none,
    'signing-key list': none,
    'signing-key rotate': none,
    'signing-key withdraw': async () => ({ args: ['--kid', (await ask('signing-key', 'list'))[0].kid] }),
    'secret-key rotate': ofKeys,
    'secret-key status': ofKeys,
    'secret-key drop': ofKeys,
    'database migrate': none,
    'database restored': none,
    'sandbox populate': of('--locations', '1', '--patients', '1'),
  }
  return { main, operators, cases }
}

/** A hash of each table's rows: one statement, because it is asked for more than a hundred times. */
async function contentOf({ pool }: Operator): Promise<unknown[]> {
  const hashes = (await tablesOf({ pool })).map(
    (table) => `select '${table}' as name, md5(string_agg(r::text, chr(10) order by r::text)) as hash from ${table} r`,
  )
  return (await pool.query(hashes.join(' union all '))).rows
}

/** From then on no act with this reason can be stored. */
async function refuseActs({ ownerPool }: Operator, reason: string): Promise<void> {
  await ownerPool.query(
    `create or replace function refuse_act() returns trigger language plpgsql as
       $$ begin if new.reason = '${reason}' then raise exception 'no act'; end if; return new; end $$`,
  )
  await ownerPool.query(
    'create trigger refuse_act before insert on audit_event for each row execute function refuse_act()',
  )
}

async function acceptActs({ ownerPool }: Operator): Promise<void> {
  await ownerPool.query('drop trigger refuse_act on audit_event')
}
