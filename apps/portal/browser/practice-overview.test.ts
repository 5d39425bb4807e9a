import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aHeartbeat } from '../../server/src/testing/test-world.ts'
import { assertAccessible, walkPages } from './testing/test-browser.ts'
import { somePractice } from './testing/test-practice.ts'

test('the overview says who reads the data, how far the first sync is, and what to do, with a mail for the IT person', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  await portal.pool.query('update location set name = $2 where id = $1', [location.id, 'عيادة الأسنان'])
  const vendor = await portal.addVendor([location])
  await portal.pool.query('update company set name = $2 where id = $1', [vendor.companyId, `Very${'long'.repeat(40)}`])
  assert.equal((await vendor.get(`/locations/${location.id}/insurance_plans`)).status, 200)
  const beat = (more: object) => portal.post('/agents/self/heartbeats', location.agent, { ...aHeartbeat(), ...more })
  const file = { name: 'patients_*.csv', line: 12, column: 'Born' }
  await beat({
    state: 'working',
    reading: { dataset: 'patients', rows_read: 1_000, rows_total: 8_000 },
    problems: [{ code: 'file_invalid', dataset: 'patients', file }],
  })

  await page.goto(home)
  const readers = page.getByRole('region', { name: 'Who reads your data' })
  await readers.getByText('30 records today').waitFor()
  await readers.getByRole('img', { name: '30 records read in the last 14 days' }).waitFor()
  await readers.getByText(/^Last read: just now/).waitFor()
  const copy = page.getByRole('region', { name: 'Copy of your data' })
  await copy.getByText(/First sync of/).waitFor()
  await copy.getByText('Reading Patients: 1,000 of 8,000 rows read, 7,000 left.').waitFor()
  await copy.getByRole('progressbar', { name: 'Rows of Patients that are read' }).waitFor()

  const list = page.getByRole('region', { name: 'Checklist' })
  await list.getByText(/The export file patients_\*\.csv \(line 12, column “Born”\) cannot be read/).waitFor()
  const mail = await list.getByRole('link', { name: 'Send these steps to my IT person' }).getAttribute('href')
  const body = new URL(mail ?? assert.fail()).searchParams.get('body') ?? ''
  assert.match(body, /1\. The export file patients_\*\.csv \(line 12/)
  assert.ok(body.includes(`${portal.url}${home}/agents`), body)
  await list.getByRole('button', { name: 'Copy the steps' }).click()
  await list.getByRole('button', { name: 'Copied the steps' }).waitFor()
  assert.match(String(await page.evaluate('navigator.clipboard.readText()')), /^Please do this for the practice/)
  await walkPages(page, [home])

  await page.setViewportSize({ width: 1280, height: 900 })
  await readers.getByRole('link', { name: 'Give a vendor access' }).click()
  await page.waitForURL(/\/vendors\?show=verified/)
  await page.getByText('No other verified vendor').waitFor()
})

test('a practice reviews access that is not used or ends soon, and revokes it after it read what that means', async (t) => {
  const { location, page, home, ...portal } = await somePractice(t, 'owner')
  const [unused, ending] = [await portal.addVendor([location]), await portal.addVendor([location])]
  for (const table of ['access_grant', 'dataset_grant']) {
    await portal.ownerPool.query(
      `update ${table} set granted_at = granted_at - interval '100 days' where company_id = $1`,
      [unused.companyId],
    )
    await portal.ownerPool.query(`update ${table} set ends_at = now() + interval '10 days' where company_id = $1`, [
      ending.companyId,
    ])
  }
  await portal.pool.query(`update company set name = 'Dormant' where id = $1`, [unused.companyId])
  await portal.pool.query(`update company set name = 'Ending' where id = $1`, [ending.companyId])

  await page.goto(home)
  await page.getByRole('link', { name: 'Review access' }).click()
  await page.getByRole('heading', { name: 'Access review', level: 1 }).waitFor()
  const notUsed = page.getByRole('table', { name: 'Not used' })
  await notUsed.getByText('Dormant').waitFor()
  await page.getByRole('table', { name: 'Ends soon' }).getByText('Ending').waitFor()
  assert.equal(await notUsed.getByText('Ending').count(), 0)
  await notUsed.getByRole('button', { name: 'Revoke access of Dormant' }).click()
  const dialog = page.getByRole('dialog', { name: 'Revoke all access of Dormant?' })
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Revoke everything' }).click()
  await page.getByText('Every vendor with access has used it.').waitFor()
  assert.equal((await unused.get(`/locations/${location.id}/insurance_plans`)).status, 403)
  assert.equal((await ending.get(`/locations/${location.id}/insurance_plans`)).status, 200)
  await page.getByRole('link', { name: 'Change access of Ending' }).click()
  await page.getByLabel(/^Last day of access/).waitFor()
  await walkPages(page, [`${home}/access-review`])
})
