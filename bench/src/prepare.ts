import { deepEqual, equal } from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { fillBaseline } from './baseline/tables.ts'
import { medianOf } from './measure.ts'
import { runSql, type World } from './world/practice.ts'
import { feeScheduleLines, packLines, planLine, sendUpload } from './world/upload.ts'

export type IngestRates = { newPerSecond: number; unchangedPerSecond: number }

/** What the comparisons ask for: a list's query, and how many records answer it. */
export type Queries = { firstPage: string; lastPage: string; emptyDelta: string; smallDelta: string }

const batchLines = 5_000
const otherPlans = 5_000
export const pageRecords = 5_000
export const smallDeltaRecords = 10

/** Fills the world through uploads, measures them, and copies what was stored into the baseline's tables. */
export async function fillWorld(world: World, plans: number): Promise<{ ingest: IngestRates; queries: Queries }> {
  let number = 0
  const upload = async (locationId: string, dataset: string, body: Buffer<ArrayBuffer>) => {
    number += 1
    const begunAt = performance.now()
    const answer = await sendUpload(world, { locationId, dataset, number, body })
    if (answer.status !== 200) throw new Error(`upload: ${answer.status} ${answer.text}`)
    return { ms: performance.now() - begunAt, counts: JSON.parse(answer.text) as Record<string, number> }
  }
  const [first = '', ...others] = world.locationIds
  for (const locationId of world.locationIds) await upload(locationId, 'fee_schedules', packLines(feeScheduleLines()))
  const bodies = batches(plans).map((batch) => packLines(batch.map((plan) => planLine(plan))))
  const small = packLines(Array.from({ length: otherPlans }, (_, index) => planLine(index + 1)))
  for (const locationId of others) await upload(locationId, 'insurance_plans', small)
  const added = []
  for (const body of bodies) added.push(await upload(first, 'insurance_plans', body))
  const unchanged = []
  for (const body of bodies) unchanged.push(await upload(first, 'insurance_plans', body))
  equal(sum(added.map(({ counts }) => counts.inserted ?? 0)), plans)
  equal(sum(unchanged.map(({ counts }) => counts.unchanged ?? 0)), plans)

  const beforeChange = await watermark(world, first)
  const changes = Array.from({ length: smallDeltaRecords }, (_, index) => planLine((index + 1) * 37, 2))
  await upload(first, 'insurance_plans', packLines(changes))
  const last = await lastPageStart(world, first)
  await waitUntilPacked(world)
  await runSql(world.adminUrl, 'vacuum analyze')
  await fillBaseline(world.ownerUrl)
  // So that neither side pays for writing out what the preparation left.
  await runSql(world.adminUrl, 'checkpoint')
  const perSecond = (uploads: { ms: number }[]) => batchLines / ((medianOf(uploads.map(({ ms }) => ms)) ?? 0) / 1000)
  const items = `items=${pageRecords}`
  return {
    ingest: { newPerSecond: perSecond(added), unchangedPerSecond: perSecond(unchanged) },
    queries: {
      firstPage: items,
      lastPage: `${items}&after=${last}`,
      emptyDelta: `${items}&${since(await watermark(world, first))}`,
      smallDelta: `${items}&${since(beforeChange)}`,
    },
  }
}

/** Pages are made of segments, and a changed one is packed again within half a minute: both are the usual state of a location. */
async function waitUntilPacked(world: World): Promise<void> {
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 250) {
    const [left] = await runSql<{ unpacked: string; stale: string; unchecked: string }>(
      world.adminUrl,
      `select sum(s.total - coalesce(g.records, 0)) as unpacked, count(*) filter (where s.last_stamp > g.checked_stamp) as unchecked,
              (select count(*) from segment where stale_since is not null) as stale
         from dataset_state s
         left join segment_state g using (location_id, dataset)
        where s.dataset = 'insurance_plans' and s.total >= 250`,
    )
    if (Number(left?.unpacked) < 250 && Number(left?.stale) === 0 && Number(left?.unchecked) === 0) return
    await sleep(250)
  }
  throw new Error('the segments were not packed within two minutes')
}

/** Both sides must give the same records: a baseline that answers less would be no comparison. */
export async function requireSameAnswers(ours: string, theirs: string, token: string, queries: Queries): Promise<void> {
  const counts = {
    firstPage: pageRecords,
    lastPage: pageRecords,
    emptyDelta: 0,
    smallDelta: smallDeltaRecords,
  } satisfies Record<keyof Queries, number>
  for (const [name, query] of Object.entries(queries)) {
    const [mine, other] = await Promise.all([ask(`${ours}?${query}`, token), ask(`${theirs}?${query}`, token)])
    deepEqual(other.data, mine.data)
    equal(mine.data.length, counts[name as keyof Queries], `records of ${name}`)
  }
}

async function watermark(world: World, locationId: string): Promise<string> {
  const { meta } = await ask(`${plansUrl(world, locationId)}?items=1`, world.vendor.token)
  return meta.next_fetch_modified_since
}

/** The cursor before the last full page. */
async function lastPageStart(world: World, locationId: string): Promise<string> {
  const [row] = await runSql<{ id: string }>(
    world.ownerUrl,
    `select id from record where location_id = $1 and dataset = 'insurance_plans' order by id desc offset $2 limit 1`,
    [locationId, pageRecords],
  )
  return row?.id ?? '0'
}

export function plansUrl(world: World, locationId: string): string {
  return `${world.server.vendorUrl}/locations/${locationId}/insurance_plans`
}

type ListBody = { data: unknown[]; meta: { next_fetch_modified_since: string } }

async function ask(url: string, token: string): Promise<ListBody> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as ListBody
}

function since(moment: string): string {
  return `q[fetch_modified_since]=${encodeURIComponent(moment)}`
}

function batches(plans: number): number[][] {
  return Array.from({ length: Math.floor(plans / batchLines) }, (_, batch) =>
    Array.from({ length: batchLines }, (_, index) => batch * batchLines + index + 1),
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
