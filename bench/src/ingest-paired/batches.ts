import { generateVolume } from '@bridgework/practice-simulator'
import { feeScheduleLines, planLine, type SourceLine } from '../world/upload.ts'

/** The datasets that are measured: one whose records show a part of another, and one with many references and a note. */
export const works = ['insurance_plans', 'treatments'] as const
export type Work = (typeof works)[number]

export type Batch = { dataset: string; lines: readonly SourceLine[] }

/** So many records of each measured dataset, in uploads as an agent sends them, and what they refer to. */
export function sourceBatches(records: number): Record<Work | 'before', Batch[]> {
  const patients = Math.ceil(records / treatmentsPerPatient)
  const volume = [...generateVolume({ seed: 'ingest', locations: 1, patients }, '1')].map(({ dataset, records }) => ({
    dataset,
    lines: records.map(({ source_id, attributes }) => ({ source_id, attributes })),
  }))
  const plans = Array.from({ length: Math.ceil(records / recordsPerBatch) }, (_, batch) => ({
    dataset: 'insurance_plans',
    lines: Array.from({ length: recordsPerBatch }, (_, index) => planLine(batch * recordsPerBatch + index + 1)),
  }))
  return {
    before: [
      { dataset: 'fee_schedules', lines: feeScheduleLines() },
      ...volume.filter(({ dataset }) => ['patients', 'appointments'].includes(dataset)),
    ],
    insurance_plans: plans,
    treatments: volume.filter(({ dataset }) => dataset === 'treatments'),
  }
}

/** One line in a hundred with another value, spread over the batch. */
export function withChanges({ dataset, lines }: Batch): Batch {
  return {
    dataset,
    lines: lines.map((line, index) => (index % 100 === 0 ? { ...line, attributes: changed(line.attributes) } : line)),
  }
}

function changed(attributes: Record<string, unknown>): Record<string, unknown> {
  return 'plan_name' in attributes
    ? { ...attributes, plan_name: `${attributes.plan_name} (2)` }
    : { ...attributes, provider_name: 'Dr. Other' }
}

const treatmentsPerPatient = 6
const recordsPerBatch = 5_000
