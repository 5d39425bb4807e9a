import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aHeartbeat } from '../../server/src/testing/test-world.ts'
import { assertAccessible, somePortalInBrowser } from './testing/test-browser.ts'

test('a practice sees what its agent reports, since when, what to do, and how far a first read is, on a phone too', async (t) => {
  const portal = await somePortalInBrowser(t)
  const location = await portal.addLocation({ insurancePlans: 30 })
  const person = await portal.addPerson('Pat Practice')
  await portal.joinOrganization(person, location.organizationId, 'admin')
  const page = await portal.newPage()
  await portal.signIn(page, person)
  const beat = (more: object) => portal.post('/agents/self/heartbeats', location.agent, { ...aHeartbeat(), ...more })
  const datasets = ['treatments', 'ledger_transactions']
  const problems = datasets.map((dataset) => ({ code: 'table_damaged', dataset, table: 'claimproc' }))
  const reading = { dataset: 'patients', rows_read: 1_000, rows_total: 7_873 }
  assert.equal((await beat({ state: 'working', reading, problems, disk_free_bytes: 1_000 })).status, 200)

  const home = `/organization/${location.organizationId}`
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${home}/locations/${location.id}`)
    const alert = page.getByRole('alert').filter({ hasText: 'The table claimproc of the database is damaged.' })
    await alert.getByText(/^Repair it: in Open Dental/).waitFor()
    await alert
      .getByText(/of Ledger transactions, Treatments/)
      .or(alert.getByText(/of Treatments, Ledger transactions/))
      .waitFor()
    await page.getByText('Reading Patients: 1,000 of 7,873 rows read, 6,873 left.').waitFor()
    await page.getByText('has less than 500 MB left').first().waitFor()
    await assertAccessible(page)
    await assertFits(page, width)
    await page.goto(`${home}/agents`)
    await page.getByRole('heading', { name: /^What .* reports$/ }).waitFor()
    await page.getByText('Make room on it: when it is full, nothing can be sent.').waitFor()
    await assertAccessible(page)
    await assertFits(page, width)
  }
  await beat({ disk_free_bytes: 10_000_000_000 })
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  assert.equal(await page.getByRole('heading', { name: /reports$/ }).count(), 0)

  async function assertFits(shown: typeof page, width: number): Promise<void> {
    const wide = Number(await shown.evaluate('document.documentElement.scrollWidth'))
    assert.ok(wide <= width, `the page is ${wide} px wide on a screen of ${width}`)
  }
})
