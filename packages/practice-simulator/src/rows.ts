import type { Appointment, AppointmentType, ProcedureCode, Treatment } from './rows/care.ts'
import type {
  Adjustment,
  Claim,
  ClaimLine,
  ClaimPayment,
  Payment,
  PaymentPlan,
  PlanCharge,
  Split,
} from './rows/money.ts'
import type {
  Coverage,
  Definition,
  Operatory,
  Patient,
  PatientLink,
  Provider,
  Referral,
  ReferralSource,
  Subscription,
} from './rows/people.ts'

/** The practice as a whole. Its postal address is that of its headquarters. */
export type Organization = {
  readonly name: string
  readonly addressLine1: string
  readonly addressLine2: string
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly phone: string
  readonly timeZone: string
  readonly softwareVersion: string
}

export type Location = {
  readonly key: string
  readonly name: string
  readonly abbreviation: string
  readonly addressLine1: string
  readonly addressLine2: string
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly phone: string
  readonly timeZone: string
  readonly isActive: boolean
}

export type Employer = { readonly key: string; readonly name: string }
export type Carrier = {
  readonly key: string
  readonly name: string
  readonly payerId: string
  readonly isHidden: boolean
}

export const scheduleTypes = ['standard', 'copay', 'out_of_network', 'fixed_benefit', 'other'] as const
export type ScheduleType = (typeof scheduleTypes)[number]

export type FeeSchedule = {
  readonly key: string
  /** Null when the whole practice uses it. */
  readonly locationKey: string | null
  readonly name: string
  readonly type: ScheduleType
  readonly isGlobal: boolean
  readonly isHidden: boolean
}

export type Fee = {
  readonly key: string
  readonly feeScheduleKey: string
  readonly procedureCodeKey: string
  /** A location's own fee, which there replaces the practice's for the same code and provider. */
  readonly locationKey: string | null
  readonly providerKey: string | null
  /** Null when left blank. */
  readonly amountCents: number | null
}

export const planTypes = ['percentage', 'ppo', 'flat_copay', 'capitation'] as const

export type InsurancePlan = {
  readonly key: string
  /** Null when the whole practice uses it. */
  readonly locationKey: string | null
  /** As typed into the software: may be empty or blanks. */
  readonly groupName: string
  readonly groupNumber: string
  /** A key that names nothing is possible, as in real databases. */
  readonly carrierKey: string | null
  readonly employerKey: string | null
  readonly feeScheduleKey: string | null
  /** Null for an unknown letter. */
  readonly planType: (typeof planTypes)[number] | null
  /** Month 1–12; anything else stands for none. */
  readonly renewalMonth: number
  readonly isMedical: boolean
  readonly isHidden: boolean
}

/** What time it is in the practice: wall time of its headquarters. One row, so that time passing is a change like any other. */
type Clock = { readonly key: string; readonly now: string }

/** Every kind of row that a practice has. A later dataset adds its rows here, its filling in, and its record. */
export type Rows = {
  readonly locations: Location
  readonly providers: Provider
  readonly employers: Employer
  readonly carriers: Carrier
  readonly procedureCodes: ProcedureCode
  readonly feeSchedules: FeeSchedule
  readonly fees: Fee
  readonly insurancePlans: InsurancePlan
  readonly operatories: Operatory
  readonly definitions: Definition
  readonly appointmentTypes: AppointmentType
  readonly patients: Patient
  readonly patientLinks: PatientLink
  readonly subscriptions: Subscription
  readonly coverages: Coverage
  readonly appointments: Appointment
  readonly treatments: Treatment
  readonly claims: Claim
  readonly claimPayments: ClaimPayment
  readonly claimLines: ClaimLine
  readonly payments: Payment
  readonly paymentPlans: PaymentPlan
  readonly splits: Split
  readonly adjustments: Adjustment
  readonly planCharges: PlanCharge
  readonly referralSources: ReferralSource
  readonly referrals: Referral
  readonly clock: Clock
}

export type TableName = keyof Rows
export type Tables = { readonly [T in TableName]: Map<string, Rows[T]> }

/** One row before and after. Null before: added; null after: removed. */
export type RowChange = {
  [T in TableName]: { readonly table: T; readonly before: Rows[T] | null; readonly after: Rows[T] | null }
}[TableName]

export const tableNames = [
  'locations',
  'providers',
  'employers',
  'carriers',
  'procedureCodes',
  'feeSchedules',
  'fees',
  'insurancePlans',
  'operatories',
  'definitions',
  'appointmentTypes',
  'patients',
  'patientLinks',
  'subscriptions',
  'coverages',
  'appointments',
  'treatments',
  'claims',
  'claimPayments',
  'claimLines',
  'payments',
  'paymentPlans',
  'splits',
  'adjustments',
  'planCharges',
  'referralSources',
  'referrals',
  'clock',
] as const satisfies readonly TableName[]

/** The change of one row, or its arrival or removal. */
export function rowChange<T extends TableName>(table: T, before: Rows[T] | null, after: Rows[T] | null): RowChange {
  // Table and rows belong together by the parameters' types; a union of such pairs cannot be built generically.
  return { table, before, after } as RowChange
}
