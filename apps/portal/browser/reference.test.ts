import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demoVendorName } from '../../server/src/modules/directory/company.ts'
import { somePortalInBrowser, walkPages } from './testing/test-browser.ts'

test('the reference page shows an operation with its code samples, sends it with the sandbox’s token, and loads nothing from other hosts', async (t) => {
  const { url, newPage, addLocation, addVendor, pool } = await somePortalInBrowser(t)
  const location = await addLocation({ insurancePlans: 2 })
  const vendor = await addVendor([location])
  await pool.query('update company set name = $2 where id = $1', [vendor.companyId, demoVendorName])
  const page = await newPage()
  const foreign: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url())
  })

  await page.goto('/docs')
  await page.getByRole('button', { name: 'List the insurance plans of a location' }).click()
  for (const [label, code] of [
    ['curl', /curl --compressed "\$BRIDGEWORK_BASE_URL\/locations\/\$LOCATION_ID\/insurance_plans"/],
    ['TypeScript', /client\.insurancePlans\.list\(\{ locationId: LOCATION_ID/],
    ['Python', /requests\.get\(url, headers=headers, params=params/],
  ] as const) {
    await page.getByRole('tab', { name: label }).click()
    assert.match(await page.getByRole('tabpanel').getByRole('region').innerText(), code)
  }
  await page.getByText('One page, in ascending order of id').first().waitFor()
  await page.getByText('data[].attributes.group_number').waitFor()
  const about = page.getByRole('link', { name: 'About location_denied' })
  assert.equal(await about.getAttribute('href'), '/guides/errors#location_denied')
  await page.getByLabel('location_id').fill(location.id)
  await page.getByLabel('items').fill('1')
  await page.getByRole('button', { name: 'Send request' }).click()
  const answer = page.getByRole('region', { name: /^Status 200, \d+ ms$/ })
  assert.equal(JSON.parse(await answer.innerText()).data.length, 1)
  assert.deepEqual(foreign, [])

  await walkPages(page, ['/docs', '/docs?operation=locations_resources_insurance_plans_list'])
})
