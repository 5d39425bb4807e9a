import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { datasets } from '@bridgework/contract'
import type { createRandom } from '@bridgework/practice-simulator'
import type { World } from '../../world/practice.ts'
import type { RestoredCopy } from './restored-mirror.ts'

type Record_ = { id: string; attributes: unknown }
type Page = { data: Record_[]; meta: Record<string, string | null> }
type Copy = { records: Map<string, Record_>; watermark: string | null; epoch: string | null }
type Get = (query: Record<string, string>, epoch: string | null) => Promise<Page>

/** The program that the guide gives to vendors, as it stands there. */
async function programOfGuide(): Promise<(get: Get, copy: Copy) => Promise<void>> {
  const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guides/staying-current.md'), 'utf8')
  const [, code = ''] = /```js\n(.*?)```/s.exec(guide) ?? []
  assert.ok(code.includes('export async function update('), 'the guide has the program')
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).update
}

/** It reads datasets with cursors; the guide has it for these. */
const names = datasets.filter(({ pagination }) => pagination === 'cursor').map(({ name }) => name)

class Interrupted extends Error {}

/** A vendor's own program, which keeps its copies with the guide's five lines, asks in pages of a few records, and breaks off now and then. */
export function startOwnProgram(world: World, random: ReturnType<typeof createRandom>): RestoredCopy {
  const { server, vendor } = world
  const copies = new Map<string, Copy>()
  const counts = { interruptions: 0, rounds: 0 }
  let mayBreakOff = true
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.vendorUrl}${path}`, {
      headers: { authorization: `Bearer ${vendor.token}`, ...headers },
      signal: AbortSignal.timeout(30_000),
    })
    return { status: answer.status, body: (await answer.json()) as Page & { code?: string } }
  }
  const getFrom =
    (path: string): Get =>
    async (query, epoch) => {
      if (mayBreakOff && random.chance(0.03)) throw new Interrupted()
      const items = mayBreakOff ? { items: '300' } : {}
      const { status, body } = await ask(
        `${path}?${new URLSearchParams({ ...query, ...items })}`,
        epoch === null ? {} : { 'x-epoch': epoch },
      )
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
  const listed = async () => {
    const { status, body } = await ask('/locations?items=5000')
    assert.equal(status, 200, JSON.stringify(body))
    return body.data.map(({ id }) => id)
  }
  const round = async () => {
    const update = await programOfGuide()
    const locationIds = await listed()
    for (const path of copies.keys()) {
      const [, , id = ''] = path.split('/')
      if (!locationIds.includes(id) && (await ask(`/locations/${id}`)).body.code === 'location_unknown')
        copies.delete(path)
    }
    for (const path of locationIds.flatMap((id) => names.map((name) => `/locations/${id}/${name}`))) {
      const copy = copies.get(path) ?? { records: new Map(), watermark: null, epoch: null }
      copies.set(path, copy)
      await update(getFrom(path), copy)
    }
    counts.rounds += 1
  }
  let isStopped = false
  const run = async () => {
    while (!isStopped) {
      // The service is away, or the program broke off.
      await round().catch((error: unknown) => {
        counts.interruptions += 1
        return error
      })
      await sleep(300)
    }
  }
  let running = run()
  const stop = async () => {
    isStopped = true
    await running
  }
  return {
    async compare() {
      await stop()
      mayBreakOff = false
      try {
        await round()
        const locationIds = await listed()
        assert.deepEqual(new Set([...copies.keys()].map((path) => path.split('/')[2])), new Set(locationIds))
        let records = 0
        for (const [path, copy] of copies) {
          const server: Copy = { records: new Map(), watermark: null, epoch: null }
          await (await programOfGuide())(getFrom(path), server)
          const sorted = ({ records }: Copy) =>
            [...records.values()].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
          assert.deepEqual(sorted(copy), sorted(server), path)
          records += copy.records.size
        }
        return records
      } finally {
        mayBreakOff = true
        isStopped = false
        running = run()
      }
    },
    stop,
    said: () => `the guide’s program with ${counts.rounds} rounds, and ${counts.interruptions} that broke off`,
  }
}
