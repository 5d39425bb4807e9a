import assert from 'node:assert/strict'
import type { TestVendor, VendorRecord } from '../test-world.ts'

/** Parents before children, as a vendor reads them. */
export const names = ['fee_schedules', 'insurance_plans'] as const
export type Name = (typeof names)[number]

/** Records by the practice's own key, without what only the service knows (ids, moments); fee schedules with their fees. */
export type View = Record<Name, Record<string, object>>

/** The practice's own keys of the records that came, in ascending order. */
export type Came = Record<Name, string[]>

/**
 * What a vendor keeps of one location. `sync` reads the whole the first time and deltas after it, as the specification tells vendors to;
 * nothing else ever gets into the copy.
 */
export function vendorCopy(vendor: TestVendor, locationId: string, { items = 25 }: { items?: number } = {}) {
  const records: Record<Name, Map<string, VendorRecord>> = { fee_schedules: new Map(), insurance_plans: new Map() }
  const watermarks: Partial<Record<Name, string>> = {}

  async function syncOne(name: Name): Promise<string[]> {
    const { data, watermark } = await walk(vendor, locationId, name, { since: watermarks[name], items })
    for (const record of data) {
      const whole = name === 'fee_schedules' ? await readOne(vendor, locationId, name, record) : record
      const known = [...records[name].values()].find((each) => each.attributes.source_id === whole.attributes.source_id)
      assert.equal(known?.id ?? whole.id, whole.id, 'a record keeps its id for ever')
      records[name].set(whole.id, whole)
    }
    watermarks[name] = watermark
    return data.map((record) => record.attributes.source_id).sort(byKey)
  }

  return {
    sync: async (): Promise<Came> => ({
      fee_schedules: await syncOne('fee_schedules'),
      insurance_plans: await syncOne('insurance_plans'),
    }),
    view: (): View => ({
      fee_schedules: viewOf(records.fee_schedules, records.fee_schedules),
      insurance_plans: viewOf(records.insurance_plans, records.fee_schedules),
    }),
    /** Every record exactly as it was served. */
    served: () => names.flatMap((name) => [...records[name].values()].sort((one, other) => byKey(one.id, other.id))),
  }
}

/** Keys are whole numbers of up to 63 bits. */
export function byKey(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : 1)
}

/** All pages of a list or, with `since`, of a delta. */
export async function walk(
  vendor: TestVendor,
  locationId: string,
  name: Name,
  { since, items }: { since?: string | undefined; items: number },
): Promise<{ data: VendorRecord[]; watermark: string }> {
  const data: VendorRecord[] = []
  const filter = since === undefined ? '' : `&q[fetch_modified_since]=${encodeURIComponent(since)}`
  let watermark: string | undefined
  for (let position: string | null = ''; position !== null; ) {
    const answer = await vendor.get(`/locations/${locationId}/${name}?items=${items}${filter}${position}`)
    assert.equal(answer.status, 200, answer.text)
    const { data: page, meta, pagy } = answer.body
    data.push(...page)
    // The first page's: what changes during the walk comes with the next delta.
    watermark ??= meta.next_fetch_modified_since
    position = meta.has_more
      ? name === 'fee_schedules'
        ? `&page=${meta.next_page}`
        : `&after=${meta.next_after}`
      : null
    if (position === null) assert.equal(pagy.total, data.length)
  }
  assert.equal(new Set(data.map((record) => record.id)).size, data.length, 'a record came twice in one walk')
  return { data, watermark: watermark ?? '' }
}

async function readOne(
  vendor: TestVendor,
  locationId: string,
  name: Name,
  listed: VendorRecord,
): Promise<VendorRecord> {
  const answer = await vendor.get(`/locations/${locationId}/${name}/${listed.id}`)
  assert.equal(answer.status, 200, answer.text)
  // A single record's `data` is one record and not a list.
  const whole = answer.body.data as unknown as VendorRecord
  const { fees, ...rest } = whole.attributes
  assert.deepEqual({ ...whole, attributes: rest }, listed)
  assert.ok(Array.isArray(fees) && fees.length === rest.fees_count)
  return whole
}

function viewOf(records: ReadonlyMap<string, VendorRecord>, schedules: ReadonlyMap<string, VendorRecord>) {
  return Object.fromEntries(
    [...records.values()].map(({ attributes: { source_id, updated_at, fee_schedule, ...own } }) => {
      assert.match(updated_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      if (fee_schedule === undefined) return [source_id, own]
      const embedded = fee_schedule.data && {
        source_id: schedules.get(fee_schedule.data.id)?.attributes.source_id,
        ...fee_schedule.data.attributes,
      }
      return [source_id, { ...own, fee_schedule: embedded }]
    }),
  )
}
