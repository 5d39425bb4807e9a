import assert from 'node:assert/strict'
import type { TestVendor, VendorRecord } from '../../testing/test-world.ts'
import { withReferences } from './test-references.ts'

/** Parents before children, as a vendor reads them. */
export const names = [
  'fee_schedules',
  'insurance_plans',
  'patients',
  'appointments',
  'treatments',
  'ledger_transactions',
  'patient_referrals',
] as const
export type Name = (typeof names)[number]

/** Records by the practice's own key, without what only the service knows (ids, moments); fee schedules with their fees. */
export type View = Record<Name, Record<string, object>>

/** The practice's own keys of the records that came, in ascending order. */
export type Came = Record<Name, string[]>

export function eachName<T>(value: (name: Name) => T): Record<Name, T> {
  // The list above names every member: that is what its type says.
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, T>
}

export const nothing: Came = eachName(() => [])

/**
 * What a vendor keeps of one location. `sync` reads the whole the first time and deltas after it, as the specification tells vendors to;
 * nothing else ever gets into the copy. `of` are the datasets that it reads.
 */
export function vendorCopy(
  vendor: TestVendor,
  locationId: string,
  { items = 25, of = names }: { items?: number; of?: readonly Name[] } = {},
) {
  const records = eachName(() => new Map<string, VendorRecord>())
  const idsBySource = eachName(() => new Map<string, string>())
  const watermarks: Partial<Record<Name, string>> = {}
  /** A record stays as it came until another comes in its place, and so does what it refers to: an id is of one record for ever. */
  const shown = new WeakMap<VendorRecord, object>()
  /** Of datasets of which nothing came since it was made. */
  const views: Partial<View> = {}

  async function syncOne(name: Name): Promise<string[]> {
    if (!of.includes(name)) return []
    const { data, watermark, isRestored } = await walk(vendor, locationId, name, { since: watermarks[name], items })
    if (isRestored) {
      records[name].clear()
      idsBySource[name].clear()
    }
    for (const record of data) {
      const whole = name === 'fee_schedules' ? await readOne(vendor, locationId, name, record) : record
      const { source_id } = whole.attributes
      assert.equal(idsBySource[name].get(source_id) ?? whole.id, whole.id, 'a record keeps its id for ever')
      idsBySource[name].set(source_id, whole.id)
      records[name].set(whole.id, whole)
    }
    watermarks[name] = watermark
    if (data.length > 0 || isRestored) delete views[name]
    return data.map((record) => record.attributes.source_id).sort(byKey)
  }

  function viewOf(name: Name): Record<string, object> {
    views[name] ??= Object.fromEntries(
      [...records[name].values()].map((record) => {
        const own = shown.get(record) ?? show(name, record)
        shown.set(record, own)
        return [record.attributes.source_id, own]
      }),
    )
    return views[name]
  }

  function show(name: Name, { attributes: { source_id, updated_at, fee_schedule, ...own } }: VendorRecord): object {
    assert.match(updated_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    if (name !== 'insurance_plans') return withReferences(own, 'id', sourceIdOf)
    const { data } = fee_schedule
    const embedded = data && { source_id: sourceIdOf('fee_schedules', data.id), ...data.attributes }
    return { ...own, fee_schedule: embedded }
  }

  function sourceIdOf(dataset: string, id: string): string {
    const found = records[dataset as Name].get(id)
    return found?.attributes.source_id ?? assert.fail(`${dataset} ${id} is referred to at ${locationId}, and not there`)
  }

  return {
    sync: async (): Promise<Came> => {
      const came: Came = { ...nothing }
      for (const name of names) came[name] = await syncOne(name)
      return came
    },
    view: (): View => eachName(viewOf),
    /** Every record exactly as it was served. */
    served: () => names.flatMap((name) => [...records[name].values()].sort((one, other) => byKey(one.id, other.id))),
  }
}

/** Keys are whole numbers of up to 63 bits, or begin with what kind they are of. */
export function byKey(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : 1)
}

/** All pages of a list or, with `since`, of a delta. */
export async function walk(
  vendor: TestVendor,
  locationId: string,
  name: Name,
  { since, items }: { since?: string | undefined; items: number },
): Promise<{ data: VendorRecord[]; watermark: string; isRestored: boolean }> {
  const data: VendorRecord[] = []
  const filter = since === undefined ? '' : `&q[fetch_modified_since]=${encodeURIComponent(since)}`
  let watermark: string | undefined
  let isRestored = false
  for (let position: string | null = ''; position !== null; ) {
    const answer = await vendor.get(`/locations/${locationId}/${name}?items=${items}${filter}${position}`)
    assert.equal(answer.status, 200, answer.text)
    const { data: page, meta, pagy } = answer.body
    data.push(...page)
    // The first page's: what changes during the walk comes with the next delta.
    watermark ??= meta.next_fetch_modified_since
    isRestored = meta.restored_at !== null
    position = meta.has_more
      ? name === 'fee_schedules'
        ? `&page=${meta.next_page}`
        : `&after=${meta.next_after}`
      : null
    if (position === null) assert.equal(pagy.total, data.length)
  }
  assert.equal(new Set(data.map((record) => record.id)).size, data.length, 'a record came twice in one walk')
  return { data, watermark: watermark ?? '', isRestored }
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
