import { miscountStatement } from '@bridgework/server/src/modules/records/testing/test-miscounts.ts'
import type { World } from '../world/practice.ts'
import { runSql } from '../world/practice.ts'
import type { Batch } from './kills/ingest-plan.ts'

/** The name that each plan must have, by source id: the last one that was acknowledged. */
export type ExpectedPlans = ReadonlyMap<string, string>

export function expectedOf(acknowledged: readonly Batch[]): ExpectedPlans {
  return new Map(acknowledged.flatMap((batch) => batch.plans.map((plan) => [plan.sourceId, plan.planName])))
}

/** What is wrong with the data after everything that was done to it. All empty: it is whole. */
export type Faults = { lost: string[]; doubled: string[]; unexpected: string[]; uncounted: string[] }

/**
 * Reads the whole dataset through the vendor API and holds it against what must be there: every plan is there once, with its last name,
 * and nothing else is; what the service counts is what it has.
 */
export async function findFaults(world: World, expected: ExpectedPlans): Promise<Faults> {
  const [locationId = ''] = world.locationIds
  const faults: Faults = { lost: [], doubled: [], unexpected: [], uncounted: [] }
  const seen = new Map<string, string>()
  const ids = new Set<string>()
  let after: string | null = '0'
  let total = 0
  while (after !== null) {
    const page: PlanPage = await readPage(world, locationId, after)
    total = page.pagy.total
    for (const { id, attributes } of page.data) {
      if (ids.has(id) || seen.has(attributes.source_id)) faults.doubled.push(attributes.source_id)
      ids.add(id)
      seen.set(attributes.source_id, attributes.plan_name)
    }
    after = page.meta.next_after
  }
  for (const [sourceId, planName] of expected) if (seen.get(sourceId) !== planName) faults.lost.push(sourceId)
  for (const sourceId of seen.keys()) if (!expected.has(sourceId)) faults.unexpected.push(sourceId)
  if (total !== seen.size) faults.uncounted.push(`pagy.total is ${total} and there are ${seen.size}`)
  faults.uncounted.push(...(await findMiscounts(world, locationId)))
  return faults
}

export function isWhole(faults: Faults): boolean {
  return Object.values(faults).every((list) => list.length === 0)
}

export function describeFaults(faults: Faults): string {
  return Object.entries(faults)
    .map(([kind, list]) => `${list.length} ${kind}${list.length > 0 ? ` (${list.slice(0, 3).join(', ')})` : ''}`)
    .join(', ')
}

type PlanPage = {
  data: { id: string; attributes: { source_id: string; plan_name: string } }[]
  pagy: { total: number }
  meta: { next_after: string | null }
}

async function readPage(world: World, locationId: string, after: string): Promise<PlanPage> {
  const url = `${world.server.vendorUrl}/locations/${locationId}/insurance_plans?items=5000&after=${after}`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${world.vendor.token}` } })
  if (answer.status !== 200) throw new Error(`the audit's read was answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as PlanPage
}

async function findMiscounts(world: World, locationId: string): Promise<string[]> {
  const rows = await runSql<{ miscount: string }>(
    world.ownerUrl,
    `select format('%s: state says %s of which %s visible up to %s, records are %s of which %s visible up to %s',
                   s.dataset, s.total, s.visible, s.last_stamp, r.total, r.visible, r.last_stamp) as miscount
       from dataset_state s
       join (select dataset, count(*) as total, count(*) filter (where not is_hidden) as visible, max(modified_at) as last_stamp
               from record where location_id = $1 group by dataset) r on r.dataset = s.dataset
      where s.location_id = $1 and (s.total, s.visible) is distinct from (r.total, r.visible)
         or s.location_id = $1 and s.last_stamp < r.last_stamp`,
    [locationId],
  )
  const counts = await runSql<{ miscount: string }>(world.ownerUrl, miscountStatement)
  return [...rows, ...counts].map((row) => row.miscount)
}
