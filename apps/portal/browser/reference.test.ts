import assert from 'node:assert/strict'
import { test } from 'node:test'
import { somePortalInBrowser } from './test-browser.ts'

test('the reference page shows an operation with its code samples, and loads nothing from other hosts', async (t) => {
  const { url, newPage } = await somePortalInBrowser(t)
  const page = await newPage()
  const foreign: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url())
  })

  await page.goto('/docs/')
  const operation = page.locator('#operations-Data-locations_resources_patients_list')
  await operation.getByText('List the patients of a location').click()
  for (const [label, code] of [
    ['curl', /curl --compressed "\$BRIDGEWORK_BASE_URL\/locations\/\$LOCATION_ID\/patients"/],
    ['TypeScript', /client\.patients\.list\(\{ locationId: LOCATION_ID/],
    ['Python', /requests\.get\(url, headers=headers, params=params/],
  ] as const) {
    const sample = operation.locator('details').filter({ hasText: label })
    await sample.locator('summary').click()
    assert.match(await sample.locator('code').innerText(), code)
  }
  await operation.getByText('One page, in ascending order of id').first().waitFor()
  assert.deepEqual(foreign, [])
})
