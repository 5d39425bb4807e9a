import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { someWebsite } from '../../server/src/apis/attribution/testing/test-website.ts'
import { attributionSnippet } from '../../server/src/modules/attribution/script.ts'
import { sharedChromium } from './testing/test-browser.ts'

const csp = (ours: string) => `default-src 'none'; script-src ${ours}; connect-src ${ours}; img-src data:`

test('V02: in a browser: a page under a strict CSP carries the script, and a page load tells the website’s origin and nothing else', async (t) => {
  const { site, ours, theirs, beacons, page } = await someBrowser(t)
  await site.set(['localhost'])
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))

  const beacon = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.goto(`${theirs}/new-patients?name=canary`)
  assert.equal((await beacon).status(), 204)
  await page.waitForLoadState('networkidle')

  assert.deepEqual(complaints, [])
  const [heard] = beacons
  assert.ok(heard)
  assert.equal(beacons.length, 1, 'one for each page load')
  assert.equal(heard.origin, theirs)
  assert.deepEqual([heard.cookie, heard.referer, heard['content-length']], [undefined, undefined, '0'])
  assert.doesNotMatch(JSON.stringify(heard), /canary|new-patients/)
  assert.equal((await site.state()).isInstalled, true)
  assert.deepEqual(
    (await site.sightings()).map(({ origin, isOwnDomain }) => [origin, isOwnDomain]),
    [[theirs, true]],
  )
  const kept = await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]')
  assert.deepEqual(kept, ['', 0, 0])
  assert.deepEqual(await page.context().cookies([ours, theirs]), [])

  await page.goto(`${theirs}/`, { waitUntil: 'networkidle' })
  assert.deepEqual([beacons.length, beacons[1]?.origin], [2, theirs], 'also where the page tells no referrer')
})

test('V03: in a browser: the script keeps still under an excluded path, however its address is spelled', async (t) => {
  const { site, theirs, beacons, page } = await someBrowser(t)
  await site.set(['localhost'], ['/patient-portal'])
  const excluded = [
    '/patient-portal',
    '/patient-portal/bill?id=1',
    '/Patient-Portal/',
    '/%70atient-portal/x',
    '//patient-portal/',
    '/a/../patient-portal/x',
    '/broken%ff',
  ]
  for (const path of excluded) await page.goto(`${theirs}${path}`, { waitUntil: 'networkidle' })
  assert.equal(beacons.length, 0)

  await page.goto(`${theirs}/about/patient-portal`, { waitUntil: 'networkidle' })
  assert.equal(beacons.length, 1, 'a path that only contains it is none')
})

/** A practice's website at one origin and ours at another, with what reached ours, and a page of a real browser. */
async function someBrowser(t: TestContext) {
  const beacons: IncomingHttpHeaders[] = []
  const server = createServer(async (request, response) => {
    if (!request.url?.startsWith('/attribution/')) {
      response.writeHead(200, {
        'Content-Type': 'text/html',
        'Content-Security-Policy': csp(ours),
        // The strictest and the loosest policy that a page could have for what its requests tell of it.
        'Referrer-Policy': beacons.length === 0 ? 'unsafe-url' : 'no-referrer',
      })
      response.end(`<!doctype html><head>${snippet}</head><title>Smile</title><link rel="icon" href="data:,">`)
      return
    }
    const { method = '' } = request
    if (method === 'POST') beacons.push(request.headers)
    const answer = await fetch(`${site.url}${request.url}`, {
      method,
      headers: { origin: request.headers.origin ?? '' },
    })
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(await answer.text())
  })
  await new Promise<void>((listening) => server.listen(0, listening))
  const { port } = server.address() as AddressInfo
  const ours = `http://127.0.0.1:${port}`
  const site = await someWebsite(t, { publicUrl: ours })
  const snippet = attributionSnippet(ours, site.key)
  const page = await (await sharedChromium()).newPage()
  t.after(async () => {
    await page.context().close()
    server.closeAllConnections()
    server.close()
  })
  return { site, ours, theirs: `http://localhost:${port}`, beacons, page }
}
