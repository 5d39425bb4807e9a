import { Type } from 'typebox'
import { calendarDate, note, nullable, nullableText, oneOf } from '../attribute.ts'
import { defineReferringDataset, reference } from '../referring-dataset.ts'

/** Paging: spec, Pagination rules 2. */
export const patientReferral = defineReferringDataset({
  name: 'patient_referrals',
  type: 'patient_referral',
  title: 'Patient referrals',
  description: 'Who referred a patient to the practice, and to whom the practice referred a patient.',
  notes: ['note'],
  filters: ['patient_id'],
  attributes: {
    patient_id: reference('patients', 'Patient who was referred'),
    direction: oneOf(['incoming', 'outgoing'], 'incoming: to the practice; outgoing: from the practice'),
    source_type: nullable(
      oneOf(['patient', 'provider', 'marketing', 'organization', 'employee', 'other'], 'Type of the source'),
    ),
    source_name: nullableText('Name of the source'),
    referring_patient_id: reference('patients', 'Patient who made the referral'),
    referring_provider: nullable(
      Type.Object(
        {
          name: nullableText('Name'),
          specialty: nullableText('Specialty'),
          npi: nullableText('National provider identifier'),
        },
        {
          additionalProperties: false,
          description: 'Provider who referred the patient, or to whom the patient was referred',
        },
      ),
    ),
    campaign: nullableText('Marketing campaign'),
    attribution_role: nullable(
      oneOf(['primary', 'secondary'], 'primary: the first source of the patient; secondary: a later one'),
    ),
    rank: nullable(
      Type.Integer({ minimum: 0, maximum: 100_000, description: 'Position among the patient’s referrals, from 1' }),
    ),
    referred_on: nullable(calendarDate('Day of the referral')),
    status: nullable(
      oneOf(['none', 'declined', 'scheduled', 'consulted', 'in_treatment', 'completed'], 'Status of the referral'),
    ),
    treatment_id: reference('treatments', 'Treatment that the patient was referred for'),
    note: note('Note'),
  },
  example: {
    patient_source_id: '1002',
    direction: 'incoming',
    source_type: 'patient',
    source_name: 'Robin Example',
    referring_patient_source_id: '1001',
    referring_provider: null,
    campaign: null,
    attribution_role: 'primary',
    rank: 1,
    referred_on: '2025-12-01',
    status: 'none',
    treatment_source_id: null,
    note: null,
    is_hidden: false,
  },
})
