import type { RecordOf } from '@bridgework/contract/ingest'
import { firstName } from '../life/people.ts'
import { inventedName } from '../names.ts'
import { procedures } from '../procedure-codes.ts'
import type { Random } from '../random.ts'
import { addDays } from '../wall-time.ts'

/** A patient of a volume: everything else follows from the number. */
export type VolumePatient = {
  readonly number: number
  readonly guarantor: number
  readonly locationKey: string
  readonly visits: number
}

const providers = ['Pell Owen', 'Marl Ismere', 'Wend Avern'] as const
const treatmentsPerVisit = 2

export function patientOf(patient: VolumePatient, random: Random, plans: number): RecordOf<'patients'> {
  const { number, guarantor } = patient
  return {
    source_id: String(number),
    attributes: {
      title: null,
      first_name: firstName(random),
      middle_name: null,
      last_name: inventedName(random),
      preferred_name: null,
      date_of_birth: dayOf(random.whole(0, 27_000) - 30_000),
      gender: number % 2 === 0 ? 'male' : 'female',
      status: number % 40 === 0 ? 'inactive' : 'active',
      status_raw: number % 40 === 0 ? 'Inactive' : 'Patient',
      email: `p${number}@example.com`,
      mobile_phone: `(555)555-01${String(number % 100).padStart(2, '0')}`,
      home_phone: null,
      work_phone: null,
      address_line_1: `${guarantor} Example Street`,
      address_line_2: null,
      city: 'Springfield',
      state: 'AZ',
      postal_code: '00100',
      country: null,
      chart_number: null,
      guarantor_source_id: String(guarantor),
      primary_provider_name: providerOf(number),
      billing_type: 'Standard account',
      preferred_language: null,
      preferred_contact_method: 'sms',
      first_visit_on: visitDay(patient, 0),
      fee_schedule_source_id: null,
      primary_insurance_plan_source_id: number % 3 === 0 ? null : String(random.whole(1, plans)),
      secondary_insurance_plan_source_id: null,
      balance: { total: money(balanceCents(patient)), insurance_estimate: '0.00', as_of: null },
      merged_into_source_id: null,
      is_hidden: false,
    },
  }
}

export function* appointmentsOf(patient: VolumePatient): Generator<RecordOf<'appointments'>> {
  for (let visit = 0; visit < patient.visits; visit++) {
    const day = visitDay(patient, visit)
    const hour = 8 + (patient.number % 9)
    const isDone = !isToCome(patient, visit)
    const treatments = treatmentKeys(patient, visit)
    yield {
      source_id: visitKey(patient, visit),
      attributes: {
        patient_source_id: String(patient.number),
        provider_name: providerOf(patient.number),
        hygienist_name: null,
        operatory_name: `Op ${1 + (patient.number % 6)}`,
        appointment_type: 'Treatment',
        status: isDone ? 'completed' : 'scheduled',
        status_raw: isDone ? 'Complete' : 'Scheduled',
        // Mountain standard time all the year: seven hours behind.
        starts_at: `${day}T${String(hour + 7).padStart(2, '0')}:00:00.000Z`,
        ends_at: `${day}T${String(hour + 7).padStart(2, '0')}:50:00.000Z`,
        local_starts_at: `${day}T${String(hour).padStart(2, '0')}:00:00`,
        time_zone: 'America/Phoenix',
        duration_minutes: 50,
        is_new_patient: visit === 0,
        is_hygiene: false,
        is_block: false,
        arrived_at: null,
        seated_at: null,
        dismissed_at: null,
        treatment_source_ids: treatments,
        scheduled_production: money(treatments.reduce((sum, _, n) => sum + feeCents(patient, visit, n), 0)),
        note: null,
        created_at: `${day}T${String(hour + 6).padStart(2, '0')}:00:00.000Z`,
        is_hidden: false,
      },
    }
  }
}

export function* treatmentsOf(patient: VolumePatient): Generator<RecordOf<'treatments'>> {
  for (let visit = 0; visit < patient.visits; visit++) {
    const isDone = !isToCome(patient, visit)
    const day = visitDay(patient, visit)
    for (const [n, key] of treatmentKeys(patient, visit).entries()) {
      const { code, description, area } = procedureOf(patient, visit, n)
      yield {
        source_id: key,
        attributes: {
          patient_source_id: String(patient.number),
          provider_name: providerOf(patient.number),
          appointment_source_id: visitKey(patient, visit),
          procedure_code: code,
          description,
          status: isDone ? 'completed' : 'scheduled',
          status_raw: isDone ? 'C' : 'TP',
          area,
          teeth: area === 'tooth' || area === 'surface' ? [String(2 + (patient.number % 30))] : [],
          surfaces: area === 'surface' ? 'MO' : null,
          quantity: 1,
          fee: money(feeCents(patient, visit, n)),
          discount: '0.00',
          insurance_estimate: null,
          patient_estimate: null,
          priority: null,
          planned_on: day,
          completed_on: isDone ? day : null,
          note: null,
          is_hidden: false,
        },
      }
    }
  }
}

/** A charge for every treatment that is done, and a payment for each visit; the last one is still owed. */
export function* ledgerOf(patient: VolumePatient): Generator<RecordOf<'ledger_transactions'>> {
  for (let visit = 0; visit < patient.visits; visit++) {
    if (isToCome(patient, visit)) continue
    const day = visitDay(patient, visit)
    for (const [n, key] of treatmentKeys(patient, visit).entries()) {
      const cents = feeCents(patient, visit, n)
      yield line(patient, `proc:${key}`, day, cents, key, procedureOf(patient, visit, n).code, false)
    }
    const key = treatmentKeys(patient, visit)[0] ?? ''
    const paid = feeCents(patient, visit, 0)
    yield line(patient, `split:${visitKey(patient, visit)}`, day, -paid, key, procedureOf(patient, visit, 0).code, true)
  }
}

export function referralOf(patient: VolumePatient): RecordOf<'patient_referrals'> {
  const friend = patient.number > 3 ? patient.number - 3 : null
  return {
    source_id: String(patient.number),
    attributes: {
      patient_source_id: String(patient.number),
      direction: 'incoming',
      source_type: friend === null ? 'marketing' : 'patient',
      source_name: friend === null ? 'Web search' : `Patient ${friend}`,
      referring_patient_source_id: friend === null ? null : String(friend),
      referring_provider: null,
      campaign: friend === null ? 'Web search' : null,
      attribution_role: 'primary',
      rank: 1,
      referred_on: visitDay(patient, 0),
      status: 'none',
      treatment_source_id: null,
      note: null,
      is_hidden: false,
    },
  }
}

function line(
  patient: VolumePatient,
  key: string,
  day: string,
  cents: number,
  treatmentKey: string,
  code: string,
  isPayment: boolean,
): RecordOf<'ledger_transactions'> {
  const amount = money(cents)
  return {
    source_id: key,
    attributes: {
      transaction_type: isPayment ? 'patient_payment' : 'charge',
      transaction_type_raw: isPayment ? 'Payment' : 'Procedure',
      amount,
      transaction_on: day,
      entered_at: `${day}T18:00:00.000Z`,
      patient_source_id: String(patient.number),
      guarantor_source_id: String(patient.guarantor),
      provider_name: providerOf(patient.number),
      treatment_source_id: treatmentKey,
      procedure_code: code,
      claim_source_id: null,
      insurance_plan_source_id: null,
      payment_method: isPayment ? 'card' : null,
      payment_method_raw: isPayment ? 'Credit card' : null,
      adjustment_type: null,
      reference_number: null,
      description: null,
      allocations: isPayment ? [{ treatment_source_id: treatmentKey, amount }] : [],
      is_hidden: false,
    },
  }
}

function balanceCents(patient: VolumePatient): number {
  let cents = 0
  for (let visit = 0; visit < patient.visits; visit++)
    if (!isToCome(patient, visit)) cents += feeCents(patient, visit, 1)
  return cents
}

function visitKey(patient: VolumePatient, visit: number): string {
  return String((patient.number - 1) * patient.visits + visit + 1)
}

function treatmentKeys(patient: VolumePatient, visit: number): string[] {
  const first = ((patient.number - 1) * patient.visits + visit) * treatmentsPerVisit + 1
  return [String(first), String(first + 1)]
}

/** The last visit of one patient in five lies ahead. */
function isToCome(patient: VolumePatient, visit: number): boolean {
  return visit === patient.visits - 1 && patient.number % 5 === 0
}

function visitDay(patient: VolumePatient, visit: number): string {
  return dayOf(
    isToCome(patient, visit) ? 20_500 + (patient.number % 60) : 19_000 + visit * 180 + (patient.number % 170),
  )
}

function procedureOf(patient: VolumePatient, visit: number, n: number) {
  const procedure = procedures[(patient.number * 7 + visit * 3 + n) % procedures.length]
  if (procedure === undefined) throw new Error('there are no procedures')
  return procedure
}

function feeCents(patient: VolumePatient, visit: number, n: number): number {
  return procedureOf(patient, visit, n).usualCents
}

function providerOf(number: number): string {
  return providers[number % providers.length] ?? providers[0]
}

/** Days since 1970 as a date; the same few thousand days come again and again. */
function dayOf(day: number): string {
  let text = days.get(day)
  if (text === undefined) {
    text = addDays('1970-01-01', day)
    days.set(day, text)
  }
  return text
}

const days = new Map<number, string>()

function money(cents: number): string {
  return (cents / 100).toFixed(2)
}
