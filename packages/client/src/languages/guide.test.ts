import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { all, aPlan, someClient } from '../testing/test-client.ts'
import { someFolder } from './testing/test-python.ts'
import { type Exchange, startRecordedService } from './testing/test-recorded-service.ts'

const run = promisify(execFile)
const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guides/other-languages.md'), 'utf8')
const location = '402871946530117'
const [first, second] = ['8c1f6f0e-5b1c-4a39-9a80-6d6c2b0f7d51', '1d0c7a52-0f5e-4b0a-b9a4-3c1b8c7f2e60']

for (const [language, program] of [
  ['php', 'php'],
  ['ruby', 'ruby'],
] as const) {
  test(`the guide’s program in ${language} copies a dataset of the service, and then only what changed`, async (t) => {
    const { world, vendor, client, location } = await someClient(t, { insurancePlans: 7 })
    const env = {
      BRIDGEWORK_BASE_URL: `${world.url}/api/v1/vendors`,
      BRIDGEWORK_CLIENT_ID: vendor.clientId,
      BRIDGEWORK_CLIENT_SECRET: vendor.clientSecret,
      LOCATION_ID: location.id,
    }
    const sync = someProgram(t, language, program, env)
    assert.equal((await sync()).said, '7 records read\n')
    await location.upload('insurance_plans', { fresh: aPlan({ plan_name: 'Ü "quoted" 😀' }) })
    const { said, copy } = await sync()
    assert.equal(said, '1 records read\n')
    const records = await all(client.insurancePlans.list({ locationId: location.id }))
    assert.deepEqual(copy.records, Object.fromEntries(records.map((record) => [record.id, record])))
  })

  test(`the guide’s program in ${language} repeats what may be, renews its token, and follows a restore of the service`, async (t) => {
    const service = await startRecordedService(t)
    const env = {
      BRIDGEWORK_BASE_URL: service.url,
      BRIDGEWORK_CLIENT_ID: 'bwc_1',
      BRIDGEWORK_CLIENT_SECRET: 'bws_1',
      LOCATION_ID: location,
    }
    const sync = someProgram(t, language, program, env)
    const [all, rest] = [{ items: '5000' }, { items: '5000', after: '2' }]
    service.expect([
      tokenGiven('t1'),
      asked('t1', all, {
        status: 503,
        headers: { 'retry-after': '1' },
        body: { errors: 'Not now.', code: 'unavailable' },
      }),
      {
        ...asked('t1', all, aPage(['1', '2'], { next: '2', watermark: '2026-11-22T16:10:48.820124Z' })),
        at_least_ms: 1000,
      },
      asked('t1', rest, { close: true }),
      asked('t1', rest, { status: 401, body: { errors: 'The token has expired.', code: 'token_expired' } }),
      tokenGiven('t2'),
      asked('t2', rest, aPage(['3'])),
    ])
    assert.deepEqual(Object.keys((await sync()).copy.records), ['1', '2', '3'])
    service.assertDone()

    const delta = { items: '5000', 'q[fetch_modified_since]': '2026-11-22T16:10:48.820124Z' }
    const page = { watermark: '2026-11-22T16:12:00.000001Z', restored: '2026-11-22T16:12:00.000Z', epoch: second }
    service.expect([tokenGiven('t3'), asked('t3', delta, aPage(['1', '9'], page), { 'x-epoch': first })])
    const { copy } = await sync()
    service.assertDone()
    assert.deepEqual(Object.keys(copy.records), ['1', '9'])
    assert.deepEqual([copy.watermark, copy.epoch], [page.watermark, second])

    service.expect([tokenGiven('t4'), asked('t4', { ...delta, 'q[fetch_modified_since]': page.watermark }, denied)])
    await assert.rejects(sync(), /403: Denied/)
    service.assertDone()
  })
}

const denied = { status: 403, body: { errors: 'Denied.', code: 'location_denied' } }

type Copy = { records: Record<string, unknown>; watermark: string; epoch: string }

/** The program of the guide in a folder of its own: runs it, and gives what it said and the copy that it wrote. */
function someProgram(t: TestContext, language: string, program: string, env: Record<string, string>) {
  const [, code] = new RegExp(`<!-- example: ${language} -->\\n\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(guide) ?? []
  assert.ok(code, language)
  const folder = someFolder(t)
  const [file, copy] = [join(folder, `sync.${language}`), join(folder, 'copy.json')]
  writeFileSync(file, code)
  return async (): Promise<{ said: string; copy: Copy }> => {
    const { stdout } = await run(program, [file, copy], { env: { ...process.env, ...env }, timeout: 120_000 }).catch(
      (error) => {
        throw new Error(`${error.stdout}${error.stderr}`, { cause: error })
      },
    )
    return { said: stdout, copy: JSON.parse(readFileSync(copy, 'utf8')) }
  }
}

function tokenGiven(token: string): Exchange {
  const body = { client_id: 'bwc_1', client_secret: 'bws_1' }
  return { request: { method: 'POST', path: '/auth/token', body }, answer: { body: { token } } }
}

function asked(
  token: string,
  query: Record<string, string>,
  answer: Exchange['answer'],
  headers: Record<string, string> = {},
): Exchange {
  const path = `/locations/${location}/insurance_plans`
  return { request: { path, query, headers: { authorization: `Bearer ${token}`, ...headers } }, answer }
}

function aPage(
  ids: readonly string[],
  {
    next,
    watermark,
    restored,
    epoch = first,
  }: { next?: string; watermark?: string; restored?: string; epoch?: string } = {},
): Exchange['answer'] {
  const meta = {
    has_more: next !== undefined,
    next_after: next ?? null,
    next_fetch_modified_since: watermark ?? null,
    restored_at: restored ?? null,
    epoch,
  }
  const data = ids.map((id) => ({ id, type: 'insurance_plan', attributes: { plan_name: 'Acme', is_hidden: false } }))
  return { body: { data, pagy: { total: ids.length, items: 5000 }, meta } }
}
