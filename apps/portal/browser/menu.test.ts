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

test('Ctrl+K finds pages, vendors and locations, with keys alone, and never beside a dialog that asks something', async (t) => {
  const { location, page, home, person, ...portal } = await somePractice(t, 'owner')
  const vendor = await portal.addVendor([location])
  await portal.pool.query(`update company set name = 'Recall <b>Robot</b>' where id = $1`, [vendor.companyId])
  await portal.pool.query(`update location set name = 'Roberts Street' where id = $1`, [location.id])
  await portal.joinCompany(person, vendor.companyId, 'admin')

  await page.goto(`${home}/members`)
  const dialog = page.getByRole('dialog', { name: 'Search' })
  const chosen = (name: string) => dialog.getByRole('option', { name, selected: true }).waitFor()
  const field = dialog.getByRole('combobox', { name: 'Search pages and names' })
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor()
  await page.keyboard.press('Control+k')
  await field.waitFor()
  await chosen('Overview')
  await assertAccessible(page)
  await page.keyboard.type('rob')
  await dialog.getByRole('option', { name: 'Roberts Street' }).waitFor()
  await chosen('Recall <b>Robot</b>')
  // The company where the person works, then the vendor that it is to the practice.
  await page.keyboard.press('ArrowDown')
  await chosen('Recall <b>Robot</b>')
  await page.keyboard.press('ArrowDown')
  await chosen('Roberts Street')
  assert.equal(
    await field.getAttribute('aria-activedescendant'),
    await dialog.getByRole('option', { selected: true }).getAttribute('id'),
  )
  await assertAccessible(page)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${home}/locations/${location.id}*`)
  await dialog.waitFor({ state: 'hidden' })

  // Of a vendor's pages, and on a phone, which has no such keys.
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`/company/${vendor.companyId}`)
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await field.fill('no such name')
  await dialog.getByText('Nothing found.').waitFor()
  await field.fill('roberts')
  await dialog.getByRole('option', { name: 'Roberts Street' }).click()
  await page.waitForURL(`**/company/${vendor.companyId}/connections/${location.id}`)
  await page.keyboard.press('Control+k')
  await field.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })

  await page.goto(`/company/${vendor.companyId}/members`)
  await page.getByRole('button', { name: /^Invite / }).click()
  const question = page.getByRole('dialog')
  await question.waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  assert.equal(await field.count(), 0, 'the keys opened nothing behind the question')
})
