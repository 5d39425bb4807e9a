export type Claim = {
  readonly key: string
  readonly patientKey: string
  readonly locationKey: string | null
  readonly providerKey: string
  readonly planKey: string
  readonly subscriptionKey: string
  readonly status: 'sent' | 'received'
  readonly servedOn: string
  readonly sentOn: string
  readonly receivedOn: string | null
}

/** Statuses of a claim's line with Open Dental's numbers. */
export const claimLineStatuses = { sent: 0, received: 1, supplemental: 4, estimate: 6 } as const

/** What insurance is expected to pay for a treatment, or has paid: one row through its whole life. */
export type ClaimLine = {
  readonly key: string
  readonly treatmentKey: string | null
  readonly claimKey: string | null
  readonly claimPaymentKey: string | null
  readonly patientKey: string
  readonly providerKey: string
  readonly locationKey: string | null
  readonly planKey: string
  readonly subscriptionKey: string
  readonly status: keyof typeof claimLineStatuses
  readonly feeCents: number
  readonly estimateCents: number
  readonly writeOffEstimateCents: number
  readonly paidCents: number
  readonly writeOffCents: number
  /** Day on which payment and write-off count, or of the treatment while they are awaited. */
  readonly on: string
}

export type ClaimPayment = {
  readonly key: string
  readonly paidOn: string
  readonly amountCents: number
  readonly checkNumber: string
  readonly carrierName: string
  readonly locationKey: string | null
}

export type Payment = {
  readonly key: string
  readonly patientKey: string
  readonly locationKey: string | null
  /** Null for a transfer of income, whose splits add up to nothing. */
  readonly typeKey: string | null
  readonly paidOn: string
  readonly amountCents: number
  readonly checkNumber: string
}

/** Part of a payment. Only splits move balances. */
export type Split = {
  readonly key: string
  readonly paymentKey: string
  readonly patientKey: string
  readonly providerKey: string
  readonly locationKey: string | null
  readonly treatmentKey: string | null
  readonly paymentPlanKey: string | null
  readonly unearnedTypeKey: string | null
  readonly amountCents: number
  readonly paidOn: string
}

export type Adjustment = {
  readonly key: string
  readonly patientKey: string
  readonly locationKey: string | null
  readonly providerKey: string
  readonly treatmentKey: string | null
  readonly typeKey: string
  /** Signed: + raises what is owed. */
  readonly amountCents: number
  readonly adjustedOn: string
}

export type PaymentPlan = {
  readonly key: string
  readonly patientKey: string
  readonly guarantorKey: string
  readonly startsOn: string
  readonly principalCents: number
}

/** A debit falls due on its day, with no change of the row; the credits take the debt off the account when the plan begins. */
export type PlanCharge = {
  readonly key: string
  readonly paymentPlanKey: string
  readonly patientKey: string
  readonly guarantorKey: string
  readonly locationKey: string | null
  readonly providerKey: string
  readonly treatmentKey: string | null
  readonly kind: 'debit' | 'credit'
  readonly chargeOn: string
  readonly principalCents: number
  readonly interestCents: number
}
