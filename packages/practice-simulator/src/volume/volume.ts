import type { DatasetName } from '@bridgework/contract'
import type { RecordOf, SourceLocation, SourceRecord } from '@bridgework/contract/ingest'
import { procedures } from '../procedure-codes.ts'
import { createRandom, type Random } from '../random.ts'
import { appointmentsOf, ledgerOf, patientOf, referralOf, treatmentsOf, type VolumePatient } from './records.ts'

export type VolumeShape = {
  readonly seed: string
  readonly locations: number
  /** Of each location. */
  readonly patients: number
}

/** Records of one dataset of one location; what they refer to came before, or comes in the same location. */
export type VolumeBatch = {
  readonly locationKey: string
  readonly dataset: DatasetName
  readonly records: readonly SourceRecord[]
}

const schedulesPerLocation = 5
const plansPerLocation = 40
/** As many as an agent sends at once. */
export const recordsPerBatch = 5000

/** The locations of a volume, as an agent tells of them. */
export function volumeLocations({ locations }: VolumeShape): SourceLocation[] {
  return Array.from({ length: locations }, (_, index) => ({
    source_id: String(index + 1),
    name: `Volume Location ${String(index + 1).padStart(4, '0')}`,
    address_line_1: `${index + 1} Example Street`,
    address_line_2: null,
    city: 'Springfield',
    state: 'AZ',
    postal_code: '00100',
    country: 'US',
    phone: '(555)555-0100',
    email: null,
    website_url: null,
    time_zone: 'America/Phoenix',
    currency: 'USD',
    is_active: true,
    practice_management_system: { name: 'Practice simulator', version: null },
  }))
}

/** How many records the volume has. */
export function volumeSize(shape: VolumeShape): number {
  // A patient, three visits with two treatments, two charges and a payment each; the last visit of one in five is not charged yet.
  const care = shape.patients * (1 + visits * 6) - Math.floor(shape.patients / 5) * 3
  return shape.locations * (schedulesPerLocation + plansPerLocation + care + Math.ceil(shape.patients / 3))
}

const visits = 3

/**
 * Much data of plain content for one location, in the contract's order: cheap to make, and whole: every reference resolves, and the ledger
 * of a family adds up. The same shape always gives the same records.
 */
export function* generateVolume(shape: VolumeShape, locationKey: string): Generator<VolumeBatch> {
  const random = createRandom(`${shape.seed}/volume/${locationKey}`)
  const patients = function* (): Generator<VolumePatient> {
    for (let n = 1; n <= shape.patients; n++) yield { number: n, guarantor: n - ((n - 1) % 3), locationKey, visits }
  }
  function* inBatches(dataset: DatasetName, records: Iterable<SourceRecord>): Generator<VolumeBatch> {
    let batch: SourceRecord[] = []
    for (const record of records) {
      batch.push(record)
      if (batch.length < recordsPerBatch) continue
      yield { locationKey, dataset, records: batch }
      batch = []
    }
    if (batch.length > 0) yield { locationKey, dataset, records: batch }
  }
  function* each(recordsOf: (patient: VolumePatient) => Iterable<SourceRecord>): Generator<SourceRecord> {
    for (const patient of patients()) yield* recordsOf(patient)
  }
  yield* inBatches('fee_schedules', feeSchedules(random))
  yield* inBatches('insurance_plans', insurancePlans(random))
  yield* inBatches(
    'patients',
    each((patient) => [patientOf(patient, random, plansPerLocation)]),
  )
  yield* inBatches('appointments', each(appointmentsOf))
  yield* inBatches('treatments', each(treatmentsOf))
  yield* inBatches('ledger_transactions', each(ledgerOf))
  yield* inBatches(
    'patient_referrals',
    each((patient) => (patient.number % 3 === 1 ? [referralOf(patient)] : [])),
  )
}

function* feeSchedules(random: Random): Generator<RecordOf<'fee_schedules'>> {
  for (let n = 1; n <= schedulesPerLocation; n++) {
    const share = random.whole(50, 110)
    const fees = procedures.map(({ code, usualCents }) => ({
      procedure_code: code,
      amount: ((usualCents * share) / 10_000).toFixed(2),
      provider_source_id: null,
      effective_on: null,
    }))
    const attributes = { name: `Schedule ${n}`, schedule_type: 'standard', is_global: false, is_hidden: false, fees }
    yield { source_id: String(n), attributes }
  }
}

function* insurancePlans(random: Random): Generator<RecordOf<'insurance_plans'>> {
  for (let n = 1; n <= plansPerLocation; n++) {
    yield {
      source_id: String(n),
      attributes: {
        plan_name: `Plan ${n}`,
        group_number: `G${random.whole(1000, 9999)}`,
        carrier_name: `Carrier ${n % 7}`,
        is_hidden: n % 20 === 0,
        payer_id: `X${n % 7}`,
        employer_name: `Employer ${n % 11}`,
        plan_type: random.pick(['percentage', 'ppo', 'flat_copay']),
        renewal_month: random.whole(1, 12),
        fee_schedule_source_id: String(random.whole(1, schedulesPerLocation)),
      },
    }
  }
}
