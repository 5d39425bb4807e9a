import assert from 'node:assert/strict'
import { accessSync, constants, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { portalApiPath } from '@bridgework/contract/portal'
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core'
import { somePortal } from '../../../server/src/apis/portal/testing/test-portal.ts'
import { freePort } from '../../../server/src/testing/test-port.ts'

/** Opens an address that sends the browser on to another, which may happen before it is loaded. */
export async function openSentOn(page: Page, address: string, to: Parameters<Page['waitForURL']>[0]): Promise<void> {
  await page.goto(address, { waitUntil: 'commit' })
  await page.waitForURL(to)
}

/** A whole service, and a real Chromium that opens its pages. */
export async function somePortalInBrowser(t: TestContext, options: Parameters<typeof somePortal>[1] = {}) {
  // Tokens and cookies name the public address, so it must be known before the server is made.
  const port = await freePort()
  const url = `http://localhost:${port}`
  const browser = await sharedChromium()
  // Pages are closed first: one that was still loading would complain of a server that is gone.
  t.after(() => Promise.all(browser.contexts().map((context) => context.close())))
  const world = await somePortal(t, { publicUrl: url, port, ...options })

  /** A browser of its own, as another person's: nothing is shared. Whatever its pages complain of fails the test. */
  const newPage = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({
      baseURL: url,
      permissions: ['clipboard-read', 'clipboard-write'],
      ...options,
    })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      // A refusal that the page shows is no fault of it; Chromium writes each down.
      const isRefusal = /Failed to load resource: .* status of 4\d\d/.test(message.text())
      if (message.type() === 'error' && !isRefusal) complaints.push(message.text())
    })
    t.after(() => assert.deepEqual(complaints, []))
    return page
  }

  /** Signs in without the sign-in page: its request alone, whose cookie the pages of this browser then have. */
  const signIn = async (page: Page, { email, password }: { email: string; password: string }) => {
    const path = `${portalApiPath}/auth/sign-in/email`
    const answer = await page.request.post(path, { data: { email, password }, headers: { origin: url } })
    assert.equal(answer.status(), 200, await answer.text())
  }

  /** Signs in as a person would. */
  const signInOnPage = async (page: Page, person: { email: string; password: string }) => {
    await page.goto('/sign-in')
    await page.getByLabel('E-mail address').fill(person.email)
    await page.getByLabel(/^Password/).fill(person.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL((address) => address.pathname !== '/sign-in')
  }

  return { ...world, url, browser, newPage, signIn, signInOnPage }
}

/**
 * Opens a page and looks whether its colours can be seen. Throws also when it asked for something new only after an answer had come: no page waits
 * for more than one round of requests.
 */
async function openPage(page: Page, path: string): Promise<void> {
  const asked = new Set<string>()
  const late: string[] = []
  let isAnswered = false
  const isApi = (request: Request) => new URL(request.url()).pathname.startsWith(portalApiPath)
  const onRequest = (request: Request) => {
    // A repeated request refreshes what is shown; no page waits for it.
    if (!isApi(request) || asked.has(request.url())) return
    asked.add(request.url())
    if (isAnswered) late.push(request.url())
  }
  const onFinished = (request: Request) => {
    isAnswered ||= isApi(request)
  }
  // The page before may ask for something until this one has taken its place, for it refreshes itself.
  page.once('framenavigated', () => {
    asked.clear()
    late.length = 0
    isAnswered = false
  })
  page.on('request', onRequest).on('requestfinished', onFinished)
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await assertAccessible(page, { about: 'colours' })
  page.off('request', onRequest).off('requestfinished', onFinished)
  assert.ok(isAnswered, `${path} asked for nothing`)
  assert.deepEqual(late, [], `${path} asked for these after an answer`)
}

/**
 * Walks over pages: each is opened in one round of requests, has a title, fits a phone, and breaks no rule of accessibility in the light and
 * in the dark on a desk, nor on a phone.
 */
export async function walkPages(page: Page, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await openPage(page, path)
    assert.match(await page.title(), /.+ · Bridgework$/)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.locator('html[data-mantine-color-scheme=light]').waitFor()
    await assertAccessible(page)
    await page.setViewportSize({ width: 390, height: 844 })
    const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    assert.ok(overflow <= 0, `${path} is ${overflow} px too wide for a phone`)
    await assertAccessible(page)
  }
}

/** The link in the mail that waits for this address. */
export async function linkMailedTo(
  { pool, url }: Pick<Awaited<ReturnType<typeof somePortalInBrowser>>, 'pool' | 'url'>,
  email: string,
): Promise<string> {
  const { rows } = await pool.query<{ text_body: string }>('select text_body from mail where recipient = $1', [email])
  const link = rows[0]?.text_body.split('\n').find((line) => line.startsWith(url))
  return link ?? assert.fail(`no link was mailed to ${email}`)
}

/** What axe looks for. `colours`: only rules about colours, where the same page is looked at with all of them in others. */
type Looked = { about: 'everything' | 'colours' }

/** Throws when the page, as it is now, breaks a rule of WCAG A or AA that axe can see. */
export async function assertAccessible(page: Page, looked: Looked = { about: 'everything' }): Promise<void> {
  assert.deepEqual(await findViolations(page, looked), [], page.url())
}

/** The rules that the page breaks as it is now, each with the elements that do. */
export async function findViolations(page: Page, { about }: Looked = { about: 'everything' }): Promise<string[]> {
  // Half-way through a transition a colour is neither the old nor the new one. Those that a change began run from the next frame on.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.evaluate(`new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame)).then(() => Promise.allSettled(
    document.getAnimations().filter((each) => each instanceof CSSTransition).map((each) => each.finished),
  ))`)
  // A dialog is in the page some frames before its transition begins; one that is never shown whole is for axe to find.
  await page.evaluate(`(async () => {
    const fading = () => [...document.querySelectorAll('[role=dialog]')].some((each) => getComputedStyle(each).opacity !== '1')
    for (const until = performance.now() + 5_000; fading() && performance.now() < until; ) await new Promise(requestAnimationFrame)
  })()`)
  const violations = await runAxe(page, about === 'colours' ? { runOnly: colourRules } : {})
  await page.emulateMedia({ reducedMotion: null })
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`)
}

/** Runs axe in the page. Only violations are described; the rules are all of them. */
async function runAxe(
  page: Page,
  options: { runOnly?: string[] },
): Promise<{ id: string; nodes: { html: string }[] }[]> {
  assert.equal(page.frames().length, 1, 'axe is not in the frames of a page')
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(axeSource)
  const described = JSON.stringify({ resultTypes: ['violations'], ...options })
  return await page.evaluate(`axe.run(document, ${described}).then(({ violations }) => violations)`)
}

/**
 * Half a megabyte of code, which costs a page as much as to be looked at: so it is loaded once into each document, and not, as by the builder of
 * axe's package for Playwright, twice for each look.
 */
const axeSource = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
)

const colourRules = ['color-contrast', 'link-in-text-block']

let launched: Promise<Browser> | undefined

/** One Chromium for all tests of the process, which run one after the other: what a page keeps belongs to its context. */
export function sharedChromium(): Promise<Browser> {
  launched ??= launchChromium()
  return launched
}

after(async () => (await launched)?.close())

/** The machine's Chromium, without a window. */
export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({
    executablePath: await findChromium(),
    // Without its sandbox, which root cannot have: it opens pages of ours alone. Without what asks Google's hosts for news.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

async function findChromium(): Promise<string> {
  // By its address: it has no types, being plain JavaScript.
  const { chromium: wanted } = await import(
    new URL('../../../../scripts/setup/setup-programs.mjs', import.meta.url).href
  )
  const folders = (process.env.PATH ?? '').split(delimiter)
  const names: string[] = wanted.programs.flat()
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
  if (!found) throw new Error('no Chromium was found: npm test installs one')
  return found
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
