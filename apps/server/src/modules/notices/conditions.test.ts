import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { conditionRules } from './condition-rules.ts'
import { type Finding, noteFindings, trackConditions } from './conditions.ts'
import { publicUrl, someNotices } from './testing/test-notices.ts'

/** A practice with an owner. `looked`: a round of checks this many minutes later, which finds these agents silent. */
async function somePractice(t: TestContext) {
  const { pool, set, addOrganization, addReader, noticesOf } = await someNotices(t)
  const id = await addOrganization('Practice')
  const { memberId } = await addReader({ side: 'organization', id }, 'owner')
  const looked = async (minutes: number, names: string[], checked: 'agent_silent'[] = ['agent_silent']) => {
    set.now = new Date(set.now.getTime() + minutes * 60_000)
    const findings = names.map((about): Finding => ({ event: 'agent_silent', tenantId: id, item: about, about }))
    await noteFindings(pool, set.now, findings)
    await trackConditions(pool, { publicUrl, now: set.now }, checked)
  }
  const notices = () => noticesOf(memberId)
  return { looked, notices, titles: async () => (await notices()).map(({ title }) => title) }
}

test('a condition that comes and goes is one notice, one that lasts is one, and its end is one', async (t) => {
  const { looked, titles } = await somePractice(t)
  await looked(0, ['Downtown'])
  // Gone for less than half an hour: it never ended.
  for (let round = 0; round < 30; round += 1) await looked(10, round % 2 ? ['Downtown'] : [])
  await looked(10, ['Downtown'])
  assert.deepEqual(await titles(), ['An agent is silent'])
  for (let round = 0; round < 12; round += 1) await looked(10, [])
  assert.deepEqual(await titles(), ['An agent is silent', 'An agent is connected again'])
})

test('many conditions of one event are one notice, and those that begin within the hour wait for the next', async (t) => {
  const { looked, notices } = await somePractice(t)
  const names = Array.from({ length: 300 }, (_, n) => `Office ${n}`)
  await looked(0, names.slice(0, 200))
  for (let round = 1; round <= 12; round += 1) await looked(5, names.slice(0, 200 + round * 8))
  const [first, second, ...more] = await notices()
  assert.deepEqual(more, [])
  assert.match(first?.body ?? '', /; and 190 more\./)
  assert.match(second?.body ?? '', /; and 86 more\./)
})

test('a day of conditions that come and go at the worst pace is at most 24 notices', async (t) => {
  const { looked, notices } = await somePractice(t)
  for (let minute = 0; minute < 24 * 60; minute += 5) await looked(5, Math.floor(minute / 35) % 2 ? [] : ['Downtown'])
  const { length } = await notices()
  assert.ok(length > 2 && length <= 24, `${length} notices`)
})

test('what a check that failed did not find has not ended', async (t) => {
  const { looked, titles } = await somePractice(t)
  await looked(0, ['Downtown'])
  for (let round = 0; round < 12; round += 1) await looked(10, [], [])
  assert.deepEqual(await titles(), ['An agent is silent'])
})

test('every text of a condition is whole sentences without a line break', () => {
  for (const [event, { begins, ends }] of Object.entries(conditionRules))
    for (const words of [begins, ends]) {
      const { title, body } = words?.('Something at Downtown', `${publicUrl}/guides`) ?? { title: 'X', body: 'X.' }
      assert.match(body, /^[A-Z][^\n]*\.$/, event)
      assert.match(title, /^[A-Z][^\n.]*$/, event)
    }
})
