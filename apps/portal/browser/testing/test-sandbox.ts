import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { SandboxFile } from '../../../server/src/sandbox/sandbox-file.ts'
import { freePort } from '../../../server/src/testing/test-port.ts'

/** A sandbox with some history, and browsers of its people. */
export type DemoSandbox = {
  url: string
  /** For the parameters of addresses. */
  ids: Record<string, string>
  /** The secret part of the links that pages are opened with. */
  fragments: Record<string, string>
  /** The browser of the person whose page it is. */
  contextOf: (address: string) => Promise<BrowserContext>
  stop: () => Promise<void>
}

/** Starts the service with an empty data directory as a newcomer does, and lets its people do what pages then show. */
export async function startDemoSandbox(browser: Browser, dataDir: string): Promise<DemoSandbox> {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const stop = await startService(port, dataDir)
  try {
    return { ...(await fillSandbox(browser, url, dataDir)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function fillSandbox(browser: Browser, url: string, dataDir: string): Promise<Omit<DemoSandbox, 'stop'>> {
  const file: SandboxFile = JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8'))
  await readAsVendor(url, file)
  await holdRemoval(url, file)

  const options = { baseURL: url, locale: 'en-US', timezoneId: 'America/New_York' }
  const contexts = new Map<string, BrowserContext>()
  const signIn = async (role: string) => {
    const known = file.portal_sign_ins.find((each) => each.role === role)
    if (!known) throw new Error(`the sandbox has no ${role}`)
    const context = await browser.newContext(options)
    contexts.set(role, context)
    const page = await context.newPage()
    await page.goto('/sign-in')
    await page.getByLabel('E-mail address').fill(known.email)
    await page.getByLabel(/^Password/).fill(known.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL((address) => !['/', '/sign-in'].includes(address.pathname))
    return { page, email: known.email }
  }
  const vendor = await signIn('vendor owner')
  const company_id = idIn(vendor.page.url())
  const practice = await signIn('practice owner')
  const operator = await signIn('operator')
  const member = await signIn('vendor member')
  contexts.set('no one', await browser.newContext(options))

  const organization_id = String(file.organization_id)
  const invite = (on: Page, tenant: string, person: object) => act(on, `/tenants/${tenant}/members`, person)
  await invite(vendor.page, company_id, { name: 'Nora New', email: 'nora@vendor.example', role: 'admin' })
  const invitation = await linkMailedTo(practice.page, 'nora@vendor.example')
  await invite(practice.page, organization_id, { name: 'Mia Member', email: member.email, role: 'member' })
  await member.page.goto(await linkMailedTo(practice.page, member.email))
  await member.page.getByRole('button', { name: 'Accept' }).click()
  await member.page.waitForURL(/\/organization\//)
  await act(practice.page, '/auth/request-password-reset', { email: practice.email })
  const reset = await linkMailedTo(practice.page, practice.email)
  const session = await (await practice.page.request.get('/portal/api/session')).json()
  const userId: string = session.user.id
  for (const { page } of [vendor, practice, operator, member]) await page.close()

  return {
    url,
    ids: {
      company_id,
      organization_id,
      location_id: String(file.granted_location_ids[0]),
      agent_id: await agentIdOf(url, file),
      tenant_id: organization_id,
      dataset: heldDataset,
      user_id: userId,
    },
    fragments: {
      '/invitation': new URL(invitation).hash,
      '/reset-password': new URL(reset).hash,
      // The page asks the server only when its button is pressed.
      '/email-change': new URL(reset).hash,
    },
    contextOf: async (address) => {
      const context = contexts.get(roleOf(address))
      if (!context) throw new Error(`no one has a sign-in for ${address}`)
      return context
    },
  }
}

async function agentIdOf(url: string, file: SandboxFile): Promise<string> {
  const headers = { authorization: `Bearer ${file.agent_key}` }
  const self = await (await fetch(`${url}/ingest/v1/agents/self`, { headers })).json()
  return (self as { agent_id: string }).agent_id
}

/** Who opens a page: an owner, the operator, a member of a company and a practice, or somebody without a sign-in. */
function roleOf(address: string): string {
  if (address.startsWith('/company/')) return 'vendor owner'
  if (address.startsWith('/organization/')) return 'practice owner'
  if (address.startsWith('/operator')) return 'operator'
  return address === '/' || address.startsWith('/account') ? 'vendor member' : 'no one'
}

async function startService(port: number, dataDir: string): Promise<() => Promise<void>> {
  const main = join(import.meta.dirname, '../../../server/src/main.ts')
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BRIDGEWORK_DATA_DIR: dataDir, BRIDGEWORK_PORT: String(port), BRIDGEWORK_LOG: 'important' },
  })
  const exited = once(child, 'exit')
  const ready = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on(
    'line',
    (line) => line.startsWith('Bridgework is ready') && ready.resolve(),
  )
  await Promise.race([
    ready.promise,
    exited.then(([code]) => {
      throw new Error(`the service ended with ${code}`)
    }),
  ])
  return async () => {
    child.kill('SIGTERM')
    await exited
  }
}

/** Requests of the demo vendor: most are answered, some refused, so that charts and lists have something of each. */
async function readAsVendor(url: string, file: SandboxFile): Promise<void> {
  const base = `${url}/api/v1/vendors`
  const { client_id, client_secret } = file
  const answer = await fetch(`${base}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret }),
  })
  const { token } = (await answer.json()) as { token: string }
  const get = (path: string) =>
    fetch(`${base}${path}`, { headers: { authorization: `Bearer ${token}` } }).then((each) => each.text())
  await get('/organizations')
  await get('/locations')
  for (const location of file.granted_location_ids) {
    for (const dataset of ['fee_schedules', 'insurance_plans', 'patients', 'appointments', 'treatments']) {
      for (const items of [100, 25]) await get(`/locations/${location}/${dataset}?items=${items}`)
    }
    await get(`/locations/${location}/sync_status`)
    await get(`/locations/${location}/patients?items=none`)
  }
  for (const location of file.ungranted_location_ids) await get(`/locations/${location}/patients`)
}

const heldDataset = 'patients'

/** The agent says that all patients are gone, as after a mistake in the office. */
async function holdRemoval(url: string, file: SandboxFile): Promise<void> {
  const lists = `${url}/ingest/v1/locations/${file.granted_location_ids[0]}/${heldDataset}/complete_lists`
  const post = async (at: string, body: object) => {
    const answer = await fetch(at, {
      method: 'POST',
      headers: { authorization: `Bearer ${file.agent_key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as { code?: string; list_id?: string }
  }
  const { list_id } = await post(lists, { began_at_upload: Number.MAX_SAFE_INTEGER })
  const { code } = await post(`${lists}/${list_id}/finish`, {})
  if (code !== 'removal_held') throw new Error(`the removal is not held: ${code}`)
}

/** An act of the person whose page it is, as the page would send it. */
async function act(page: Page, path: string, body: object): Promise<void> {
  const session = await page.request.get('/portal/api/session')
  const answer = await page.request.post(`/portal/api${path}`, {
    data: body,
    headers: { 'X-CSRF-Token': (await session.json()).csrf_token, Origin: new URL(page.url()).origin },
  })
  if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`)
}

/** The link in the latest mail to an address, which the sandbox keeps in a folder. A mail is written there within seconds. */
async function linkMailedTo(page: Page, email: string): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await page.request.get('/portal/api/sandbox_mail')
    const mails: { recipient: string; text: string }[] = (await answer.json()).data
    const link = mails.find(({ recipient }) => recipient === email)?.text.match(/^http\S+#\S+$/m)
    if (link) return link[0]
    await page.waitForTimeout(200)
  }
  throw new Error(`no link was mailed to ${email}`)
}

function idIn(address: string): string {
  return new URL(address).pathname.split('/')[2] ?? ''
}
