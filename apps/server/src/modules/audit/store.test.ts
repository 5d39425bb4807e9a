import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AuditFilter, listAuditHistory } from './store.ts'

test('a history is asked for by what was given and by nothing else, so that its plan fits', async () => {
  const asked: string[] = []
  const db = {
    query: async (text: string) => {
      asked.push(text)
      return { rows: [] }
    },
  } as unknown as Parameters<typeof listAuditHistory>[0]
  const filters: fc.Arbitrary<AuditFilter> = fc.record({
    side: fc.constant('company' as const),
    tenantId: fc.option(fc.constant('7')),
    search: fc.constantFrom('', 'x'),
    person: fc.constantFrom('', 'y'),
    actions: fc.option(fc.constant(['member.add'])),
    from: fc.constant(new Date(0)),
    until: fc.constant(new Date(1)),
  })
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      await listAuditHistory(db, filter, { before: null, limit: 1 })
      const text = asked.at(-1) ?? ''
      assert.deepEqual(
        [
          /side = \$1 and occurred_at >= \$2 and occurred_at < \$3 and/,
          /tenant_id = \$/,
          /tenant_id is null/,
          /\bor action = any/,
          /and actor ilike/,
          /and action = any/,
        ].map((part) => part.test(text)),
        [
          true,
          filter.tenantId !== null,
          filter.tenantId === null,
          filter.search !== '',
          filter.person !== '',
          filter.actions !== null,
        ],
      )
    }),
  )
})
