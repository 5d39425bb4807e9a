import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, somePortalInBrowser } from './testing/test-browser.ts'

test('a guide is found by a search with the keyboard, and leads to the place of an error code', async (t) => {
  const { url, newPage } = await somePortalInBrowser(t)
  const page = await newPage()
  const foreign: string[] = []
  page.on('request', (request) => request.url().startsWith(url) || foreign.push(request.url()))
  await page.goto('/guides')
  await page.keyboard.press('/')
  await page.keyboard.type('requests_exceeded')
  await page
    .getByRole('status')
    .getByText(/places? found/)
    .waitFor()
  await assertAccessible(page)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/guides\/errors#\w*requests_exceeded$/)
  assert.ok(await page.locator(':target').isVisible())

  await page.getByRole('searchbox').fill('qqqqqq')
  await page.getByText('Nothing found. Try other words.').waitFor()
  await page.keyboard.press('Escape')
  assert.equal(await page.getByRole('searchbox').inputValue(), '')
  assert.deepEqual(foreign, [])
})

test('guides have no violation that axe finds, in light, in dark and on a phone, which no page makes scroll sideways', async (t) => {
  const { newPage } = await somePortalInBrowser(t)
  // Plain text, wide tables, long code, the longest page.
  const paths = [
    '/guides',
    '/guides/first-sync',
    '/guides/errors',
    '/guides/security',
    '/guides/run-in-production',
    '/guides/performance',
    '/guides/decisions',
  ]
  for (const [colorScheme, width] of [
    ['light', 1400],
    ['dark', 1000],
    ['light', 390],
    ['dark', 320],
  ] as const) {
    const page = await newPage({ colorScheme, viewport: { width, height: 800 } })
    for (const path of paths) {
      await page.goto(path)
      await assertAccessible(page)
      assert.equal(
        await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        true,
        `${path} at ${width}`,
      )
    }
  }
})

test('the choice of colors holds for guides and portal, and code is copied with one click', async (t) => {
  const { newPage } = await somePortalInBrowser(t)
  const page = await newPage({ colorScheme: 'light' })
  await page.goto('/guides/first-sync')
  const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  assert.equal(await background(), 'rgb(255, 255, 255)')
  await page.getByRole('button', { name: 'Dark colors' }).click()
  assert.equal(await background(), 'rgb(36, 36, 36)')
  await page.reload()
  assert.equal(await background(), 'rgb(36, 36, 36)')
  await assertAccessible(page, { about: 'colours' })

  const code = page.locator('.code').first()
  await code.hover()
  await code.getByRole('button', { name: 'Copy' }).click()
  await code.getByRole('button', { name: 'Copied' }).waitFor()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), await code.locator('pre').textContent())

  await page.goto('/sign-in')
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
})

test('on a phone the menu is closed until it is asked for, and without JavaScript every page can be read', async (t) => {
  const { newPage } = await somePortalInBrowser(t)
  const phone = await newPage({ viewport: { width: 390, height: 800 } })
  await phone.goto('/guides/limits')
  const link = phone.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Staying current' })
  assert.equal(await link.isVisible(), false)
  await phone.getByText('Menu', { exact: true }).click()
  await link.click()
  await phone.getByRole('heading', { name: 'Staying current', level: 1 }).waitFor()

  const plain = await newPage({ javaScriptEnabled: false })
  await plain.goto('/guides/limits')
  await plain.getByText('Menu', { exact: true }).click()
  await plain.getByRole('link', { name: 'Staying current' }).first().click()
  await plain.getByRole('heading', { name: 'Staying current', level: 1 }).waitFor()
  assert.equal(await plain.getByRole('searchbox').isVisible(), false)
})
