import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type Access, accessOf, bodyOf, changesOf, isOpen, notesOf, ticksOf, withCells } from './access-draft.ts'

const locations = ['1', '2', '3']
const datasets = ['patients', 'treatments']
const notes = notesOf('treatments')
const names = [...datasets, notes]
const nothing: Access = { all: new Set(), single: new Map() }
/** A click on one box. */
const turn = (access: Access, id: string | null, dataset: string) => {
  const cells = { at: id === null ? null : [id], names: [dataset] }
  return withCells(access, cells, ticksOf(access, cells) !== 'all', locations)
}
const changes = (now: Access, wanted: Access) => changesOf(now, wanted, locations, names)

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
    all_locations_notes: [],
    locations: [
      { id: '1', datasets: ['patients'], notes: [] },
      { id: '3', datasets: ['patients'], notes: [] },
    ],
  })
})

test('the line of all locations closes a dataset everywhere', () => {
  const everywhere = turn(nothing, null, 'patients')
  assert.deepEqual(changes(everywhere, turn(everywhere, null, 'patients')), [
    { act: 'close', location_ids: locations, future: true, datasets: ['patients'] },
  ])
})

test('notes are ticked for one location of all, and close with their dataset', () => {
  const everywhere = turn(nothing, null, 'treatments')
  const wanted = turn(everywhere, '2', notes)
  assert.deepEqual(changes(everywhere, wanted), [
    { act: 'open', location_ids: ['2'], future: false, datasets: [notes] },
  ])
  assert.deepEqual(bodyOf(wanted), {
    all_locations: ['treatments'],
    all_locations_notes: [],
    locations: [{ id: '2', datasets: ['treatments'], notes: ['treatments'] }],
  })
  const allNotes = turn(everywhere, null, notes)
  assert.deepEqual(changes(allNotes, turn(allNotes, '2', 'treatments')), [
    { act: 'close', location_ids: ['2'], future: true, datasets: ['treatments', notes] },
  ])
  assert.deepEqual(
    changes(wanted, turn(wanted, null, 'treatments')).flatMap(({ datasets }) => datasets),
    ['treatments', notes],
  )
})

test('a row, a column of the locations that match, and both at once are ticked with one click', () => {
  const some = withCells(nothing, { at: ['1', '3'], names: datasets }, true, locations)
  assert.deepEqual(changes(nothing, some), [{ act: 'open', location_ids: ['1', '3'], future: false, datasets }])
  assert.equal(ticksOf(some, { at: ['1', '3'], names: datasets }), 'all')
  assert.equal(ticksOf(some, { at: ['1', '2'], names: ['patients'] }), 'some')
  assert.equal(ticksOf(some, { at: null, names: datasets }), 'none')
  assert.deepEqual(changes(some, withCells(some, { at: ['3'], names: datasets }, false, locations)), [
    { act: 'close', location_ids: ['3'], future: false, datasets },
  ])
  assert.deepEqual(changes(some, withCells(some, { at: [], names: datasets }, false, locations)), [])
})

test('whatever is ticked, the review names every cell that becomes different, and no other', () => {
  fc.assert(
    fc.property(someAccess(), someAccess(), (now, wanted) => {
      const named = changes(now, wanted).flatMap(({ act, location_ids, future, datasets: changed }) =>
        [...location_ids, ...(future ? [null] : [])].flatMap((id) => changed.map((name) => `${act} ${id} ${name}`)),
      )
      const cells = [null, ...locations].flatMap((id) => names.map((dataset) => ({ id, dataset })))
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
      const shown = locations.map((id) => {
        const own = body.locations.find((location) => location.id === id)
        return { id, name: id, datasets: own?.datasets ?? [], notes: own?.notes ?? [] }
      })
      const { all_locations, all_locations_notes = [] } = body
      assert.deepEqual(changes(access, accessOf({ all_locations, all_locations_notes, locations: shown })), [])
      for (const id of locations) assert.ok(!isOpen(access, id, notes) || isOpen(access, id, 'treatments'))
    }),
  )
})

/** What clicks lead to, from nothing. */
function someAccess(): fc.Arbitrary<Access> {
  const cells = [null, ...locations].flatMap((id) => names.map((dataset) => ({ id, dataset })))
  return fc.array(fc.constantFrom(...cells), { maxLength: 12 }).map((turns) =>
    turns.reduce((access, { id, dataset }) => {
      // Notes can be ticked where their dataset is.
      const isShown =
        dataset !== notes || (id === null ? access.all.has('treatments') : isOpen(access, id, 'treatments'))
      return isShown ? turn(access, id, dataset) : access
    }, nothing),
  )
}
