import type { RecordOf } from '@bridgework/contract/ingest'
import { related } from '../indexes.ts'
import type { Practice } from '../practice.ts'
import type { Referral } from '../rows/people.ts'
import type { RowChange } from '../rows.ts'
import type { View } from '../view.ts'
import { textOrNull, wordName } from './format.ts'
import { both } from './patients.ts'

export function patientReferralRecord(
  practice: Practice,
  view: View,
  referral: Referral,
): RecordOf<'patient_referrals'> {
  const source = practice.referralSources.get(referral.sourceKey)
  const name = source === undefined ? null : textOrNull(`${source.firstName} ${source.lastName}`)
  const specialty = wordName(practice, source?.specialtyKey ?? null)
  return {
    source_id: referral.key,
    attributes: {
      patient_source_id: referral.patientKey,
      direction: referral.direction,
      source_type: source === undefined ? null : typeOf(source.kind, referral.direction),
      source_name: name,
      referring_patient_source_id: source?.patientKey ?? null,
      referring_provider: source?.kind === 'provider' ? { name, specialty, npi: textOrNull(source.npi) } : null,
      campaign: view.knowsMore && source?.kind === 'marketing' ? name : null,
      attribution_role: roleOf(practice, referral),
      rank: referral.rank,
      referred_on: referral.referredOn,
      status: referral.outcome,
      treatment_source_id: referral.treatmentKey,
      note: textOrNull(referral.note),
      is_hidden: false,
    },
  }
}

/** Keys of the referrals whose record, or whose place, a change may alter. */
export function patientReferralsAffected(practice: Practice, change: RowChange): string[] {
  switch (change.table) {
    case 'referrals':
      // Which one is the first may change with any of a patient's.
      return both(change).flatMap((row) => [
        row.key,
        ...related(practice, 'referrals', 'patient', row.patientKey).map((other) => other.key),
      ])
    case 'referralSources':
      return both(change).flatMap((row) => related(practice, 'referrals', 'source', row.key).map((each) => each.key))
    case 'patients':
      if (change.before?.locationKey === change.after?.locationKey) return []
      return both(change).flatMap((row) => related(practice, 'referrals', 'patient', row.key).map((each) => each.key))
    case 'definitions':
      return [...practice.referralSources.values()]
        .filter((source) => both(change).some((row) => row.key === source.specialtyKey))
        .flatMap((source) => related(practice, 'referrals', 'source', source.key).map((each) => each.key))
    default:
      return []
  }
}

function typeOf(kind: 'patient' | 'provider' | 'marketing' | 'person', direction: Referral['direction']): string {
  if (kind === 'person') return 'other'
  return kind === 'marketing' && direction === 'outgoing' ? 'organization' : kind
}

function roleOf(practice: Practice, referral: Referral): string | null {
  if (referral.direction === 'outgoing') return null
  const first = related(practice, 'referrals', 'patient', referral.patientKey)
    .filter((other) => other.direction === 'incoming')
    .reduce((lowest, other) => (other.rank < lowest.rank ? other : lowest), referral)
  return first.key === referral.key ? 'primary' : 'secondary'
}
