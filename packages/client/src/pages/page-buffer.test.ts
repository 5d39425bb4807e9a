import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPageBuffer, splitRecords } from './page-buffer.ts'

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
      const split = splitRecords(Buffer.from(text))
      assert.ok(split)
      const data = (split.data as Buffer[]).map((each) => JSON.parse(each.toString()))
      assert.deepEqual({ ...split, data }, JSON.parse(text))
    }),
  )
  const awkward = {
    id: '1',
    type: '],"pagy":{',
    attributes: { a: '\\', b: '"}],"pagy":{"\\"', c: [{}, [[]]], d: '{[,' },
  }
  const bytes = Buffer.from(JSON.stringify(awkward))
  assert.deepEqual(splitRecords(Buffer.from(envelope([awkward, awkward])))?.data, [bytes, bytes])
})

test('a page that was cut anywhere, or is no page, is none', () => {
  const page = Buffer.from(envelope([{ id: '1', type: 'x', attributes: { a: '\\"],"pagy":{ ü' } }]))
  for (let length = 0; length < page.length; length += 1) assert.equal(splitRecords(page.subarray(0, length)), null)
  assert.equal(splitRecords(Buffer.from('{"errors":"no"}')), null)
})

test('a page of any size is taken in whole, also one that is written in another way', async () => {
  for (const count of [3, 20_000, 0, 1]) {
    const records = Array.from({ length: count }, (_, index) => ({ id: String(index), note: `ü ${'x'.repeat(200)}` }))
    const buffer = createPageBuffer()
    await buffer.fill(new Response(envelope(records)))
    const page = buffer.parse()
    assert.ok(page)
    const read = (page.data as Buffer[]).map((each) => JSON.parse(each.toString()))
    assert.deepEqual(read, records)
  }
  const buffer = createPageBuffer()
  await buffer.fill(new Response(JSON.stringify({ pagy: {}, meta: {}, data: [{ id: '1' }] }, null, 2)))
  assert.deepEqual(buffer.parse()?.data, [Buffer.from('{"id":"1"}')])
  await buffer.fill(new Response(null))
  assert.equal(buffer.parse(), null)
})
