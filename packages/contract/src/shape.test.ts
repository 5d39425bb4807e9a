import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Check } from 'typebox/value'
import { note, nullable, oneOf, text } from './attribute.ts'
import { datasets } from './datasets.ts'
import { canonicalSource } from './ingest/canonical.ts'
import {
  completeSource,
  contractNumber,
  deprecated,
  lineSource,
  numbersOf,
  renderingOf,
  schemaAt,
  since,
  sinceOf,
  sourceAt,
} from './shape.ts'
import { anyValueOf, contractFile, contractNumbers, readContract } from './testing/test-shapes.ts'

const seed = randomInt(2 ** 31)

// Before the tests are declared, which read it. Only the newest may be written: what an earlier number promised is promised.
if (process.env.BRIDGEWORK_TEST_UPDATE === '1')
  writeFileSync(contractFile(contractNumber), `${JSON.stringify(shapesAt(contractNumber), null, 2)}\n`)

/** The contract's schemas as they were with a number, without what they say of themselves: a sentence may be improved. */
function shapesAt(number: number): object {
  const shapes = datasets
    .filter((dataset) => (dataset.since ?? 1) <= number)
    .map(({ name, source, attributes, detailAttributes }) => {
      const parts = { source, attributes, ...(detailAttributes && { detailAttributes }) }
      return [name, mapValues(parts, (schema) => schemaAt(schema, number))]
    })
  const text = JSON.stringify(Object.fromEntries(shapes), (name, value) =>
    // An attribute may be called so, too.
    (name === 'description' && typeof value === 'string') ||
    (name === 'deprecated' && value === true) ||
    name.startsWith('x-')
      ? undefined
      : value,
  )
  return JSON.parse(text)
}

function mapValues(parts: Record<string, TSchema>, change: (schema: TSchema) => unknown) {
  return Object.fromEntries(Object.entries(parts).map(([name, schema]) => [name, change(schema)]))
}

test('nothing of an earlier number of the contract is taken away or changed, and the newest is written down', () => {
  for (const number of contractNumbers) assert.deepEqual(shapesAt(number), readContract(number), `number ${number}`)
  assert.notDeepEqual(readContract(contractNumber), readContract(contractNumber - 1))
})

test('what came after the first number is null in records of older agents, so it allows null', () => {
  for (const { name, source, attributes, since: own = 1 } of datasets) {
    for (const properties of [source.properties, attributes.properties]) {
      for (const [attribute, schema] of Object.entries(properties as Record<string, TSchema>)) {
        if (sinceOf(schema) <= own) continue
        assert.ok(Check(schema, null), `${name}.${attribute}`)
        assert.ok(sinceOf(schema) <= contractNumber)
      }
    }
  }
})

test('an attribute of any depth that came later raises the rendering, and so does the dataset, but no later value', () => {
  const values = ['a', 'b'] as const
  const attributes = (later: number) =>
    Type.Object({
      kind: oneOf(values, 'Kind', { b: { since: 9, before: 'a' } }),
      lines: nullable(Type.Array(Type.Object({ one: since(later, nullable(text('One'))) }))),
    })
  const renderings = [1, 2, 3].map((later) => renderingOf({ attributes: attributes(later) }))
  assert.deepEqual(renderings, [1, 2, 3])
  assert.equal(renderingOf({ attributes: attributes(3), rendering: 2 }), 4)
})

for (const dataset of datasets) {
  const line = Compile(lineSource(dataset.source))
  const whole = Compile(dataset.source)
  const canonical = canonicalSource(dataset)
  const complete = completeSource(dataset)
  const check = (values: fc.Arbitrary<unknown>, property: (source: unknown) => void) =>
    fc.assert(fc.property(values, property), { seed, numRuns: 60 })

  for (const number of contractNumbers.filter((each) => numbersOf(dataset, each).length > 0)) {
    const then = readContract(number)[dataset.name]
    if (!then) throw new Error(`no ${dataset.name} in number ${number}`)

    test(`${dataset.name}: a line of an agent of number ${number} is read, and lacks nothing (seed ${seed})`, () => {
      check(anyValueOf(then.source), (source) => {
        assert.ok(line.Check(source))
        const read = complete(JSON.parse(canonical(source)))
        assert.ok(whole.Check(read))
        assert.deepEqual(sourceAt(dataset, number)(read), sourceAt(dataset, number)(source))
        // The same record has one text, whichever agent sends it: so it stays unchanged.
        assert.equal(canonical(read), canonical(source))
      })
    })

    test(`${dataset.name}: what an agent of today sends to a service of number ${number} is what that takes (seed ${seed})`, () => {
      // That `schemaAt` is what the number had, the first test says.
      const old = Compile(lineSource(schemaAt(dataset.source, number) ?? Type.Never()))
      check(anyValueOf(dataset.source), (source) => assert.ok(old.Check(sourceAt(dataset, number)(source))))
    })

    test(`${dataset.name}: a document of today fits a client of number ${number} (seed ${seed})`, () => {
      const old = Compile(then.attributes)
      check(anyValueOf(dataset.attributes), (attributes) => assert.ok(old.Check(attributes)))
    })
  }
}

test('attributes and values of any depth may come later, and older services get what stands for them', () => {
  const source = Type.Object(
    {
      kind: oneOf(['plain', 'ornate', 'gilded'], 'Kind', {
        ornate: { since: 2, before: 'plain' },
        gilded: { since: 3, before: 'ornate' },
      }),
      mood: nullable(oneOf(['good', 'odd'], 'Mood', { odd: { since: 2, before: null } })),
      lines: Type.Array(
        Type.Object({ a: text('A'), b: since(3, nullable(text('B'))) }, { additionalProperties: false }),
      ),
      note: since(2, note('Note')),
    },
    { additionalProperties: false },
  )
  const dataset = { source }
  const record = {
    kind: 'gilded',
    mood: 'odd',
    lines: [
      { a: '1', b: '2' },
      { a: '3', b: null },
    ],
    note: 'n',
  }

  assert.deepEqual(sourceAt(dataset, 1)(record), { kind: 'plain', mood: null, lines: [{ a: '1' }, { a: '3' }] })
  assert.deepEqual(sourceAt(dataset, 2)(record), {
    kind: 'ornate',
    mood: 'odd',
    lines: [{ a: '1' }, { a: '3' }],
    note: 'n',
  })
  assert.deepEqual(sourceAt(dataset, 3)(record), { ...record, lines: [{ a: '1', b: '2' }, { a: '3' }] })
  assert.deepEqual(completeSource(dataset)({ ...record, lines: [{ a: '1' }], note: undefined }), {
    ...record,
    lines: [{ a: '1', b: null }],
    note: null,
  })
  assert.ok(Check(lineSource(source), { kind: 'plain', mood: null, lines: [{ a: '1' }] }))
  assert.equal(Check(lineSource(source), { kind: 'plain', mood: null, lines: [{ b: '1' }] }), false)
  assert.equal(Check(lineSource(source), { kind: 'plain', mood: null, lines: [], other: 1 }), false)
  const first = schemaAt(source, 1)
  assert.ok(first && Check(first, { kind: 'plain', mood: 'good', lines: [{ a: '1' }] }))
  assert.ok(first && !Check(first, { kind: 'ornate', mood: 'good', lines: [] }))
  assert.deepEqual(
    [1, 2, 3].map((number) => numbersOf({ source }, number)),
    [[1], [1, 2], [1, 2, 3]],
  )
  assert.deepEqual(numbersOf({ source, since: 3 }, 2), [])
})

test('an attribute with a successor says so where people and tools look, and its shape stays', () => {
  const before = nullable(text('The kind of visit'))
  const after = deprecated(nullable(text('The kind of visit')), 'visit_type')
  assert.deepEqual(JSON.parse(JSON.stringify(after)), {
    ...JSON.parse(JSON.stringify(before)),
    deprecated: true,
    description: 'The kind of visit. Use visit_type instead',
  })
  for (const value of ['new', null, 7]) assert.equal(Check(after, value), Check(before, value))
})
