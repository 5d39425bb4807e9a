import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { livePath, portalApiPath } from '@bridgework/contract/portal'
import type { BrowserContext, Page } from 'playwright-core'
import { fillAddress, pageAddresses } from './pages.ts'
import { findViolations, launchChromium } from './testing/test-browser.ts'
import { type DemoSandbox, startDemoSandbox } from './testing/test-sandbox.ts'

// Takes pictures of every page of the portal in a sandbox of its own, and writes a table of what axe finds on each: `npm run screenshots`.

const folder = join(import.meta.dirname, '../../../docs/images/portal')

/** What the browser takes for now; the instants of the sandbox move with it, so that pictures of two days show the same day. */
const shownNow = Date.parse('2026-06-16T15:00:00Z')

const looks = [
  { look: 'light', colorScheme: 'light', width: 1280, height: 800, heightMax: 1600 },
  { look: 'dark', colorScheme: 'dark', width: 1280, height: 800, heightMax: 1600 },
  { look: 'phone', colorScheme: 'light', width: 390, height: 844, heightMax: 1400 },
] as const

type Row = { address: string; name: string; violations: number[] }

/** Each browser once, before its first page. */
const prepared = new Map<BrowserContext, Promise<void>>()

const dayMs = 24 * 60 * 60_000
const dataDir = mkdtempSync(join(tmpdir(), 'bridgework-screenshots-'))
const browser = await launchChromium()
let sandbox: DemoSandbox | undefined
try {
  sandbox = await startDemoSandbox(browser, dataDir)
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder)) rmSync(join(folder, file))
  const rows = await takeAll(sandbox)
  writeFileSync(join(folder, 'README.md'), tableOf(rows))
  const broken = rows.filter(({ violations }) => violations.some((count) => count > 0))
  console.log(`${rows.length} pages, ${broken.length} with violations: docs/images/portal/README.md`)
  if (broken.length > 0) process.exitCode = 1
} finally {
  await browser.close()
  await sandbox?.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

/** Two pages at a time: one waits for the browser while the other waits for the service. */
async function takeAll(sandbox: DemoSandbox): Promise<Row[]> {
  const waiting = pageAddresses()
  const rows: Row[] = []
  const worker = async () => {
    for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
      rows.push(await takePage(sandbox, address))
    }
  }
  await Promise.all([worker(), worker()])
  return rows.sort((one, other) => (one.address < other.address ? -1 : 1))
}

async function takePage({ contextOf, ids, fragments, url }: DemoSandbox, address: string): Promise<Row> {
  const context = await contextOf(address)
  prepared.set(context, prepared.get(context) ?? showAnotherDay(context))
  await prepared.get(context)
  const page = await context.newPage()
  // A picture waits until nothing is on its way, and the stream of changes always is.
  await page.route(`**${portalApiPath}${livePath}?*`, (route) => route.abort())
  const name = address === '/' ? 'home' : address.slice(1).replaceAll('/', '-').replaceAll('$', '')
  await page.goto(fillAddress(address, ids) + (fragments[address] ?? ''))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  const violations: number[] = []
  for (const { look, colorScheme, width, height, heightMax } of looks) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    // The tests walk over the pages on a phone as well.
    if (look !== 'phone') {
      const found = await findViolations(page)
      for (const each of found) console.error(`${address}, ${look}: ${each}`)
      violations.push(found.length)
    }
    await page.evaluate(`document.body.querySelectorAll('*').forEach((element) => element.childNodes.forEach((node) => {
      if (node.nodeType === 3) node.data = node.data.replaceAll(${JSON.stringify(new URL(url).host)}, 'localhost:8080')
    }))`)
    const full = Number(await page.evaluate('document.documentElement.scrollHeight'))
    await writePicture(page, join(folder, `${name}-${look}.webp`), width, Math.min(Math.max(full, height), heightMax))
  }
  await page.close()
  console.log(`${address}: ${violations.join(' ')}`)
  return { address, name, violations }
}

/** Chromium can write WebP, which is a tenth of a PNG here; Playwright's own function cannot. */
async function writePicture(page: Page, path: string, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height })
  await page.evaluate('new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))')
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 })
  await session.detach()
  writeFileSync(path, Buffer.from(data, 'base64'))
}

/** Sets the clock of a browser's pages, and moves every instant and day that the portal's API answers by as much. */
async function showAnotherDay(context: BrowserContext): Promise<void> {
  const days = Math.round((shownNow - Date.now()) / dayMs)
  const later = shownNow - Date.now()
  await context.clock.setFixedTime(shownNow)
  await context.route('**/portal/api/**', async (route) => {
    const answer = await route.fetch().catch(() => null)
    if (!answer) return
    const body = (await answer.text())
      .replace(/"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)"/g, (_all, at: string) =>
        JSON.stringify(new Date(Date.parse(at) + later).toISOString()),
      )
      .replace(/"(\d{4}-\d{2}-\d{2})"/g, (_all, day: string) =>
        JSON.stringify(new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)),
      )
    await route.fulfill({ response: answer, body }).catch(() => {})
  })
}

function tableOf(rows: readonly Row[]): string {
  const cells = ({ name, violations }: Row) =>
    [...violations, 'picture'].map((text, index) => `[${text}](${name}-${looks[index]?.look}.webp)`).join(' | ')
  return `# Every page of the portal

Written by \`npm run screenshots\`, which opens each page of the router in a sandbox. A number says how many rules of
accessibility axe finds broken on the page as the picture shows it.

| page | light | dark | phone, 390 px |
| --- | --- | --- | --- |
${rows.map((row) => `| \`${row.address}\` | ${cells(row)} |`).join('\n')}
`
}
