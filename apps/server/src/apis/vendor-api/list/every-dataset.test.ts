import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Dataset, datasetNames, datasets, getDataset, limits } from '@bridgework/contract'
import { Compile } from 'typebox/schema'
import { rerenderSlice } from '../../../modules/records/write/rerenderer.ts'
import { aRecord, someWorld, type VendorRecord } from '../../../testing/test-world.ts'

/** JSON Schema's keywords that the contract uses. */
type Schema = {
  type?: string
  anyOf?: Schema[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  format?: string
  pattern?: string
  maximum?: number
  maxLength?: number
  maxItems?: number
}

/** The widest value that a schema takes; text is made of `fill`, three bytes a character. */
function widest(schema: Schema, fill: string, depth = 0): unknown {
  const some = schema.anyOf?.find((member) => member.type !== 'null')
  if (some) return widest(some, fill, depth)
  if (schema.enum) return schema.enum.toSorted((one, other) => String(other).length - String(one).length)[0]
  if (schema.type === 'object') {
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, member]) => [name, widest(member, fill, depth + 1)]),
    )
  }
  if (schema.type === 'array') {
    return Array.from({ length: Math.min(schema.maxItems ?? 3, 100) }, () =>
      widest(schema.items ?? {}, fill, depth + 1),
    )
  }
  if (schema.type === 'boolean') return false
  if (schema.type === 'integer') return schema.maximum ?? Number.MAX_SAFE_INTEGER
  if (schema.format === 'date') return '9999-12-31'
  if (schema.format === 'date-time') return '9999-12-31T23:59:59.999Z'
  if (schema.pattern?.startsWith('^\\d{4}-')) return '9999-12-31T23:59:59'
  if (schema.pattern?.startsWith('^-?\\d')) return '-9999999999999.99'
  return fill.repeat(schema.maxLength ?? 10)
}

const aWidest = (dataset: Dataset, fill = '漢') => widest(dataset.source as Schema, fill) as object

/** Texts of a record that are no enum's, date's or number's: all that could tell who a patient is. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

test('every dataset’s example makes the way from an agent to a vendor with exactly the contract’s attributes', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  for (const dataset of datasets) {
    const uploaded = await location.upload(dataset.name, { '17': dataset.example })
    assert.deepEqual(uploaded.body as unknown, { inserted: 1, changed: 0, unchanged: 0, hidden: 0 }, dataset.name)
    assert.equal(
      ((await location.upload(dataset.name, { '17': dataset.example })).body as { unchanged?: number }).unchanged,
      1,
    )
    const list = await vendor.get(`/locations/${location.id}/${dataset.name}`)
    const record = list.body.data[0] as VendorRecord
    assert.deepEqual([record.type, record.attributes.source_id], [dataset.type, '17'])
    const names = Object.keys(dataset.attributes.properties)
    assert.deepEqual(Object.keys(record.attributes).toSorted(), names.toSorted(), dataset.name)
    assert.deepEqual(Compile(dataset.attributes).Errors(record.attributes)[1], [], dataset.name)
    const { updated_at: _, source_id: __, ...rendered } = record.attributes
    assert.deepEqual(
      rendered,
      dataset.render(dataset.example, () => null),
      'nothing that it refers to is there',
    )
    const single = (await vendor.get(`/locations/${location.id}/${dataset.name}/${record.id}`)).body.data
    const detail = Object.keys(dataset.detailAttributes?.properties ?? {})
    const singleNames = Object.keys((single as unknown as VendorRecord).attributes)
    assert.deepEqual(singleNames.toSorted(), [...names, ...detail].toSorted())
  }
})

test('P09: records of the widest values that the contract takes are stored and served whole', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor()
  await world.grant(vendor.companyId, location, datasetNames, { notes: true })
  for (const dataset of datasets) {
    const source = aWidest(dataset)
    const uploaded = await location.upload(dataset.name, {
      ['漢'.repeat(limits.sourceIdLengthMax)]: source,
      '2': source,
    })
    assert.equal(uploaded.status, 200, `${dataset.name}: ${uploaded.text}`)
    const list = await vendor.get(`/locations/${location.id}/${dataset.name}`)
    assert.equal(list.body.data.length, 2, list.text.slice(0, 300))
    for (const { attributes } of list.body.data) {
      assert.deepEqual(Compile(dataset.attributes).Errors(attributes)[1], [], dataset.name)
      for (const [name, value] of Object.entries(source)) {
        const isSame = name === 'allocations' || isDeepStrictEqual(attributes[name], value)
        // Not deepEqual, whose message would be as wide as the record.
        if (name in attributes) assert.ok(isSame, `${dataset.name}.${name}`)
      }
    }
  }
})

test('canaries in every attribute of every dataset appear in no log, no metric and no refusal', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor()
  await world.grant(vendor.companyId, location, datasetNames, { notes: true })
  const canary = 'Kanarienvogel'
  const seen: string[] = []
  for (const dataset of datasets) {
    const source = JSON.parse(
      JSON.stringify(widest(dataset.source as Schema, canary)).replace(/(Kanarienvogel){2,}/g, canary),
    )
    assert.ok(textsOf(source).includes(canary), dataset.name)
    assert.equal((await location.upload(dataset.name, { [canary]: source })).status, 200)
    const path = `/locations/${location.id}/${dataset.name}`
    const [record] = (await vendor.get(path)).body.data
    assert.ok(JSON.stringify(record).includes(canary))
    await vendor.get(`${path}/${record?.id}`)
    for (const [name, value] of Object.entries(source)) {
      const wrong = typeof value === 'string' ? [canary] : `${canary}`.repeat(3_000)
      const refused = await location.upload(dataset.name, { '1': { ...source, [name]: wrong } })
      assert.equal(refused.status, 422, `${dataset.name}.${name}`)
      seen.push(refused.text)
    }
    seen.push((await location.upload(dataset.name, { '1': { ...source, [canary]: canary } })).text)
    seen.push((await vendor.get(`${path}?q[${canary.slice(0, 3)}]=1`)).text)
    await location.upload(dataset.name, { [canary]: null })
  }
  seen.push((await world.request('/metrics')).text, JSON.stringify(world.events))
  for (const text of seen) assert.equal(text.includes(canary), false, text.slice(0, 300))
})

test('G09: references resolve whatever the order in which records arrive, within a location alone', async (t) => {
  const world = await someWorld(t)
  const [here, there] = [await world.addLocation(), await world.addLocation()]
  const vendor = await world.addVendor([here, there])
  const list = async (name: string, location = here) =>
    (await vendor.get(`/locations/${location.id}/${name}`)).body.data
  const idOf = async (name: string, sourceId: string) =>
    (await list(name)).find((record) => record.attributes.source_id === sourceId)?.id ?? null
  for (const dataset of datasets) await there.upload(dataset.name, { '1': aRecord(dataset.name) })

  const keys: Record<string, string> = {
    patients: 'p',
    appointments: 'a',
    treatments: 't',
    fee_schedules: 'f',
    insurance_plans: 'i',
  }
  /** The record with every reference that it has naming the target of that kind. */
  const pointing = (dataset: Dataset) => {
    const source: Record<string, unknown> = { ...dataset.example }
    for (const name of Object.keys(source)) {
      const target = targetOf(dataset, name)
      if (target === undefined) continue
      const key = keys[target]
      source[name] = name.endsWith('_ids')
        ? [key]
        : name === 'allocations'
          ? [{ treatment_source_id: key, amount: '1.00' }]
          : key
    }
    return source
  }
  for (const dataset of datasets.toReversed()) {
    const uploaded = await here.upload(dataset.name, {
      [keys[dataset.name] ?? 'x']: pointing(dataset),
      other: { ...pointing(dataset), is_hidden: true },
    })
    assert.equal(uploaded.status, 200, uploaded.text)
  }
  const ids = new Map<string, string | null>()
  for (const [name, key] of Object.entries(keys)) ids.set(name, await idOf(name, key))
  for (const dataset of datasets) {
    const records = await list(dataset.name)
    assert.equal(records.length, 2)
    const lookup = (name: string) => ({ id: ids.get(name) ?? '', source: pointing(getDataset(name as never)) })
    for (const { attributes } of records) {
      const { updated_at: _, source_id: __, is_hidden: ___, ...rendered } = attributes
      const { is_hidden: ____, ...expected } = dataset.render(pointing(dataset) as never, lookup)
      assert.deepEqual(rendered, expected, dataset.name)
    }
    const foreign = (await list(dataset.name, there))[0]
    for (const id of ids.values()) assert.equal(JSON.stringify(foreign).includes(`"${id}"`), false)
  }
})

/** The dataset that an attribute of the source refers to, found by asking the rules with a source that names only it. */
function targetOf(dataset: Dataset, attribute: string): string | undefined {
  const value = dataset.example[attribute]
  const probe = Array.isArray(value)
    ? attribute === 'allocations'
      ? [{ treatment_source_id: 'probe' }]
      : ['probe']
    : 'probe'
  const empty = Object.fromEntries(
    Object.entries(dataset.example).map(([name, each]) => [name, Array.isArray(each) ? [] : null]),
  )
  return dataset.refersTo.find((rule) => rule.keysOf({ ...empty, [attribute]: probe } as never).includes('probe'))
    ?.dataset
}

test('more than 5,000 records that waited for one patient get its id, each in a modification', async (t) => {
  const world = await someWorld(t)
  const location = await world.addLocation()
  const vendor = await world.addVendor([location])
  const treatment = aRecord('treatments', { patient_source_id: 'late', appointment_source_id: null })
  const many = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`t${from + index}`, treatment]))
  for (const from of [0, 4_000]) await location.upload('treatments', many(from, from + 4_000))
  const path = `/locations/${location.id}/treatments`
  const before = (await vendor.get(`${path}?items=1`)).body.meta.next_fetch_modified_since
  await location.upload('patients', { late: aRecord('patients') })
  const patient = (await vendor.get(`/locations/${location.id}/patients`)).body.data[0]?.id ?? ''
  while (await rerenderSlice(world.pool, world.log)) {
    // Slice after slice, as the service's own loop does.
  }
  const filtered = await vendor.get(`${path}?items=5000&q[patient_id]=${patient}`)
  assert.deepEqual([filtered.body.pagy.total, filtered.body.data.length], [8_000, 5_000])
  assert.ok(filtered.body.data.every(({ attributes }) => attributes.patient_id === patient))
  const delta = await vendor.get(`${path}?items=1&q[fetch_modified_since]=${before}`)
  assert.equal(delta.body.pagy.total, 8_000)
  const both = await vendor.get(`${path}?items=1&q[patient_id]=${patient}&q[fetch_modified_since]=${before}`)
  assert.equal(both.body.pagy.total, 8_000)
})
