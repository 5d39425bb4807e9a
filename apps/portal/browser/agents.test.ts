import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './testing/test-browser.ts'
import { somePractice } from './testing/test-practice.ts'

test('an agent is enrolled: the code is shown once, and the page updates when the agent connects', async (t) => {
  const { page, home, organizationId, ...portal } = await somePractice(t, 'admin')
  await page.goto(`${home}/agents`)
  await page.getByRole('button', { name: 'Enroll an agent' }).click()
  await page.getByRole('button', { name: 'Generate code' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Waiting for the agent…').waitFor()
  const guide = dialog.getByRole('link', { name: 'Install the agent' })
  assert.equal(await guide.getAttribute('href'), '/guides/install-the-agent')
  for (const system of ['Windows', 'macOS', 'Linux']) {
    await dialog.getByRole('tab', { name: system }).click()
    const download = dialog
      .getByRole('list', { name: `Downloads for ${system}` })
      .getByRole('link')
      .first()
    assert.equal((await portal.request(new URL((await download.getAttribute('href')) ?? '').pathname)).status, 200)
  }
  await assertAccessible(page)
  const code = (await dialog.getByRole('textbox', { name: 'One-time code' }).textContent()) ?? ''

  const enrolled = await portal.request('/ingest/v1/agents', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ enrolment_code: code, name: 'front-desk', version: '1.0.0' }),
  })
  assert.equal(enrolled.status, 201, enrolled.text)

  await dialog.getByText(/Connected: front-desk|front-desk used the code/).waitFor()
  await dialog
    .getByRole('button', { name: /^(Done|Close)$/ })
    .last()
    .click()
  await page.reload()
  await page.getByText('front-desk').waitFor()
  assert.ok(!(await page.content()).includes(code), 'the code is gone')
})

test('an admin turns updates of agents on after a confirmation, and off again', async (t) => {
  const { page, home } = await somePractice(t, 'admin')
  await page.goto(`${home}/agents`)
  await page.getByText('Updates are off.').waitFor()
  for (const [act, after] of [
    ['Turn on updates', 'Updates are on.'],
    ['Turn off updates', 'Updates are off.'],
  ] as const) {
    await page.getByRole('button', { name: `${act}…` }).click()
    await page.getByRole('dialog').getByText('until someone').or(page.getByText('without asking you')).waitFor()
    await assertAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: act }).click()
    await page.getByText(after).waitFor()
  }
})

test('a location with two agents says so, and an admin lets the other one take over after a confirmation', async (t) => {
  const { page, home, location, organizationId, ...portal } = await somePractice(t, 'admin')
  await page.goto(`${home}/locations/${location.id}`)
  await page.getByText('Last contact:').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Let it take over…' }).count(), 0, 'there is no other agent')

  const other = await portal.addAgent(organizationId)
  await portal.pool.query(`update agent set name = 'new-server' where id = $1`, [other.agentId])
  const isTaken = async (by: { agentKey: string }) => {
    const { not_confirmed } = (await portal.confirmReads(by, location.id, ['insurance_plans'])).body
    return !(not_confirmed as string[]).includes(location.id)
  }
  assert.equal(await isTaken(other), false)
  await page.goto(`${home}`)
  await page.getByText('Two agents read one location').waitFor()
  await page.goto(`${home}/locations`)
  await page.getByText('Two agents').waitFor()
  await page.getByRole('link', { name: 'Location', exact: true }).click()
  await page.getByText(/Another agent, new-server, also reads this location/).waitFor()
  await assertAccessible(page)

  await page.getByRole('button', { name: 'Let it take over…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/records that it does not find become removed/).waitFor()
  await assertAccessible(page)
  assert.equal(await isTaken(other), false, 'nothing has changed yet')
  await dialog.getByRole('button', { name: 'Let it take over' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('new-server writes here; it began').waitFor()
  assert.deepEqual([await isTaken(other), await isTaken(location.agent)], [true, false])
})

test('a second copy of an agent is shown with both computers, and an admin lets it take over after a confirmation', async (t) => {
  const { page, home, location, ...portal } = await somePractice(t, 'admin')
  const { agentId } = location.agent
  await portal.pool.query(
    `insert into agent_process
            (agent_id, process_id, place, computer, refused_id, refused_place, refused_computer, refused_at)
     values ($1, 'one', 'a', 'OLD-SERVER', 'two', 'b', 'NEW-SERVER', now())`,
    [agentId],
  )
  await page.goto(home)
  await page.getByText('Two copies of one agent are in use').waitFor()
  await page.getByRole('link', { name: 'View agents' }).click()
  await page.getByText(/Requests come from the computer OLD-SERVER\. A copy on NEW-SERVER was refused/).waitFor()
  await assertAccessible(page)

  await page.getByRole('button', { name: 'Let the copy take over…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/The copy on OLD-SERVER is refused from now on/).waitFor()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Let it take over' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText(/A second copy of/).waitFor({ state: 'hidden' })
  const { rows } = await portal.pool.query('select process_id, computer, refused_id from agent_process')
  assert.deepEqual(rows, [{ process_id: 'two', computer: 'NEW-SERVER', refused_id: null }])
})
