/** Statuses of a patient in the order of Open Dental's numbers. */
export const patientStatuses = [
  'patient',
  'non_patient',
  'inactive',
  'archived',
  'deleted',
  'deceased',
  'prospective',
] as const
export type PatientStatus = (typeof patientStatuses)[number]

export const genders = ['male', 'female', 'unknown', 'other'] as const

export type Provider = {
  readonly key: string
  readonly abbreviation: string
  readonly firstName: string
  readonly lastName: string
  readonly isHygienist: boolean
  /** Where the provider works; null when the practice has no locations. */
  readonly locationKey: string | null
  /** Monday is 1. */
  readonly weekdays: readonly number[]
  /** Minutes after midnight, on the location's wall clock. */
  readonly fromMinute: number
  readonly toMinute: number
}

/** A room or chair, used by one provider alone: so nobody and nothing is booked twice. */
export type Operatory = {
  readonly key: string
  readonly locationKey: string | null
  readonly providerKey: string
  readonly name: string
}

export const definitionCategories = [
  'adjustment_type',
  'confirmation',
  'billing_type',
  'payment_type',
  'priority',
  'unearned_type',
  'specialty',
] as const

/** A word of the practice's own: a type of payment, a billing type … */
export type Definition = {
  readonly key: string
  readonly category: (typeof definitionCategories)[number]
  readonly name: string
  /** What the software makes of it: for unearned types, not empty means that it does not touch the balance. */
  readonly value: string
}

export type Patient = {
  readonly key: string
  /** Where the patient is registered; null is the practice as a whole. */
  readonly locationKey: string | null
  readonly title: string
  readonly firstName: string
  readonly middleName: string
  readonly lastName: string
  readonly preferredName: string
  readonly bornOn: string | null
  readonly gender: (typeof genders)[number]
  readonly status: PatientStatus
  readonly guarantorKey: string
  readonly addressLine1: string
  readonly addressLine2: string
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly homePhone: string
  readonly workPhone: string
  readonly mobilePhone: string
  readonly email: string
  readonly chartNumber: string
  readonly providerKey: string | null
  readonly billingTypeKey: string | null
  readonly language: string
  readonly contactMethod: 'phone' | 'sms' | 'email' | 'mail' | null
  readonly firstVisitOn: string | null
  readonly feeScheduleKey: string | null
  /** What the software last counted; it does so whenever somebody opens the account. */
  readonly balanceCents: number
  readonly insuranceEstimateCents: number
}

/** Two patients who are one person. `merge`: the first was merged into the second. */
export type PatientLink = {
  readonly key: string
  readonly fromKey: string
  readonly toKey: string
  readonly kind: 'merge' | 'clone'
  readonly linkedAt: string
}

export type Subscription = {
  readonly key: string
  readonly planKey: string
  readonly subscriberKey: string
  readonly memberId: string
  readonly effectiveOn: string
  /** Last day of the cover. */
  readonly endsOn: string | null
}

export type Coverage = {
  readonly key: string
  readonly patientKey: string
  readonly subscriptionKey: string
  /** 1 is the primary plan. */
  readonly ordinal: number
  readonly relationship: 'self' | 'spouse' | 'child'
}

export type ReferralSource = {
  readonly key: string
  readonly kind: 'patient' | 'provider' | 'marketing' | 'person'
  readonly firstName: string
  readonly lastName: string
  readonly patientKey: string | null
  readonly npi: string
  readonly specialtyKey: string | null
}

export const referralOutcomes = ['none', 'declined', 'scheduled', 'consulted', 'in_treatment', 'completed'] as const

export type Referral = {
  readonly key: string
  readonly sourceKey: string
  readonly patientKey: string
  readonly direction: 'outgoing' | 'incoming'
  readonly rank: number
  readonly referredOn: string
  readonly outcome: (typeof referralOutcomes)[number]
  readonly treatmentKey: string | null
  readonly note: string
}
