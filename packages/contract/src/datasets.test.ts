import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { commonAttributes } from './attribute.ts'
import { datasetNames, datasets, findDataset } from './datasets.ts'

for (const dataset of datasets) {
  test(`${dataset.name}: its example is what an agent may send, and renders to the documented example of what vendors receive`, () => {
    assert.ok(Check(dataset.source, dataset.example))
    const lookup = (name: string) => {
      const source = findDataset(name)?.example
      return source ? { id: '1', source } : null
    }
    for (const look of [lookup, () => null]) {
      const attributes = {
        ...dataset.render(dataset.example, look),
        source_id: '1',
        updated_at: '2026-01-31T08:00:00.000Z',
      }
      // Exactly these: an attribute that is rendered and not documented would be a promise that nobody has read.
      assert.deepEqual(Object.keys(attributes).toSorted(), Object.keys(dataset.attributes.properties).toSorted())
      assert.ok(Check(dataset.attributes, attributes))
    }
    const detail = dataset.renderDetail?.(dataset.example) ?? {}
    assert.ok(Check(dataset.detailAttributes ?? Type.Object({}), detail))
  })

  test(`${dataset.name}: what it refers to are datasets, and it stands after those of which it shows more than the id`, () => {
    const names: string[] = datasetNames
    for (const { dataset: target, keysOf, changesWith } of dataset.refersTo) {
      assert.ok(names.includes(target))
      assert.ok(Array.isArray(keysOf(dataset.example)))
      if (changesWith.length > 0) assert.ok(names.indexOf(target) < names.indexOf(dataset.name))
      for (const changing of changesWith) assert.ok(changing in (findDataset(target)?.source.properties ?? {}))
    }
  })

  test(`${dataset.name}: what holds long free text is a note, and a note is null or a text on both sides`, () => {
    const { source, attributes, example, notes } = dataset
    const isNote = (schema: object) => JSON.stringify(schema).includes(longText)
    const long = Object.entries(source.properties).flatMap(([name, schema]) => (isNote(schema) ? [name] : []))
    assert.deepEqual(long, notes)
    for (const value of ['A text', null]) {
      const rendered = dataset.render(
        { ...example, ...Object.fromEntries(notes.map((name) => [name, value])) },
        () => null,
      )
      for (const name of notes) {
        assert.equal(rendered[name], value)
        assert.match(JSON.stringify(attributes.properties[name]), /unless the practice granted notes/)
      }
    }
  })

  test(`${dataset.name}: every attribute is described, and every record tells its key, whether it is hidden and when it changed`, () => {
    for (const name of Object.keys(commonAttributes)) assert.ok(name in dataset.attributes.properties)
    assert.deepEqual(undescribed(dataset.attributes), [])
  })
}

const longText = JSON.stringify({ maxLength: 20_000 }).slice(1, -1)

/** Paths of values that say nothing of themselves. */
function undescribed(schema: object, path = ''): string[] {
  const { properties, items, anyOf, description } = schema as {
    properties?: Record<string, object>
    items?: object
    anyOf?: { description?: string; type?: string }[]
    description?: string
  }
  if (properties) return Object.entries(properties).flatMap(([name, inner]) => undescribed(inner, `${path}.${name}`))
  if (items) return undescribed(items, `${path}[]`)
  if (anyOf) return anyOf.filter(({ type }) => type !== 'null').flatMap((inner) => undescribed(inner, path))
  return description !== undefined || 'const' in schema ? [] : [path]
}
