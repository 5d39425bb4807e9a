import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type Access, isOpen, planOf, type Step, turned } from './grant-plan.ts'

const locations = ['1', '2', '3']
const datasets = ['patients', 'treatments']
const nothing: Access = { all: new Set(), single: new Map() }

test('what is ticked for several locations is opened in one call', () => {
  const wanted = turned(turned(turned(nothing, '1', 'patients'), '1', 'treatments'), '2', 'patients')
  assert.deepEqual(planOf(nothing, wanted, locations, datasets), [
    { act: 'grant', location_ids: ['1', '2'], datasets: ['patients'] },
    { act: 'grant', location_ids: ['1'], datasets: ['treatments'] },
  ])
})

test('what was open everywhere is closed everywhere before some locations keep it', () => {
  const everywhere = turned(nothing, null, 'patients')
  const wanted = turned(turned(everywhere, null, 'patients'), '2', 'patients')
  assert.deepEqual(planOf(everywhere, wanted, locations, datasets), [
    { act: 'revoke', location_ids: 'all', datasets: ['patients'] },
    { act: 'grant', location_ids: ['2'], datasets: ['patients'] },
  ])
})

test('whatever is ticked, its calls open exactly that, and nothing is called when nothing changed', () => {
  fc.assert(
    fc.property(someAccess(), someAccess(), (now, wanted) => {
      const reached = planOf(now, wanted, locations, datasets).reduce(carriedOut, now)
      for (const dataset of datasets) {
        assert.equal(reached.all.has(dataset), wanted.all.has(dataset))
        for (const id of locations) assert.equal(isOpen(reached, id, dataset), isOpen(wanted, id, dataset))
      }
      assert.deepEqual(planOf(now, now, locations, datasets), [])
    }),
  )
})

/** What the server makes of a call. */
function carriedOut(access: Access, { act, location_ids, datasets }: Step): Access {
  const all = new Set(access.all)
  const single = new Map(locations.map((id) => [id, new Set(access.single.get(id))]))
  for (const dataset of datasets) {
    if (location_ids === 'all') {
      if (act === 'grant') all.add(dataset)
      else all.delete(dataset)
    } else {
      assert.ok(act === 'grant' || !all.has(dataset), 'a single location was taken out of all')
    }
    for (const id of location_ids === 'all' ? (act === 'grant' ? [] : locations) : location_ids) {
      if (act === 'grant') single.get(id)?.add(dataset)
      else single.get(id)?.delete(dataset)
    }
  }
  return { all, single }
}

function someAccess(): fc.Arbitrary<Access> {
  const cells = [null, ...locations].flatMap((id) => datasets.map((dataset) => ({ id, dataset })))
  return fc
    .subarray(cells)
    .map((turns) => turns.reduce((access, cell) => turned(access, cell.id, cell.dataset), nothing))
}
