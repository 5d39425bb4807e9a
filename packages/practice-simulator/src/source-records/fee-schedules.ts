import type { RecordOf } from '@bridgework/contract/ingest'
import type { Practice } from '../practice.ts'
import type { Fee, FeeSchedule, RowChange } from '../rows.ts'

/**
 * What Bridgework must know of the fee schedules with these keys at one location: the practice's fees, and where the
 * location has its own for the same code and provider, that one instead, on a global schedule too: see
 * docs/decisions/open-dental-values.md. A fee of a code that is gone is left out.
 */
export function feeScheduleRecords(
  practice: Practice,
  keys: Iterable<string>,
  locationKey: string | null,
): RecordOf<'fee_schedules'>[] {
  const fees = Map.groupBy(practice.fees.values(), (fee) => fee.feeScheduleKey)
  return [...keys].flatMap((key) => {
    const schedule = practice.feeSchedules.get(key)
    return schedule === undefined ? [] : [feeScheduleRecord(practice, schedule, fees.get(key) ?? [], locationKey)]
  })
}

/** Keys of the schedules whose records a change alters. */
export function feeSchedulesAffected(practice: Practice, change: RowChange): string[] {
  switch (change.table) {
    case 'feeSchedules':
      return keysOf(change)
    case 'fees':
      return [change.before, change.after].flatMap((fee) => (fee === null ? [] : [fee.feeScheduleKey]))
    case 'procedureCodes': {
      const codes = keysOf(change)
      return [...practice.fees.values()]
        .filter((fee) => codes.includes(fee.procedureCodeKey))
        .map((fee) => fee.feeScheduleKey)
    }
    default:
      return []
  }
}

function keysOf({ before, after }: RowChange): string[] {
  return [before, after].flatMap((row) => (row === null ? [] : [row.key]))
}

function feeScheduleRecord(
  practice: Practice,
  schedule: FeeSchedule,
  fees: readonly Fee[],
  locationKey: string | null,
): RecordOf<'fee_schedules'> {
  const inForce = new Map<string, Fee>()
  for (const fee of fees) if (fee.locationKey === null) inForce.set(purpose(fee), fee)
  if (locationKey !== null) {
    for (const fee of fees) if (fee.locationKey === locationKey) inForce.set(purpose(fee), fee)
  }
  const lines = [...inForce.values()].flatMap((fee) => {
    const code = practice.procedureCodes.get(fee.procedureCodeKey)?.code
    if (code === undefined) return []
    const amount = fee.amountCents === null ? null : (fee.amountCents / 100).toFixed(2)
    return [{ procedure_code: code, amount, provider_source_id: fee.providerKey, effective_on: null }]
  })
  const order = (line: (typeof lines)[number]) => `${line.procedure_code}\u0000${line.provider_source_id ?? ''}`
  return {
    source_id: schedule.key,
    attributes: {
      name: schedule.name.trim(),
      schedule_type: schedule.type,
      is_global: schedule.isGlobal,
      is_hidden: schedule.isHidden,
      fees: lines.sort((left, right) => (order(left) < order(right) ? -1 : 1)),
    },
  }
}

function purpose(fee: Fee): string {
  return `${fee.procedureCodeKey}/${fee.providerKey ?? ''}`
}
