import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { grantAccess } from '../../server/src/modules/consent/grant.ts'
import { aRecord, aSchedule } from '../../server/src/testing/test-world.ts'
import { pagesBelow } from './pages.ts'
import { assertAccessible, walkPages } from './testing/test-browser.ts'
import { somePractice } from './testing/test-practice.ts'

test('a practice grants two datasets after a review, sees the read, and revokes all access in two clicks', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  const vendor = await portal.addVendor()
  const plans = `/locations/${location.id}/insurance_plans`
  assert.equal((await vendor.get(plans)).status, 403)

  await page.goto(`${home}/vendors`)
  await page.getByRole('searchbox', { name: 'Find a vendor' }).fill('Vendor')
  await page.waitForURL(/search=Vendor/)
  await page.getByRole('table').getByRole('link').first().click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('button', { name: /What Patients reveals/ }).click()
  await page.getByRole('dialog').getByText('Contains patient data').waitFor()
  await assertAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()

  await page.getByRole('checkbox', { name: 'Fee schedules at Location' }).check()
  await page.getByRole('checkbox', { name: 'Insurance plans at all locations, also future ones' }).check()
  assert.equal((await vendor.get(plans)).status, 403, 'a tick opens nothing')
  await page.getByRole('button', { name: 'Review changes' }).click()
  const review = page.getByRole('dialog')
  await review.getByText('Insurance plans at all your locations, also those of the future').waitFor()
  await review.getByText('None of it is about a patient').waitFor()
  await assertAccessible(page)
  await review.getByRole('button', { name: 'Grant access' }).click()
  await review.waitFor({ state: 'hidden' })

  const read = await vendor.get(plans)
  assert.equal(read.status, 200)
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 403)
  const vendorPage = page.url()
  await page.goto(`${home}/disclosures`)
  await page.getByText(/^Vendor read 30 insurance plans at Location, once, today\.$/).waitFor()
  await page.getByRole('button', { name: /^Show reads of Vendor/ }).click()
  await page.getByText('1 of 1 reads').waitFor()
  await page.getByText(read.headers.get('x-request-id') ?? assert.fail()).waitFor()
  await assertAccessible(page)

  await page.goto(vendorPage)
  await page.getByRole('button', { name: 'Revoke everything' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke everything' }).click()
  await page.getByText('No access yet').waitFor()
  assert.equal((await vendor.get(plans)).status, 403)
})

test('F24: a practice sees and downloads which vendors received one patient, and how to check the disclosures', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  await location.upload('patients', { '4711': aRecord('patients', { first_name: 'Ann', last_name: 'Example' }) })
  const vendor = await portal.addVendor([location])
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 200)

  await page.goto(`${home}/disclosures`)
  await page.getByText('There is no seal yet').waitFor()
  const exporting = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download with seals' }).click()
  assert.match((await exporting).suggestedFilename(), /^disclosures-\d+\.ndjson$/)
  const mails = page.getByRole('switch', { name: /Mail each new seal to the owner, .+@/ })
  assert.equal(await mails.isChecked(), false)
  await mails.click({ force: true })
  await page.getByRole('switch', { name: /Mail each new seal/, checked: true }).waitFor({ state: 'attached' })
  await page.getByRole('textbox', { name: 'Patient number' }).fill('4711')
  await page.getByRole('button', { name: 'Show disclosures' }).click()
  await page.getByText('Ann Example: 1 disclosure.').waitFor()
  await page.getByRole('table', { name: 'Disclosures of the patient' }).getByText('sent').waitFor()
  assert.doesNotMatch(page.url(), /\b4711\b/)
  await assertAccessible(page)
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download this list as CSV' }).click()
  assert.match(
    readFileSync(await (await downloading).path(), 'utf8'),
    /^patient,recipient,.*\r\nAnn Example,.*,patients,sent,/,
  )
})

test('F24: the disclosures of one patient are printed on their own, over several sheets of A4 or Letter', async (t) => {
  const { location, page, home, organizationId, ...portal } = await somePractice(t, 'owner')
  await location.upload('patients', { '4711': aRecord('patients', { first_name: 'Ann', last_name: 'Example' }) })
  const patients = `/locations/${location.id}/patients`
  for (let vendors = 0; vendors < 20; vendors++) {
    const vendor = await portal.addVendor([location])
    for (const path of [patients, patients, `${patients}/digest`]) assert.equal((await vendor.get(path)).status, 200)
    await portal.pool.query(
      `insert into company_profile (company_id, legal_name, postal_address, purpose) values ($1, $2, $3, 'Recall messages')`,
      [vendor.companyId, `Vendor ${vendors}, Inc.`, `${vendors} Main Street, Springfield`],
    )
  }
  await portal.pool.query(`update organization set time_zone = 'America/Denver' where id = $1`, [organizationId])

  await page.goto(`${home}/disclosures`)
  await page.getByRole('textbox', { name: 'Patient number' }).fill('4711')
  await page.getByRole('button', { name: 'Show disclosures' }).click()
  // The browser's dialog would wait for a person.
  await page.evaluate(() => Object.assign(globalThis, { print: () => {} }))
  const print = page.getByRole('button', { name: 'Print', exact: true })
  await print.click()
  const report = page.locator('article')
  await report.waitFor({ state: 'attached' })
  assert.equal(await report.isVisible(), false, 'on the screen the report does not show')
  await page.emulateMedia({ media: 'print' })
  await report.getByRole('heading', { name: 'Accounting of disclosures (45 CFR 164.528)' }).waitFor()
  const text = await report.innerText()
  // 45 CFR 164.528(b)(2): when, who with the address, what, and why. (b)(3): repeated ones as the first, the last and how many.
  const parts = ['Practice', '4711', 'Ann Example', 'Pat Practice', 'America/Denver', '60', 'date of birth']
  for (const part of [...parts, 'Vendor 3, Inc., 3 Main Street, Springfield', 'Recall messages', '2 times, first'])
    assert.ok(text.includes(part), part)
  assert.equal(await report.getByRole('row').count(), 41)
  assert.equal(await page.getByRole('navigation').first().isVisible(), false)
  for (const format of ['A4', 'Letter']) {
    const sheets = (await page.pdf({ format })).toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
    assert.ok(sheets >= 2 && sheets <= 4, `${sheets} sheets of ${format}`)
    // Chromium says that it has printed.
    await report.waitFor({ state: 'detached' })
    await page.emulateMedia({ media: null })
    await print.click()
    await report.waitFor({ state: 'attached' })
  }
})

test('all locations become some in one act: a location is taken out with one click, and a sign-in that is given up changes nothing', async (t) => {
  const { location, page, home, person, ...portal } = await somePractice(t, 'owner')
  const { organizationId } = location
  const second = await portal.addLocation({ organizationId })
  await portal.pool.query(`update location set name = 'Elm Street' where id = $1`, [second.id])
  const vendor = await portal.addVendor()
  const whole = { companyId: vendor.companyId, organizationId, locationIds: 'all', by: 'test' } as const
  await grantAccess(portal.pool, { ...whole, datasets: ['insurance_plans'] })
  const statuses = async () => {
    const paths = [`/locations/${location.id}/insurance_plans`, `/locations/${second.id}/insurance_plans`]
    return await Promise.all(paths.map(async (path) => (await vendor.get(path)).status))
  }
  assert.deepEqual(await statuses(), [200, 200])
  await page.goto(`${home}/vendors/${vendor.companyId}`)
  await page.getByRole('checkbox', { name: 'Insurance plans at Elm Street' }).uncheck()
  await page.getByRole('checkbox', { name: 'Patients at Location', exact: true }).check()
  await portal.letSignInAge(person.userId)
  await page.getByRole('button', { name: 'Review changes' }).click()
  const review = page.getByRole('dialog', { name: /^Change what/ })
  await review.getByText('Revoke Insurance plans at Elm Street and future locations.').waitFor()
  await review.getByText('Grant Patients at Location.').waitFor()
  await assertAccessible(page)
  await review.getByRole('button', { name: 'Change access' }).click()
  const confirm = page.getByRole('dialog', { name: 'Confirm your identity' })
  await confirm.getByRole('button', { name: 'Close' }).click()
  await review.getByRole('alert').waitFor()
  assert.deepEqual(await statuses(), [200, 200], 'nothing is taken away before the sign-in')

  await review.getByRole('button', { name: 'Change access' }).click()
  await confirm.getByLabel('Password', { exact: true }).fill(person.password)
  await confirm.getByRole('button', { name: 'Confirm', exact: true }).click()
  await review.waitFor({ state: 'hidden' })
  assert.deepEqual(await statuses(), [200, 403])
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 200)
  await page.goto(`${home}/history`)
  await page
    .getByText('Before: Insurance plans at all locations. After: Insurance plans and Patients at “Location”.')
    .waitFor()
})

test('a person who changes an access that another has changed since gets a message, sees what is in force, and reviews again', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  const vendor = await portal.addVendor()
  await page.goto(`${home}/vendors/${vendor.companyId}`)
  await page.getByRole('checkbox', { name: 'Patients at Location', exact: true }).check()
  await page.getByRole('button', { name: 'Review changes' }).click()
  await portal.grant(vendor.companyId, location, ['treatments'])

  const review = page.getByRole('dialog')
  await review.getByRole('button', { name: 'Grant access' }).click()
  await review.getByText(/The access has changed since you loaded this page. Nothing was saved/).waitFor()
  await review.getByText('Revoke Treatments at Location.').waitFor()
  assert.equal((await vendor.get(`/locations/${location.id}/patients`)).status, 403)

  await review.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('checkbox', { name: 'Treatments at Location', exact: true }).check()
  await page.getByRole('button', { name: 'Review changes' }).click()
  await review.getByRole('button', { name: 'Grant access' }).click()
  await review.waitFor({ state: 'hidden' })
  for (const dataset of ['patients', 'treatments']) {
    assert.equal((await vendor.get(`/locations/${location.id}/${dataset}`)).status, 200)
  }

  // Notes are granted on their own, beside the dataset.
  await page.getByRole('checkbox', { name: 'Notes of Treatments at Location' }).check()
  await page.getByRole('checkbox', { name: 'Insurance plans at Location', exact: true }).check()
  await page.getByRole('button', { name: 'Review changes' }).click()
  await review.getByText('Grant Insurance plans and the notes of Treatments at Location.').waitFor()
  await review.getByText('Treatments hold data of patients.').waitFor()
  assert.equal(await review.getByText('None of it is about a patient').count(), 0)
  await review.getByText('They may say anything about a patient.').waitFor()
  await assertAccessible(page)
  await review.getByRole('button', { name: 'Grant access' }).click()
  await page.getByText(/Granted .*Treatments, with notes at Location\./).waitFor()
})

test('the first steps of a practice show what is done, lead to the next one, and are dismissed for good', async (t) => {
  const { page, home } = await somePractice(t, 'owner')
  await page.goto(home)
  const steps = page.getByRole('region', { name: 'Checklist' })
  await steps.getByText('1 of 5 first steps done').waitFor()
  await steps.getByText('Done: Enroll an agent.').waitFor()
  await steps.getByRole('link', { name: 'Go to settings' }).waitFor()
  await assertAccessible(page)
  await steps.getByRole('button', { name: 'Dismiss first steps' }).click()
  await steps.getByText('first steps done').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: 'Checklist' }).waitFor()
  assert.equal(await steps.getByText('first steps done').count(), 0)
})

test('a held removal hides records only after the count was typed', async (t) => {
  const { page, home, location, organizationId, ...portal } = await somePractice(t, 'admin')
  const held = await portal.sendList(location.agent, location.id, 'insurance_plans', 10_000_000, ['p1'])
  assert.equal(held.body.code, 'removal_held')

  await page.goto(home)
  await page.getByRole('link', { name: 'Review removals' }).click()
  await page.getByRole('link', { name: 'Review Insurance plans of Location' }).click()
  await page.getByText('Plan 2', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Hide 29 records…' }).click()
  const dialog = page.getByRole('dialog')
  assert.ok(await dialog.getByRole('button', { name: 'Hide records' }).isDisabled())
  await dialog.getByLabel(/Type/).fill('29')
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Hide records' }).click()

  await page.getByText('No removals to review').waitFor()
  const { rows } = await portal.pool.query('select count(*)::integer as n from record where is_hidden')
  assert.equal(rows[0].n, 29)
})

test('several removals are decided at once, and what is kept can be decided about again', async (t) => {
  const { page, home, location, ...portal } = await somePractice(t, 'admin')
  const schedules = Array.from({ length: 12 }, (_, index) => [`f${index}`, aSchedule({ name: `Schedule ${index}` })])
  await location.upload('fee_schedules', Object.fromEntries(schedules))
  const missing = (dataset: string) => portal.sendList(location.agent, location.id, dataset, 10_000_000, [])
  for (const dataset of ['insurance_plans', 'fee_schedules'])
    assert.equal((await missing(dataset)).body.code, 'removal_held')

  await page.goto(`${home}/removals`)
  await page.getByRole('checkbox', { name: 'Select all 2' }).check()
  await page.getByText('2 removals selected').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Keep records…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Fee schedules of Location: 12 records').waitFor()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Keep records' }).click()
  await page.getByText('No removals to review').waitFor()
  const kept = page.getByRole('table', { name: 'Kept records' })
  assert.equal(await kept.getByRole('row').count(), 3)
  assert.deepEqual((await missing('fee_schedules')).body, { hidden: 0 })

  await kept.getByRole('button', { name: 'Decide again about Fee schedules of Location' }).click()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Decide again' }).click()
  await dialog.waitFor({ state: 'hidden' })
  assert.equal((await missing('fee_schedules')).body.code, 'removal_held')
})

test('a location without a time zone says so, and takes the one that is chosen', async (t) => {
  const { location, page, home, pool } = await somePractice(t, 'admin')
  await pool.query('update location set time_zone = null where id = $1', [location.id])
  await page.goto(`${home}/locations/${location.id}`)
  await page.getByText('no appointments and no ledger are taken').waitFor()
  await page.getByRole('combobox', { name: 'Time zone of this location' }).fill('America/Boi')
  await page.getByRole('option', { name: 'America/Boise' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The agent uses it at its next contact').waitFor()
  await assertAccessible(page)
  const { rows } = await pool.query('select time_zone, assigned_time_zone from location where id = $1', [location.id])
  assert.deepEqual(rows, [{ time_zone: null, assigned_time_zone: 'America/Boise' }])
})

test('a member who may only read sees no action, and reads who may act', async (t) => {
  const { page, home, ...portal } = await somePractice(t, 'member')
  const vendor = await portal.addVendor()
  await page.goto(`${home}/agents`)
  await page.getByText('The owner or an admin can enroll and revoke agents.').waitFor()
  assert.equal(await page.getByRole('button', { name: /Enroll|Revoke/ }).count(), 0)
  await page.goto(`${home}/vendors/${vendor.companyId}`)
  await page.getByText('The owner or an admin can grant and revoke access.').waitFor()
  const boxes = await page.getByRole('checkbox').all()
  assert.ok(boxes.length > 0)
  for (const box of boxes) assert.ok(await box.isDisabled())
  assert.equal(await page.getByRole('link', { name: 'Disclosures' }).count(), 0)
  await page.goto(`${home}/disclosures`)
  await page.getByRole('heading', { name: 'Access denied' }).waitFor()
})

test('every page of a practice is accessible in light and dark, and fits a phone', async (t) => {
  const { page, organizationId, location, ...portal } = await somePractice(t, 'owner')
  const vendor = await portal.addVendor([location])
  assert.equal((await vendor.get(`/locations/${location.id}/insurance_plans`)).status, 200)
  const ids = { organization_id: organizationId, location_id: location.id, company_id: vendor.companyId }
  // The page of a removal needs one that is held: its own test looks at it.
  const except = ['/organization/$organization_id/removals/$location_id/$dataset']
  await walkPages(page, pagesBelow('/organization/$organization_id', ids, except))
})
