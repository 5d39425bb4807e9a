import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ApiError } from '../api-error.ts'
import { Bridgework } from '../bridgework.ts'
import type { DatasetName } from '../dataset-resource.ts'
import type { Page } from '../pages/page.ts'
import { sqliteStore } from '../stores/sqlite/sqlite-store.ts'
import type { SyncKey, SyncRecord, SyncStore } from '../sync/store.ts'
import { nameOf } from '../sync/sync.ts'
import { runPython, someFolder } from './testing/test-python.ts'
import { type Exchange, startRecordedService } from './testing/test-recorded-service.ts'

const folder = join(import.meta.dirname, '../../../../clients/cases')

/** A recorded case: clients/cases/README.md says what its members are. */
type Case = { about: string; options?: { attempts?: number }; steps: Step[] }
type Step = {
  do: 'list' | 'export' | 'changes' | 'sync' | 'verify'
  with: Record<string, unknown> & { dataset: DatasetName; location_id: string }
  new_client?: boolean
  exchanges: Exchange[]
  expect: Record<string, unknown>
}

for (const file of globSync('*.json', { cwd: folder }).sort()) {
  // Written by ourselves in this form.
  const each = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case
  test(`case ${basename(file, '.json')}: ${each.about}`, (t) => play(t, each))
}

test('the Python client does in each case what this one does', async () => {
  const { code, out, err } = await runPython(['-m', 'unittest', 'discover', '-s', 'tests', '-p', 'test_cases.py'])
  assert.equal(code, 0, `${out}${err}`)
  assert.match(err, new RegExp(`^Ran ${globSync('*.json', { cwd: folder }).length} tests `, 'm'))
})

async function play(t: TestContext, { options = {}, steps }: Case): Promise<void> {
  const service = await startRecordedService(t)
  const clientOf = () =>
    new Bridgework({
      baseUrl: service.url,
      clientId: 'bwc_1',
      clientSecret: 'bws_1',
      retry: { attempts: options.attempts ?? 10, delayMaxMs: 20 },
      timeoutMs: 20_000,
    })
  const store = await sqliteStore(join(someFolder(t), 'copy.sqlite'))
  let client = clientOf()
  try {
    for (const step of steps) {
      if (step.new_client) client = clientOf()
      service.expect(step.exchanges)
      const got = await outcomeOf(client, store, step).catch((error: unknown) => errorOf(error, step.expect))
      service.assertDone()
      assert.deepEqual(got, step.expect)
    }
  } finally {
    await store.close()
  }
}

/** What a step's call gives, in the words of its `expect`. */
async function outcomeOf(client: Bridgework, store: SyncStore, step: Step): Promise<Record<string, unknown>> {
  const { dataset, location_id: locationId, ...given } = step.with
  const options = Object.fromEntries(Object.entries(given).map(([name, value]) => [camel(name), value]))
  switch (step.do) {
    case 'list':
      return walked(
        client
          .dataset(dataset)
          .list({ locationId, ...options })
          .pages(),
      )
    case 'export':
      return walked(parsed(client.dataset(dataset).export({ locationId, ...options })))
    case 'changes': {
      const { rows, next, hasMore, isWhole, epoch } = await client.changes.page(options)
      return { rows: rows.map(({ id }) => id), next, has_more: hasMore, is_whole: isWhole, epoch }
    }
    case 'sync':
      return synced(await client.sync({ store, ...options }), store, step)
    case 'verify': {
      const results = await client.verify({ store })
      const names = ['serverCount', 'storeCount', 'read', 'missing', 'stray', 'wrong', 'newer', 'wrongRows'] as const
      return {
        verified: results.map((result) => ({
          key: nameOf(result),
          ...Object.fromEntries(names.map((name) => [snake(name), result[name]])),
        })),
      }
    }
  }
}

async function walked(pages: AsyncIterable<Page<SyncRecord>>) {
  const records: SyncRecord[] = []
  const watermarks: (string | null)[] = []
  for await (const page of pages) {
    records.push(...page.records)
    watermarks.push(page.watermark)
  }
  return { ids: records.map(({ id }) => id), hidden: hiddenOf(records), watermarks }
}

async function* parsed(pages: AsyncIterable<Page<Uint8Array>>): AsyncGenerator<Page<SyncRecord>> {
  for await (const page of pages) {
    const records = page.records.map((bytes) => JSON.parse(Buffer.from(bytes).toString()) as SyncRecord)
    yield { ...page, records }
  }
}

async function synced(report: Awaited<ReturnType<Bridgework['sync']>>, store: SyncStore, { expect }: Step) {
  const positions = await store.positions()
  const copy: Record<string, SyncRecord[]> = {}
  for (const position of positions) {
    const records = []
    for await (const record of store.read(position)) records.push(record)
    copy[nameOf(position)] = records
  }
  const names = (keys: readonly SyncKey[]) => keys.map(nameOf)
  const all = Object.values(copy).flat()
  return {
    report: {
      current: report.current,
      records: report.records,
      revoked: names(report.revoked),
      restored: names(report.restored),
      lost: names(report.lost),
      not_granted: names(report.notGranted),
      failed: report.failed.map((each) => ({ key: nameOf(each), code: each.error.code })),
    },
    copy: Object.fromEntries(Object.entries(copy).map(([name, records]) => [name, records.map(({ id }) => id)])),
    hidden: hiddenOf(all),
    positions: Object.fromEntries(
      positions.map((each) => [
        nameOf(each),
        { watermark: each.watermark, epoch: each.epoch ?? null, after: each.walk?.after ?? null },
      ]),
    ),
    ...('records' in expect && { records: all }),
  }
}

function hiddenOf(records: readonly SyncRecord[]): string[] {
  return records.filter(({ attributes }) => attributes.is_hidden === true).map(({ id }) => id)
}

/** An error as `expect` tells it: its text and its help only where that asks for them. */
function errorOf(error: unknown, { error: expected }: Step['expect']) {
  if (!(error instanceof ApiError)) throw error
  const { status, code, attempts, errors, helpUrl } = error
  const asked = typeof expected === 'object' && expected !== null ? expected : {}
  const help = helpUrl && URL.parse(helpUrl)
  return {
    error: {
      ...{ status, code, attempts },
      ...('errors' in asked && { errors }),
      ...('help' in asked && { help: help ? help.pathname + help.hash : null }),
    },
  }
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
