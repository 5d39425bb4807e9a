import { Type } from 'typebox'
import { commonAttributes, nullable, nullableText, oneOf, recordId, sourceId, text } from '../attribute.ts'
import { defineDataset } from '../dataset.ts'

const own = {
  plan_name: text('Name of the plan; empty when the practice management system has none'),
  group_number: nullableText('Group number'),
  carrier_name: nullableText('Name of the plan’s insurance carrier; null when the plan has no carrier'),
  is_hidden: commonAttributes.is_hidden,
}
const added = {
  payer_id: nullableText('Electronic payer id of the carrier'),
  employer_name: nullableText('Employer that offers the plan'),
  plan_type: nullable(oneOf(['percentage', 'ppo', 'flat_copay', 'capitation'], 'How the plan calculates what it pays')),
  renewal_month: nullable(
    Type.Integer({ minimum: 1, maximum: 12, description: 'Month in which the benefits renew, 1–12' }),
  ),
}

/** spec: Insurance plan; cursor paging (Pagination rules 2); not yet available in production. */
export const insurancePlan = defineDataset({
  name: 'insurance_plans',
  type: 'insurance_plan',
  title: 'Insurance plans',
  description: 'Insurance plans of a practice, each with its fee schedule.',
  pagination: 'cursor',
  preview: true,
  operationIds: {
    list: 'locations_resources_insurance_plans_list',
    get: 'locations_resources_insurance_plans_get',
    digest: 'locations_resources_insurance_plans_digest',
    export: 'locations_resources_insurance_plans_export',
  },
  source: Type.Object(
    {
      ...own,
      ...added,
      fee_schedule_source_id: nullable(sourceId('Key of the plan’s fee schedule')),
    },
    { additionalProperties: false },
  ),
  attributes: Type.Object({
    ...own,
    fee_schedule: Type.Object({
      data: nullable(
        Type.Object(
          {
            id: recordId('Id of the fee schedule'),
            type: Type.Literal('fee_schedule'),
            attributes: Type.Object({
              name: text('Name of the schedule'),
              is_hidden: Type.Boolean({
                description: 'True when the fee schedule has been removed in the practice management system',
              }),
            }),
          },
          { description: 'The fee schedule; null when the plan has none' },
        ),
      ),
    }),
    ...added,
    source_id: commonAttributes.source_id,
    updated_at: commonAttributes.updated_at,
  }),
  kept: ['fee_schedule_source_id'],
  refersTo: [
    {
      attribute: 'fee_schedule',
      dataset: 'fee_schedules',
      keysOf: ({ fee_schedule_source_id: key }) => (key === null ? [] : [key]),
      changesWith: ['name', 'is_hidden'],
    },
  ],
  notes: [],
  filters: [],
  render: (source, lookup) => {
    const { fee_schedule_source_id: key } = source
    const schedule = key === null ? null : lookup('fee_schedules', key)
    return {
      plan_name: source.plan_name,
      group_number: source.group_number,
      carrier_name: source.carrier_name,
      is_hidden: source.is_hidden,
      fee_schedule: {
        data: schedule && {
          id: schedule.id,
          type: 'fee_schedule',
          attributes: { name: schedule.source.name, is_hidden: schedule.source.is_hidden },
        },
      },
      payer_id: source.payer_id,
      employer_name: source.employer_name,
      plan_type: source.plan_type,
      renewal_month: source.renewal_month,
    }
  },
  example: {
    plan_name: 'Acme Manufacturing',
    group_number: 'GRP-100',
    carrier_name: 'Example Dental Insurance',
    is_hidden: false,
    payer_id: '12345',
    employer_name: 'Acme Manufacturing',
    plan_type: 'ppo',
    renewal_month: 1,
    fee_schedule_source_id: '53',
  },
})
