import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromRow, type RowOf, toRow } from './rows.ts'

type Office = { id: string; addressLine1: string | null; isActive: boolean; createdAt: Date }

test('a row becomes the object whose members its columns spell in snake case', () => {
  const row: RowOf<Office> = { id: '7', address_line_1: null, is_active: true, created_at: new Date(0) }

  const office: Office = fromRow<Office>(row)

  assert.deepEqual(office, { id: '7', addressLine1: null, isActive: true, createdAt: new Date(0) })
  assert.deepEqual(toRow(office), row)
})
