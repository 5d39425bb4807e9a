import type { Rows, TableName, Tables } from './rows.ts'

/** By what rows of a table are looked up. Null: not found that way. */
const lookups = {
  operatories: { provider: (row: Rows['operatories']) => row.providerKey },
  patients: { guarantor: (row: Rows['patients']) => row.guarantorKey },
  patientLinks: {
    from: (row: Rows['patientLinks']) => row.fromKey,
    to: (row: Rows['patientLinks']) => row.toKey,
  },
  subscriptions: {
    plan: (row: Rows['subscriptions']) => row.planKey,
    subscriber: (row: Rows['subscriptions']) => row.subscriberKey,
  },
  coverages: {
    patient: (row: Rows['coverages']) => row.patientKey,
    subscription: (row: Rows['coverages']) => row.subscriptionKey,
  },
  appointments: {
    patient: (row: Rows['appointments']) => row.patientKey,
    /** `<provider or hygienist>/<day>` of what takes their time. */
    day: (row: Rows['appointments']) =>
      row.startsAt !== null && ['scheduled', 'complete', 'note', 'note_complete'].includes(row.status)
        ? `${workerOf(row)}/${row.startsAt.slice(0, 10)}`
        : null,
    status: (row: Rows['appointments']) => (row.status === 'complete' ? null : row.status),
  },
  treatments: {
    patient: (row: Rows['treatments']) => row.patientKey,
    appointment: (row: Rows['treatments']) => row.appointmentKey,
    plannedAppointment: (row: Rows['treatments']) => row.plannedAppointmentKey,
    status: (row: Rows['treatments']) => (row.status === 'complete' ? null : row.status),
  },
  claims: {
    patient: (row: Rows['claims']) => row.patientKey,
    plan: (row: Rows['claims']) => row.planKey,
    subscription: (row: Rows['claims']) => row.subscriptionKey,
    status: (row: Rows['claims']) => (row.status === 'sent' ? 'sent' : null),
  },
  claimLines: {
    patient: (row: Rows['claimLines']) => row.patientKey,
    plan: (row: Rows['claimLines']) => row.planKey,
    subscription: (row: Rows['claimLines']) => row.subscriptionKey,
    treatment: (row: Rows['claimLines']) => row.treatmentKey,
    claim: (row: Rows['claimLines']) => row.claimKey,
    claimPayment: (row: Rows['claimLines']) => row.claimPaymentKey,
  },
  payments: { patient: (row: Rows['payments']) => row.patientKey },
  splits: {
    patient: (row: Rows['splits']) => row.patientKey,
    payment: (row: Rows['splits']) => row.paymentKey,
    treatment: (row: Rows['splits']) => row.treatmentKey,
    paymentPlan: (row: Rows['splits']) => row.paymentPlanKey,
  },
  adjustments: {
    patient: (row: Rows['adjustments']) => row.patientKey,
    treatment: (row: Rows['adjustments']) => row.treatmentKey,
  },
  paymentPlans: {
    patient: (row: Rows['paymentPlans']) => row.patientKey,
    guarantor: (row: Rows['paymentPlans']) => row.guarantorKey,
  },
  planCharges: {
    patient: (row: Rows['planCharges']) => row.patientKey,
    guarantor: (row: Rows['planCharges']) => row.guarantorKey,
    treatment: (row: Rows['planCharges']) => row.treatmentKey,
    paymentPlan: (row: Rows['planCharges']) => row.paymentPlanKey,
    day: (row: Rows['planCharges']) => row.chargeOn,
  },
  referralSources: { patient: (row: Rows['referralSources']) => row.patientKey },
  referrals: {
    patient: (row: Rows['referrals']) => row.patientKey,
    source: (row: Rows['referrals']) => row.sourceKey,
    treatment: (row: Rows['referrals']) => row.treatmentKey,
  },
} as const satisfies { [T in TableName]?: Record<string, (row: Rows[T]) => string | null> }

type Indexed = keyof typeof lookups
type By<T extends Indexed> = keyof (typeof lookups)[T] & string

export type Indexes = Map<string, Map<string, Set<string>>>

/** Whose time an appointment takes: the hygienist's for a hygiene visit, else the dentist's. */
export function workerOf(row: { isHygiene: boolean; hygienistKey: string | null; providerKey: string }): string {
  return row.isHygiene ? (row.hygienistKey ?? row.providerKey) : row.providerKey
}

/** The rows with this value, by ascending key: the order does not tell how the practice came to be as it is. */
export function related<T extends Indexed>(
  practice: Tables & { readonly indexes: Indexes },
  table: T,
  by: By<T>,
  value: string | null,
): Rows[T][] {
  if (value === null) return []
  const keys = practice.indexes.get(`${table}.${by}`)?.get(value)
  if (keys === undefined) return []
  // The union of maps forgets which table's rows a map holds.
  const rows = practice[table] as unknown as ReadonlyMap<string, Rows[T]>
  return [...keys].sort(keyOrder).flatMap((key) => rows.get(key) ?? [])
}

/** Keeps the indexes in step with one row's change. */
export function reindex(
  indexes: Indexes,
  table: TableName,
  before: Rows[TableName] | null,
  after: Rows[TableName] | null,
): void {
  // Every function here takes rows of its table, which a change's rows are.
  const functions = (lookups as { [name: string]: Record<string, (row: never) => string | null> })[table]
  if (functions === undefined) return
  for (const [by, read] of Object.entries(functions)) {
    const name = `${table}.${by}`
    let index = indexes.get(name)
    if (index === undefined) {
      index = new Map()
      indexes.set(name, index)
    }
    const was = before === null ? null : read(before as never)
    const is = after === null ? null : read(after as never)
    if (was !== null && before !== null && (was !== is || before.key !== after?.key)) {
      const keys = index.get(was)
      keys?.delete(before.key)
      if (keys?.size === 0) index.delete(was)
    }
    if (is !== null && after !== null) {
      const keys = index.get(is)
      if (keys === undefined) index.set(is, new Set([after.key]))
      else keys.add(after.key)
    }
  }
}

/** Keys are whole numbers of up to 63 bits: compared as such, not as text. */
export function keyOrder(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : left === right ? 0 : 1)
}
