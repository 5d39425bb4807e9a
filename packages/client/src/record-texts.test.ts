import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitRecords } from './record-texts.ts'

const envelope = (data: readonly unknown[]) =>
  JSON.stringify({ data, pagy: { total: data.length, items: 5 }, meta: { next_after: null, note: ']}"' } })

test('records split from a page are what parsing gives, whatever they hold', () => {
  const record = fc.record({
    id: fc.string(),
    type: fc.string(),
    attributes: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  fc.assert(
    fc.property(fc.array(record), (records) => {
      const text = envelope(records)
      const split = splitRecords(text)
      assert.ok(split)
      const data = (split.data as string[]).map((each) => JSON.parse(each))
      assert.deepEqual({ ...split, data }, JSON.parse(text))
    }),
  )
  const awkward = {
    id: '1',
    type: '],"pagy":{',
    attributes: { a: '\\', b: '"}],"pagy":{"\\"', c: [{}, [[]]], d: '{[,' },
  }
  assert.deepEqual(splitRecords(envelope([awkward, awkward]))?.data, [JSON.stringify(awkward), JSON.stringify(awkward)])
})

test('a page that was cut anywhere, or is no page, is none', () => {
  const text = envelope([{ id: '1', type: 'x', attributes: { a: '\\"],"pagy":{' } }])
  for (let length = 0; length < text.length; length += 1) assert.equal(splitRecords(text.slice(0, length)), null)
  assert.equal(splitRecords('{"errors":"no"}'), null)
})
