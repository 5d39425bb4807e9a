import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import {
  type Action,
  mayDo,
  type NoticeKind,
  noticeKinds,
  rolesOf,
  type Side,
  sides,
} from '@bridgework/contract/portal'
import { publishAgreement } from '../credentials/agreement.ts'
import { operator, type Tenant } from '../membership/tenant.ts'
import { admitAttempt } from '../sign-in/attempt-limit.ts'
import { actRules } from './act-rules.ts'
import { conditionRules } from './condition-rules.ts'
import type { NoticeEvent } from './notice.ts'
import { answerRequests } from './testing/test-answers.ts'
import { identityCauses } from './testing/test-identity-causes.ts'
import { type NoticeWorld, publicUrl, someNotices } from './testing/test-notices.ts'
import { officeCauses } from './testing/test-office-causes.ts'
import { refuseAgent } from './testing/test-refused-agent.ts'

// One database for all cells: each has a practice and a vendor of its own.
let world: NoticeWorld
let pool: NoticeWorld['pool']
let set: NoticeWorld['set']
let operators: Awaited<ReturnType<NoticeWorld['addReaders']>>
let support: Awaited<ReturnType<NoticeWorld['signInAs']>>
let shared: Place

type Place = Awaited<ReturnType<typeof somePlace>>
type Cause = (place: Place, side: Side) => Promise<unknown>

/** A practice with a location, and a vendor that may read nothing; the acting admin of each is one more. */
async function somePlace() {
  const location = await world.addLocation()
  const vendor = await world.addVendor()
  const organization: Tenant = { side: 'organization', id: location.organizationId }
  const company: Tenant = { side: 'company', id: vendor.companyId }
  await pool.query(`update membership set role = 'member' where company_id = $1`, [vendor.companyId])
  const readers = {
    organization: await world.addReaders(organization),
    company: await world.addReaders(company),
    operator: operators,
  }
  return { location, vendor, organization, company, readers }
}

const practiceAdmin = ({ location }: Place) => world.signInAs({ organizationId: location.organizationId }, 'admin')
const changeAccess = async (place: Place, datasets: string[]) => {
  const admin = await practiceAdmin(place)
  const path = `/organizations/${place.location.organizationId}/vendors/${place.vendor.companyId}`
  const { access_version } = (await admin.get(path)).body
  const answer = await admin.put(`${path}/access`, { access_version, all_locations: datasets, locations: [] })
  assert.equal(answer.status, 200, answer.text)
}
const revokeAccess = async (place: Place) => {
  const admin = await practiceAdmin(place)
  const path = `/organizations/${place.location.organizationId}/vendors/${place.vendor.companyId}/access`
  assert.equal((await admin.delete(path)).status, 200)
}
const setState = (state: string) => async (place: Place) => {
  const asked = { state, reason: 'The contract ended.' }
  const { companyId } = place.vendor
  const person = state === 'closed' ? await world.signInAs('operator', 'admin') : support
  const answer = await person.post(`/operator/companies/${companyId}/state`, asked)
  assert.equal(answer.status, 200, answer.text)
}
const keys = (path: string, body: (place: Place) => object | undefined) => async (place: Place) => {
  const admin = await world.signInAs({ companyId: place.vendor.companyId }, 'admin')
  const answer = await admin.post(`/companies/${place.vendor.companyId}/key_pairs${path}`, body(place))
  assert.ok(answer.status < 300, answer.text)
}
const livePair = ({ vendor }: Place) => ({ client_id: vendor.clientId })
const requests =
  (status: number, count: number) =>
  ({ vendor }: Place) =>
    answerRequests(pool, vendor.companyId, { status, count, at: set.now })
/** The newest version binds in so many days, seen from the notifier's clock. */
const agreementIn = (days: number) => async () => {
  const { rows } = await pool.query<{ version: number }>('select max(version) as version from agreement')
  const version = (rows[0]?.version ?? 0) + 1
  const enforcedAt = new Date(Date.now() + 3_600_000 + days * 86_400_000)
  await publishAgreement(pool, { version, body: 'More.', enforcedAt })
}
const failWebhook =
  (hours: number, stoppedBecause: 'gone' | null = null): Cause =>
  ({ vendor }) =>
    pool.query(
      `insert into webhook_endpoint (id, company_id, url, types, secret, failing_since, stopped_because, stopped_at)
       values (gen_random_uuid(), $1, 'https://vendor.example/' || (random() * 1e6)::integer, '{key}', 's', $2, $3::text, case when $3::text is not null then now() end)`,
      [vendor.companyId, new Date(set.now.getTime() - hours * 3_600_000), stoppedBecause],
    )
const stuckMail = () =>
  pool.query(
    `insert into mail (recipient, subject, text_body, created_at, attempts, next_attempt_at)
     values ('stuck@example.com', 's', 't', $1, 1, now() + interval '1 day')`,
    [new Date(set.now.getTime() - 31 * 60_000)],
  )

const { office, readOffice, readAgain, setOpen, reportProblem, hold } = officeCauses(() => world)
const { askForAccess, answerRequest, verify, reachEnd, rename, loseProof } = identityCauses(() => world)

/** How each event comes about. `first`: what must be so before, and is not what the cell is about. `ends`: for events of an end. */
const causes: Record<NoticeEvent, { first?: Cause; cause: Cause; after?: number } | null> = {
  grant_given: { cause: (place) => changeAccess(place, ['patients']) },
  grant_changed: {
    first: (place) => changeAccess(place, ['patients']),
    cause: (place) => changeAccess(place, ['treatments']),
  },
  grant_ended: { first: (place) => changeAccess(place, ['patients']), cause: revokeAccess },
  grant_expired: { first: (place) => changeAccess(place, ['patients']), cause: reachEnd },
  access_requested: { cause: askForAccess },
  request_granted: {
    first: askForAccess,
    cause: answerRequest('grant', { datasets: ['patients'], location_ids: null }),
  },
  request_declined: { first: askForAccess, cause: answerRequest('refusal', {}) },
  request_invited: {
    first: async (place) => {
      await askForAccess(place)
      await answerRequest('refusal', {})(place)
    },
    cause: answerRequest('invitation', {}),
  },
  vendor_renamed: { first: (place) => changeAccess(place, ['patients']), cause: rename },
  company_verified: { cause: verify(true) },
  company_unverified: { first: verify(true), cause: verify(false) },
  domain_lost: { cause: loseProof },
  company_suspended: { cause: setState('suspended') },
  company_resumed: { first: setState('suspended'), cause: setState('active') },
  company_closed: { cause: setState('closed') },
  key_made: { first: keys('/revocation', livePair), cause: keys('', () => undefined) },
  key_replaced: { cause: keys('/regeneration', livePair) },
  key_revoked: { cause: keys('/revocation', livePair) },
  agreement_to_accept: { cause: agreementIn(30) },
  agreement_to_accept_ended: null,
  keys_stop_soon: { first: agreementIn(30), cause: async () => {}, after: 17 * 24 * 60 },
  keys_stop_soon_ended: null,
  keys_stopped: { first: agreementIn(30), cause: async () => {}, after: 31 * 24 * 60 },
  keys_stopped_ended: null,
  requests_unauthorized: { cause: requests(401, 25) },
  requests_unauthorized_ended: { first: requests(401, 25), cause: async () => {}, after: 70 },
  requests_throttled: { cause: requests(429, 60) },
  requests_throttled_ended: { first: requests(429, 60), cause: async () => {}, after: 70 },
  webhook_failing: { cause: failWebhook(0.1) },
  webhook_failing_ended: {
    first: failWebhook(0.1),
    cause: ({ vendor }) =>
      pool.query('update webhook_endpoint set failing_since = null where company_id = $1', [vendor.companyId]),
    after: 70,
  },
  webhook_failing_long: { cause: failWebhook(25) },
  webhook_failing_long_ended: null,
  webhook_stopped: { cause: failWebhook(120, 'gone') },
  webhook_stopped_ended: null,
  removal_held: { cause: hold },
  removal_held_ended: null,
  agent_enrolled: { cause: ({ location }) => world.addAgent(location.organizationId) },
  agent_enrolled_ended: null,
  agent_refused: {
    cause: async ({ location }) => {
      const { agentId: refused } = await world.addAgent(location.organizationId)
      await refuseAgent(pool, { location: location.id, by: location.agent.agentId, refused })
    },
  },
  agent_refused_ended: null,
  agent_silent: { first: (place) => office(place, 0.1, 0.1), cause: (place) => office(place, 2, 0.1) },
  agent_silent_ended: {
    first: (place) => office(place, 2, 0.1),
    cause: (place) => office(place, -1.1, -1.1),
    after: 70,
  },
  agent_problem: { first: (place) => office(place, 0.1, 0.1), cause: reportProblem },
  agent_problem_ended: {
    first: reportProblem,
    cause: ({ location }) => pool.query('delete from agent_problem where agent_id = $1', [location.agent.agentId]),
    after: 70,
  },
  agent_behind: { first: (place) => office(place, 0.1, 0.1), cause: (place) => office(place, 0.1, null) },
  agent_behind_ended: {
    first: (place) => office(place, 0.1, null),
    cause: (place) => office(place, -1.1, -1.1),
    after: 70,
  },
  dataset_stale: { first: (place) => office(place, 0.1, 0.1), cause: (place) => office(place, 0.1, 2) },
  dataset_stale_ended: {
    first: (place) => office(place, 0.1, 2),
    cause: (place) => office(place, -1.1, -1.1),
    after: 70,
  },
  location_silent: { first: (place) => readOffice(place, 0.1, 0.1), cause: (place) => office(place, 2, 2) },
  location_silent_ended: { first: (place) => readOffice(place, 2, 2), ...readAgain },
  location_stale: { first: (place) => readOffice(place, 0.1, 0.1), cause: (place) => office(place, 0.1, 2) },
  location_stale_ended: { first: (place) => readOffice(place, 0.1, 2), ...readAgain },
  location_removal_held: { first: (place) => readOffice(place, 0.1, 0.1), cause: hold },
  location_removal_held_ended: {
    first: async (place) => {
      await readOffice(place, 0.1, 0.1)
      await hold(place)
    },
    cause: ({ location }) => pool.query(`update removal set state = 'kept' where location_id = $1`, [location.id]),
    after: 70,
  },
  location_closed: { cause: (place) => setOpen(place, false) },
  location_closed_ended: {
    first: (place) => setOpen(place, false),
    cause: (place) => setOpen(place, true),
    after: 70,
  },
  sign_ins_refused: {
    cause: async ({ readers }, side) => {
      const account = readers[side].find(({ role }) => role === thePerson(side))?.email ?? ''
      for (let count = 0; count < 10; count += 1)
        await admitAttempt(pool, world.secretKey, 'password', { ip: '192.0.2.1', account: account.toUpperCase() })
    },
  },
  sign_ins_refused_ended: null,
  backlog: { cause: stuckMail },
  backlog_ended: {
    first: stuckMail,
    cause: () => pool.query(`delete from mail where recipient = 'stuck@example.com'`),
    after: 70,
  },
  disk_full: { cause: async () => void Object.assign(set, { freeShare: 0.05 }) },
  disk_full_ended: {
    first: async () => void Object.assign(set, { freeShare: 0.05 }),
    cause: async () => void Object.assign(set, { freeShare: 0.5 }),
    after: 70,
  },
  disclosures_failing: { cause: async () => void Object.assign(set, { disclosureFailedAt: set.now }) },
  disclosures_failing_ended: {
    first: async () => void Object.assign(set, { disclosureFailedAt: set.now }),
    cause: async () => {},
    after: 70,
  },
  postgres_outdated: { cause: async () => void Object.assign(set, { now: new Date('2031-01-01T12:00:00Z') }) },
  postgres_outdated_ended: {
    first: async () => void Object.assign(set, { now: new Date('2031-01-01T12:00:00Z') }),
    cause: async () => {
      set.now = new Date()
      const event = 'postgres_outdated'
      await pool.query('update notice_condition set seen_at = $2, noticed_at = $2 where event = $1', [event, set.now])
    },
    after: 70,
  },
}

const guide = readFileSync(join(import.meta.dirname, '../../../../../docs/guides/notices.md'), 'utf8')
const sideNames = { vendor: 'company', practice: 'organization', operator: 'operator' } as const

type Cell = { event: NoticeEvent; side: Side; who: string[]; kind: string; delivery: string; name: string }

/** The rows of the guide's table. */
const cells = [...guide.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]+) \| ([^|]+), ([^|]+) \| .* \| `([^`]+)` \|$/gm)].map(
  ([, event, side, who = '', kind = '', delivery = '', name = '']): Cell => ({
    event: event as NoticeEvent,
    side: sideNames[side as keyof typeof sideNames],
    who: who.split(', '),
    kind,
    delivery,
    name,
  }),
)

describe('cells of notices', () => {
  const closers: (() => unknown)[] = []
  before(async () => {
    world = await someNotices({
      name: 'cells',
      after: (work: () => unknown) => closers.push(work),
    } as unknown as TestContext)
    ;({ pool, set } = world)
    operators = await world.addReaders(operator)
    support = await world.signInAs('operator', 'support')
    shared = await somePlace()
  })
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  test('the guide’s table has each event of the code, with who is notified and how, and no other', () => {
    const rolesWith = (side: Side, to: Action) => rolesOf[side].filter((role) => mayDo(role, to, side)).join(', ')
    const how = (kind: NoticeKind) => {
      const { title, delivery } = noticeKinds[kind]
      return `${title}, ${{ at_once: 'at once', daily: 'daily', off: 'off' }[delivery]}`
    }
    const ofActs = Object.values(actRules).flatMap((rules) =>
      sides.flatMap((side) => {
        const rule = rules?.[side]
        return (rule?.events ?? []).map(
          (event) => `${event} ${side} ${rolesWith(side, rule?.to as Action)} ${how(rule?.kind as NoticeKind)}`,
        )
      }),
    )
    const ofConditions = Object.entries(conditionRules).flatMap(([event, { kind, to, ends, isAboutMember }]) =>
      noticeKinds[kind].sides.flatMap((side) =>
        (ends === null ? [event] : [event, `${event}_ended`]).map(
          (each) => `${each} ${side} ${rolesWith(side, to)}${isAboutMember ? ', the person' : ''} ${how(kind)}`,
        ),
      ),
    )
    const inGuide = cells.map(
      ({ event, side, who, kind, delivery }) => `${event} ${side} ${who.join(', ')} ${kind}, ${delivery}`,
    )
    assert.deepEqual(inGuide.toSorted(), [...new Set([...ofActs, ...ofConditions])].toSorted())
    const names = cells.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length)
  })

  for (const { name, side, event, who, delivery } of cells) {
    test(name, async () => {
      const { first, cause, after = 0 } = causes[event] ?? assert.fail(`${event} is never noticed`)
      // Acts change the vendor for good; a condition is over with the reset.
      const place = event in conditionRules || event.endsWith('_ended') ? shared : await somePlace()
      await reset(place)
      if (first) {
        await first(place, side)
        await world.round()
      }
      const readers = place.readers[side]
      const before = await seenBy(readers, event)
      world.smtp.mails.length = 0

      await cause(place, side)
      // A condition has ended half an hour after it was last found, and the end is noticed an hour after the beginning.
      if (event.endsWith('_ended')) await world.round({ after: 35 })
      await world.round({ after })

      const seen = await seenBy(readers, event)
      for (const [index, { role, email, memberId }] of readers.entries()) {
        const isNotified = who.includes(role) || (who.includes('the person') && role === thePerson(side))
        assert.equal((seen[index] ?? 0) - (before[index] ?? 0), isNotified ? 1 : 0, role)
        const notice = (await world.noticesOf(memberId)).findLast((each) => each.event === event)
        if (!isNotified || !notice) continue
        assert.equal(notice.is_for_digest, delivery === 'daily')
        const mails = world.mailsTo(email).filter(({ text }) => text.includes(notice.body))
        assert.equal(mails.length, delivery === 'at once' ? 1 : 0, role)
        for (const { headers, text } of mails) {
          assert.ok(text.includes(`\n${publicUrl}${notice.path}\n`), text)
          assert.equal(/^List-Unsubscribe: </m.test(headers), event !== 'sign_ins_refused')
          // The people of a test have a UUID in their addresses.
          assert.doesNotMatch(notice.body.replace(/<\S+@example\.com>/, ''), /\d{15}|[0-9a-f]{8}-[0-9a-f]{4}/, 'no id')
        }
      }
    })
  }
})

/** Whose sign-ins are refused: one who is not notified of those of others. */
function thePerson(side: Side): string {
  return side === 'operator' ? 'support' : 'member'
}

async function seenBy(readers: Place['readers'][Side], event: NoticeEvent): Promise<number[]> {
  const all = await Promise.all(readers.map(({ memberId }) => world.noticesOf(memberId)))
  return all.map((notices) => notices.filter((each) => each.event === event).length)
}

/** Conditions of the cell before are over, and its mails do not count. */
async function reset({ location, vendor }: Place): Promise<void> {
  const { ownerPool } = world
  for (const table of [
    ...['notice_condition', 'notice', 'mail', 'removal', 'sign_in_attempt'],
    ...['vendor_usage', 'vendor_request'],
  ])
    await ownerPool.query(`delete from ${table}`)
  await ownerPool.query('delete from agreement where version > 1')
  // The places of other cells have ended, so that they cause nothing.
  await ownerPool.query('update location set is_active = (id = $1)', [location.id])
  await ownerPool.query('update agent set revoked_at = case when organization_id <> $1 then now() end', [
    location.organizationId,
  ])
  await ownerPool.query(`update company set state = case when id = $1 then 'active' else 'closed' end`, [
    vendor.companyId,
  ])
  await ownerPool.query('update notice_cursor set last_act_id = coalesce((select max(id) from audit_event), 0)')
  Object.assign(set, { now: new Date(), freeShare: 0.5, disclosureFailedAt: null })
}
