import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type Access, accessOf, bodyOf, changesOf, isOpen, turned } from './access-draft.ts'

const locations = ['1', '2', '3']
const datasets = ['patients', 'treatments']
const nothing: Access = { all: new Set(), single: new Map() }
const turn = (access: Access, id: string | null, dataset: string) => turned(access, id, dataset, locations)
const changes = (now: Access, wanted: Access) => changesOf(now, wanted, locations, datasets)

test('datasets that are ticked for the same locations share a line of the review', () => {
  const wanted = turn(turn(turn(turn(nothing, '1', 'patients'), '1', 'treatments'), '2', 'patients'), '2', 'treatments')
  assert.deepEqual(changes(nothing, wanted), [{ act: 'open', location_ids: ['1', '2'], future: false, datasets }])
})

test('a location is taken out of all with one click: the others stay, future ones are no longer included', () => {
  const everywhere = turn(nothing, null, 'patients')
  const wanted = turn(everywhere, '2', 'patients')
  assert.deepEqual(changes(everywhere, wanted), [
    { act: 'close', location_ids: ['2'], future: true, datasets: ['patients'] },
  ])
  assert.deepEqual(bodyOf(wanted), {
    all_locations: [],
    locations: [
      { id: '1', datasets: ['patients'] },
      { id: '3', datasets: ['patients'] },
    ],
  })
})

test('the line of all locations closes a dataset everywhere', () => {
  const everywhere = turn(nothing, null, 'patients')
  assert.deepEqual(changes(everywhere, turn(everywhere, null, 'patients')), [
    { act: 'close', location_ids: locations, future: true, datasets: ['patients'] },
  ])
})

test('whatever is ticked, the review names every cell that becomes different, and no other', () => {
  fc.assert(
    fc.property(someAccess(), someAccess(), (now, wanted) => {
      const named = changes(now, wanted).flatMap(({ act, location_ids, future, datasets: names }) =>
        [...location_ids, ...(future ? [null] : [])].flatMap((id) => names.map((name) => `${act} ${id} ${name}`)),
      )
      const cells = [null, ...locations].flatMap((id) => datasets.map((dataset) => ({ id, dataset })))
      const has = (access: Access, id: string | null, dataset: string) =>
        id === null ? access.all.has(dataset) : isOpen(access, id, dataset)
      const different = cells
        .filter(({ id, dataset }) => has(now, id, dataset) !== has(wanted, id, dataset))
        .map(({ id, dataset }) => `${has(wanted, id, dataset) ? 'open' : 'close'} ${id} ${dataset}`)
      assert.deepEqual(named.toSorted(), different.toSorted())
    }),
  )
})

test('what is sent says what is ticked', () => {
  fc.assert(
    fc.property(someAccess(), (access) => {
      const body = bodyOf(access)
      const shown = locations.map((id) => ({
        id,
        name: id,
        datasets: body.locations.find((location) => location.id === id)?.datasets ?? [],
      }))
      assert.deepEqual(changes(access, accessOf({ all_locations: body.all_locations, locations: shown })), [])
    }),
  )
})

/** What clicks lead to, from nothing. */
function someAccess(): fc.Arbitrary<Access> {
  const cells = [null, ...locations].flatMap((id) => datasets.map((dataset) => ({ id, dataset })))
  return fc
    .array(fc.constantFrom(...cells), { maxLength: 12 })
    .map((turns) => turns.reduce((access, cell) => turn(access, cell.id, cell.dataset), nothing))
}
