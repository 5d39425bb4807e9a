import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseMoment } from '../../../modules/datasets/instant.ts'
import { filtersOf } from './disclosed-read.ts'

const moment = parseMoment('2026-02-03T04:05:06.007008Z')

test('a disclosure has each filter that was asked with, and no other', () => {
  const asked = fc.record({
    modifiedAfter: fc.option(fc.constant(1_770_091_506_007_008)),
    patientId: fc.option(fc.constant('7')),
    startsFrom: fc.option(fc.constant(moment)),
    startsTo: fc.option(fc.constant(moment)),
  })
  fc.assert(
    fc.property(asked, fc.option(fc.constant(['name'])), (selection, fields) => {
      const text = '2026-02-03T04:05:06.007008Z'
      assert.deepEqual(filtersOf(selection, fields), {
        ...(selection.modifiedAfter === null ? {} : { modified_after: text }),
        ...(selection.patientId === null ? {} : { patient_id: '7' }),
        ...(selection.startsFrom === null ? {} : { starts_from: text }),
        ...(selection.startsTo === null ? {} : { starts_to: text }),
        ...(fields === null ? {} : { fields }),
      })
    }),
  )
})
