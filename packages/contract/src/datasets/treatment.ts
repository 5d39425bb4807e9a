import { Type } from 'typebox'
import { calendarDate, money, note, nullable, nullableText, oneOf, text } from '../attribute.ts'
import { defineReferringDataset, reference } from '../referring-dataset.ts'

/** Paging: spec, Pagination rules 2. */
export const treatment = defineReferringDataset({
  name: 'treatments',
  type: 'treatment',
  title: 'Treatments',
  description:
    'Procedures in every status: planned, scheduled, completed, done elsewhere and referred out; and conditions that were found.',
  notes: ['note'],
  filters: ['patient_id'],
  attributes: {
    patient_id: reference('patients', 'Patient'),
    provider_name: nullableText('Provider'),
    appointment_id: reference('appointments', 'Appointment of the treatment'),
    procedure_code: nullableText('Procedure code, as stored'),
    description: nullableText('Description'),
    status: oneOf(
      ['planned', 'scheduled', 'completed', 'existing', 'referred_out', 'condition', 'inactive'],
      'Status of the treatment',
    ),
    status_raw: nullableText('Status, as the practice management system names it'),
    area: nullable(
      oneOf(['tooth', 'surface', 'quadrant', 'arch', 'sextant', 'mouth', 'range'], 'Part of the mouth that is treated'),
    ),
    teeth: Type.Array(text('Tooth, as numbered in the practice management system'), {
      maxItems: 60,
      description: 'Teeth that are treated',
    }),
    surfaces: nullableText('Surfaces, quadrant or arch, as stored'),
    quantity: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Number of units' }),
    fee: nullable(money('Fee for all units')),
    discount: nullable(money('Discount on the fee')),
    insurance_estimate: nullable(money('Amount that insurance is expected to pay')),
    patient_estimate: nullable(
      money('What is left to the patient after insurance; null where insurance has no part in it'),
    ),
    priority: nullableText('Priority in the treatment plan'),
    planned_on: nullable(calendarDate('Day on which it was planned')),
    completed_on: nullable(calendarDate('Day on which it was completed')),
    note: note('Note'),
  },
  example: {
    patient_source_id: '1002',
    provider_name: 'Dr. Sample',
    appointment_source_id: '501',
    procedure_code: 'D2391',
    description: 'Filling, one surface',
    status: 'scheduled',
    status_raw: 'TP',
    area: 'surface',
    teeth: ['3'],
    surfaces: 'O',
    quantity: 1,
    fee: '180.00',
    discount: '0.00',
    insurance_estimate: '144.00',
    patient_estimate: '36.00',
    priority: '1',
    planned_on: '2026-01-12',
    completed_on: null,
    note: null,
    is_hidden: false,
  },
})
