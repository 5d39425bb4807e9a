import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './testing/test-browser.ts'
import { somePractice } from './testing/test-practice.ts'

test('the menu is in groups and says where decisions wait, on a desk and on a phone', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  const held = await portal.sendList(location.agent, location.id, 'insurance_plans', 10_000_000, ['p1'])
  assert.equal(held.body.code, 'removal_held')

  await page.goto(home)
  const menu = page.getByRole('navigation', { name: 'Menu' })
  const removals = menu.getByRole('group', { name: 'Data' }).getByRole('link', { name: 'Removals', exact: true })
  await removals.getByText('1', { exact: true }).waitFor()
  assert.equal(await removals.getAttribute('title'), '1 to decide')
  const access = menu.getByRole('group', { name: 'Access' }).getByRole('link')
  assert.deepEqual(await access.allInnerTexts(), ['Vendor access', 'Access review', 'Grants', 'Disclosures'])
  assert.equal(
    await page.evaluate(`document.fonts.ready.then(() => [...document.fonts].map((each) => each.status).join())`),
    'loaded',
  )

  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  await removals.getByText('1', { exact: true }).waitFor()
  await assertAccessible(page)
  await removals.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Removals' }).waitFor()
  await menu.waitFor({ state: 'hidden' })

  await portal.pool.query(`update removal set state = 'dropped'`)
  await page.reload()
  await page.getByRole('button', { name: 'Menu', exact: true }).click()
  await removals.waitFor()
  assert.equal(await removals.getAttribute('title'), null)
})
