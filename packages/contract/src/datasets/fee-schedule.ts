import { Type } from 'typebox'
import { calendarDate, commonAttributes, money, nullable, nullableText, oneOf, text } from '../attribute.ts'
import { defineDataset } from '../dataset.ts'

const name = text('Name of the schedule; empty when the practice management system has none')
const scheduleType = oneOf(
  ['standard', 'copay', 'out_of_network', 'fixed_benefit', 'other'],
  'What the amounts of this schedule are',
)
const isGlobal = Type.Boolean({ description: 'True when the schedule applies at every location of the organization' })
const fee = Type.Object(
  {
    procedure_code: text('Procedure code, as stored'),
    amount: nullable(money('Fee in the location’s currency; null when it is blank')),
    provider_source_id: nullableText('Key of the only provider that the fee applies to; null: all providers'),
    effective_on: nullable(calendarDate('First day on which the fee applies')),
  },
  { additionalProperties: false },
)
const fees = Type.Array(fee, { description: 'The fees of this schedule', maxItems: 50_000 })

/** spec: Fee schedule; paging by page number (Pagination rules 3). */
export const feeSchedule = defineDataset({
  name: 'fee_schedules',
  type: 'fee_schedule',
  title: 'Fee schedules',
  description: 'Fee schedules of a practice, and those that its insurance plans use.',
  pagination: 'page',
  preview: false,
  operationIds: {
    list: 'locations_resources_fee_schedules_list',
    get: 'locations_resources_fee_schedules_get',
    digest: 'locations_resources_fee_schedules_digest',
    export: 'locations_resources_fee_schedules_export',
  },
  source: Type.Object(
    { name, schedule_type: scheduleType, is_global: isGlobal, is_hidden: commonAttributes.is_hidden, fees },
    { additionalProperties: false },
  ),
  attributes: Type.Object({
    name,
    is_hidden: commonAttributes.is_hidden,
    schedule_type: scheduleType,
    is_global: isGlobal,
    fees_count: Type.Integer({ description: 'Number of fees; the single record lists them' }),
    source_id: commonAttributes.source_id,
    updated_at: commonAttributes.updated_at,
  }),
  detailAttributes: Type.Object({ fees }),
  refersTo: [],
  notes: [],
  filters: [],
  render: (source) => ({
    name: source.name,
    is_hidden: source.is_hidden,
    schedule_type: source.schedule_type,
    is_global: source.is_global,
    fees_count: source.fees.length,
  }),
  renderDetail: (source) => ({ fees: source.fees }),
  example: {
    name: 'Standard 2026',
    schedule_type: 'standard',
    is_global: true,
    is_hidden: false,
    fees: [{ procedure_code: 'D0120', amount: '62.00', provider_source_id: null, effective_on: null }],
  },
})
