// Made from the contract by scripts/generate.ts. Do not edit: a test compares it.
// biome-ignore-all format: it stays as the generator wrote it, so that the two can be compared

/** Fee schedules: attributes of a record. The price lists of a practice, and those that insurance plans pay by. */
export type FeeScheduleAttributes = {
  /** Name of the schedule; empty when the practice management system has none */
  name: string
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** What the amounts of this schedule stand for */
  schedule_type: 'standard' | 'copay' | 'out_of_network' | 'fixed_benefit' | 'other'
  /** True when the schedule applies at every location of the organization */
  is_global: boolean
  /** Number of fees; the single record lists them */
  fees_count: number
  /** The practice management system's own key */
  source_id: string
  /** When what vendors receive of this record last changed */
  updated_at: string
}

/** A single fee_schedule, as `get` gives it. */
export type FeeScheduleDetail = FeeScheduleAttributes & {
  /** The fees of this schedule */
  fees: Array<{
    /** Procedure code, as stored */
    procedure_code: string
    /** Fee in the location’s currency; null when left blank */
    amount: string | null
    /** Provider for whom alone the fee holds */
    provider_source_id: string | null
    /** First day on which the fee holds */
    effective_on: string | null
  }>
}

/** Insurance plans: attributes of a record. The insurance plans that a practice knows, each with the fee schedule that it pays by. */
export type InsurancePlanAttributes = {
  /** Name of the plan; empty when the practice management system has none */
  plan_name: string
  /** Group number */
  group_number: string | null
  /** Name of the plan’s insurance carrier; null when the plan has no carrier */
  carrier_name: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  fee_schedule: {
    /** The fee schedule; null when the plan has none */
    data: {
      /** Identifier of the fee schedule */
      id: string
      type: 'fee_schedule'
      attributes: {
        /** Name of the schedule */
        name: string
        /** True when the fee schedule has been removed in the practice management system */
        is_hidden: boolean
      }
    } | null
  }
  /** Electronic payer id of the carrier */
  payer_id: string | null
  /** Employer through whom the plan is held */
  employer_name: string | null
  /** How the plan pays */
  plan_type: 'percentage' | 'ppo' | 'flat_copay' | 'capitation' | null
  /** Month in which the benefits start anew, 1–12 */
  renewal_month: number | null
  /** The practice management system's own key */
  source_id: string
  /** When what vendors receive of this record last changed */
  updated_at: string
}

/** A single insurance_plan, as `get` gives it. */
export type InsurancePlanDetail = InsurancePlanAttributes

/** Patients: attributes of a record. The people that a practice treats, guarantors included. A patient is listed under the location where they are registered and under every location that holds a record referring to them, each listing with its own id and the same source_id. */
export type PatientAttributes = {
  /** First name */
  first_name: string | null
  /** Middle name or initial */
  middle_name: string | null
  /** Last name */
  last_name: string | null
  /** Name that the patient goes by */
  preferred_name: string | null
  /** Date of birth */
  date_of_birth: string | null
  /** Gender as recorded */
  gender: 'male' | 'female' | 'other' | 'unknown' | null
  /** What the patient is to the practice */
  status: 'active' | 'inactive' | 'prospect' | 'non_patient' | 'archived' | 'deceased' | 'merged'
  /** The status in the practice management system’s own words */
  status_raw: string | null
  /** E-mail address */
  email: string | null
  /** Mobile phone number, as stored */
  mobile_phone: string | null
  /** Home phone number, as stored */
  home_phone: string | null
  /** Work phone number, as stored */
  work_phone: string | null
  /** Street address */
  address_line_1: string | null
  /** Second line of the address */
  address_line_2: string | null
  /** City */
  city: string | null
  /** State or province */
  state: string | null
  /** Postal code */
  postal_code: string | null
  /** Country, as stored */
  country: string | null
  /** Chart number */
  chart_number: string | null
  /** Patient who answers for this one’s bills; may be the same patient */
  guarantor_id: string | null
  /** Provider who usually treats the patient */
  primary_provider_name: string | null
  /** Billing type, in the practice’s own words */
  billing_type: string | null
  /** Preferred language */
  preferred_language: string | null
  /** Preferred way to be contacted */
  preferred_contact_method: 'phone' | 'sms' | 'email' | 'mail' | null
  /** First visit */
  first_visit_on: string | null
  /** Fee schedule of this patient alone */
  fee_schedule_id: string | null
  /** Primary insurance plan */
  primary_insurance_plan_id: string | null
  /** Secondary insurance plan */
  secondary_insurance_plan_id: string | null
  /** Balance as the practice management system last counted it */
  balance: {
    /** What is owed, by the practice management system’s own count */
    total: string | null
    /** What insurance is expected to pay of it */
    insurance_estimate: string | null
    /** When it was counted */
    as_of: string | null
  } | null
  /** Patient that this one was merged into */
  merged_into_id: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** The practice management system's own key */
  source_id: string
  /** When what vendors receive of this record last changed */
  updated_at: string
}

/** A single patient, as `get` gives it. */
export type PatientDetail = PatientAttributes

/** Appointments: attributes of a record. Visits: booked, planned, kept, missed and cancelled, and blocks of time without a patient. */
export type AppointmentAttributes = {
  /** Patient; null for a block of time */
  patient_id: string | null
  /** Provider */
  provider_name: string | null
  /** Hygienist */
  hygienist_name: string | null
  /** Operatory: the room or chair */
  operatory_name: string | null
  /** Type, in the practice’s own words */
  appointment_type: string | null
  /** Where the visit stands */
  status: 'scheduled' | 'confirmed' | 'arrived' | 'in_chair' | 'completed' | 'no_show' | 'broken' | 'cancelled' | 'planned' | 'unscheduled'
  /** The status in the practice management system’s own words */
  status_raw: string | null
  /** When it starts; null when it has no date */
  starts_at: string | null
  /** When it ends */
  ends_at: string | null
  /** When it starts, on the location’s wall clock */
  local_starts_at: string | null
  /** IANA time zone of local_starts_at */
  time_zone: string | null
  /** Length in minutes */
  duration_minutes: number | null
  /** True when it is the patient’s first visit */
  is_new_patient: boolean
  /** True when it is a hygiene visit */
  is_hygiene: boolean
  /** True for a block of time or a note without treatment */
  is_block: boolean
  /** When the patient arrived */
  arrived_at: string | null
  /** When the patient was seated */
  seated_at: string | null
  /** When the patient was dismissed */
  dismissed_at: string | null
  /** Treatments that the visit is for */
  treatment_ids: Array<string>
  /** Sum of the fees of its treatments */
  scheduled_production: string | null
  /** Note */
  note: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** The practice management system's own key */
  source_id: string
  /** When what vendors receive of this record last changed */
  updated_at: string
}

/** A single appointment, as `get` gives it. */
export type AppointmentDetail = AppointmentAttributes

/** Treatments: attributes of a record. Procedures: planned, scheduled, completed, done elsewhere, referred out, and conditions found. */
export type TreatmentAttributes = {
  /** Patient */
  patient_id: string | null
  /** Provider */
  provider_name: string | null
  /** Visit that it belongs to */
  appointment_id: string | null
  /** Procedure code, as stored */
  procedure_code: string | null
  /** Description */
  description: string | null
  /** Where the treatment stands */
  status: 'planned' | 'scheduled' | 'completed' | 'existing' | 'referred_out' | 'condition' | 'inactive'
  /** The status in the practice management system’s own words */
  status_raw: string | null
  /** What part of the mouth it is for */
  area: 'tooth' | 'surface' | 'quadrant' | 'arch' | 'sextant' | 'mouth' | 'range' | null
  /** Teeth that it is for */
  teeth: Array<string>
  /** Surfaces, quadrant or arch, as stored */
  surfaces: string | null
  /** Number of units */
  quantity: number
  /** Fee for all units */
  fee: string | null
  /** Discount on the fee */
  discount: string | null
  /** What insurance is expected to pay */
  insurance_estimate: string | null
  /** What is left to the patient */
  patient_estimate: string | null
  /** Priority in the treatment plan */
  priority: string | null
  /** When it was planned */
  planned_on: string | null
  /** When it was completed */
  completed_on: string | null
  /** Note */
  note: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** The practice management system's own key */
  source_id: string
  /** When what vendors receive of this record last changed */
  updated_at: string
}

/** A single treatment, as `get` gives it. */
export type TreatmentDetail = TreatmentAttributes

/** Ledger transactions: attributes of a record. What raises and lowers what a guarantor owes. Over all locations of the organization, by the guarantor’s source_id, the amounts of the visible transactions add up to the balance. */
export type LedgerTransactionAttributes = {
  /** Kind of the transaction */
  transaction_type: 'charge' | 'patient_payment' | 'insurance_payment' | 'adjustment' | 'write_off' | 'refund' | 'transfer' | 'payment_plan'
  /** The kind in the practice management system’s own words */
  transaction_type_raw: string | null
  /** Signed: positive raises what is owed, negative lowers it */
  amount: string
  /** Day on which it counts */
  transaction_on: string | null
  /** When it was entered */
  entered_at: string | null
  /** Patient */
  patient_id: string | null
  /** Patient whose account it is on */
  guarantor_id: string | null
  /** Provider */
  provider_name: string | null
  /** Treatment that it is for */
  treatment_id: string | null
  /** Procedure code of that treatment */
  procedure_code: string | null
  /** The practice management system’s own key of the claim */
  claim_source_id: string | null
  /** Plan that paid or wrote off */
  insurance_plan_id: string | null
  /** How it was paid */
  payment_method: 'cash' | 'check' | 'card' | 'ach' | 'financing' | 'insurance' | 'other' | null
  /** The method in the practice’s own words */
  payment_method_raw: string | null
  /** Type of the adjustment, in the practice’s own words */
  adjustment_type: string | null
  /** Number of the check or of the transfer */
  reference_number: string | null
  /** Description */
  description: string | null
  /** How the amount is spread over treatments */
  allocations: Array<{
    /** Identifier of a record */
    treatment_id: string | null
    /** Amount on that treatment */
    amount: string
  }>
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** The practice management system's own key */
  source_id: string
  /** When what vendors receive of this record last changed */
  updated_at: string
}

/** A single ledger_transaction, as `get` gives it. */
export type LedgerTransactionDetail = LedgerTransactionAttributes

/** Patient referrals: attributes of a record. Who sent a patient to the practice, and whom the practice sent a patient to. */
export type PatientReferralAttributes = {
  /** Patient who was referred */
  patient_id: string | null
  /** To the practice, or from it */
  direction: 'incoming' | 'outgoing'
  /** What kind of source it is */
  source_type: 'patient' | 'provider' | 'marketing' | 'organization' | 'employee' | 'other' | null
  /** Name of the source */
  source_name: string | null
  /** Patient who referred */
  referring_patient_id: string | null
  /** Provider who referred, or was referred to */
  referring_provider: {
    /** Name */
    name: string | null
    /** Specialty */
    specialty: string | null
    /** National provider identifier */
    npi: string | null
  } | null
  /** Marketing campaign */
  campaign: string | null
  /** Whether it is the patient’s first source */
  attribution_role: 'primary' | 'secondary' | null
  /** Place among the patient’s referrals, from 1 */
  rank: number | null
  /** Day of the referral */
  referred_on: string | null
  /** What came of it */
  status: 'none' | 'declined' | 'scheduled' | 'consulted' | 'in_treatment' | 'completed' | null
  /** Treatment that the patient was referred for */
  treatment_id: string | null
  /** Note */
  note: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** The practice management system's own key */
  source_id: string
  /** When what vendors receive of this record last changed */
  updated_at: string
}

/** A single patient_referral, as `get` gives it. */
export type PatientReferralDetail = PatientReferralAttributes

/** A dental practice at one address. */
export type LocationAttributes = {
  /** Name of the location */
  name: string
  /** Organization that it belongs to */
  organization_id: string
  /** Street address */
  address_line_1: string | null
  /** Second line of the address */
  address_line_2: string | null
  /** City */
  city: string | null
  /** State or province */
  state: string | null
  /** Postal code */
  postal_code: string | null
  /** ISO 3166-1 alpha-2 country code */
  country: string | null
  /** Telephone number */
  phone: string | null
  /** E-mail address */
  email: string | null
  /** Website */
  website_url: string | null
  /** IANA time zone */
  time_zone: string | null
  /** ISO 4217 currency code */
  currency: string | null
  /** False when the practice closed the location */
  is_active: boolean
  practice_management_system: {
    /** Name of the practice management system */
    name: string | null
    /** Its version */
    version: string | null
  }
  attribution_script: {
    /** True when the practice’s website carries the attribution script: it was seen there within 30 days */
    is_installed: boolean
    /** Since when it has been there without a break of 30 days; null when it is not installed */
    installed_at: string | null
    /** When it was last seen on the practice’s website */
    last_seen_at: string | null
  }
  sync: {
    /** pending: the first sync has not finished; current: read to the end within the last 15 minutes of the location’s office hours; stale: not so, but its agent reports; disconnected: no agent reports any more */
    state: 'current' | 'stale' | 'disconnected' | 'pending'
    /** When all granted datasets had been read once */
    initial_sync_completed_at: string | null
    /** When the practice management system was last read to the end */
    synced_at: string | null
  }
  /** Datasets that this credential may read here */
  datasets_granted: Array<string>
  /** When the location was made known to the service */
  created_at: string
  /** When one of these attributes last changed */
  updated_at: string
}

/** A practice owner. */
export type OrganizationAttributes = {
  /** Name of the organization */
  name: string
  /** The operator’s own reference */
  external_reference: string | null
  /** IANA time zone */
  time_zone: string | null
  /** ISO 3166-1 alpha-2 country code */
  country: string | null
  /** Number of its locations that this credential may read */
  locations_count: number
  /** Datasets that this credential may read here */
  datasets_granted: Array<string>
  /** When it first granted access that still holds */
  granted_at: string
  /** When the organization was made known to the service */
  created_at: string
  /** When one of these attributes last changed */
  updated_at: string
}

/** Codes of the errors that the service answers with. */
export type ServiceErrorCode =
  | 'body_malformed'
  | 'request_malformed'
  | 'route_unknown'
  | 'organization_unknown'
  | 'location_unknown'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'body_too_large'
  | 'uri_too_long'
  | 'content_type_unsupported'
  | 'content_encoding_unsupported'
  | 'parameter_invalid'
  | 'field_invalid'
  | 'headers_too_large'
  | 'internal'
  | 'unavailable'
  | 'token_required'
  | 'token_invalid'
  | 'credentials_invalid'
  | 'location_denied'
  | 'organization_denied'
  | 'dataset_denied'
  | 'agreement_required'
  | 'record_unknown'
  | 'preview_off'
  | 'credentials_malformed'
  | 'token_requests_exceeded'
  | 'sync_slots_exceeded'
  | 'disclosure_unavailable'

/** Every dataset of a location, in an order in which what others refer to comes first. */
export const datasets = {
  fee_schedules: {
    type: 'fee_schedule',
    pagination: 'page',
    filters: [],
    attributes: {
      name: 'string',
      is_hidden: 'boolean',
      schedule_type: 'string',
      is_global: 'boolean',
      fees_count: 'integer',
      source_id: 'string',
      updated_at: 'instant',
    },
  },
  insurance_plans: {
    type: 'insurance_plan',
    pagination: 'cursor',
    filters: [],
    attributes: {
      plan_name: 'string',
      group_number: 'string',
      carrier_name: 'string',
      is_hidden: 'boolean',
      fee_schedule: 'json',
      payer_id: 'string',
      employer_name: 'string',
      plan_type: 'string',
      renewal_month: 'integer',
      source_id: 'string',
      updated_at: 'instant',
    },
  },
  patients: {
    type: 'patient',
    pagination: 'cursor',
    filters: [],
    attributes: {
      first_name: 'string',
      middle_name: 'string',
      last_name: 'string',
      preferred_name: 'string',
      date_of_birth: 'date',
      gender: 'string',
      status: 'string',
      status_raw: 'string',
      email: 'string',
      mobile_phone: 'string',
      home_phone: 'string',
      work_phone: 'string',
      address_line_1: 'string',
      address_line_2: 'string',
      city: 'string',
      state: 'string',
      postal_code: 'string',
      country: 'string',
      chart_number: 'string',
      guarantor_id: 'string',
      primary_provider_name: 'string',
      billing_type: 'string',
      preferred_language: 'string',
      preferred_contact_method: 'string',
      first_visit_on: 'date',
      fee_schedule_id: 'string',
      primary_insurance_plan_id: 'string',
      secondary_insurance_plan_id: 'string',
      balance: 'json',
      merged_into_id: 'string',
      is_hidden: 'boolean',
      source_id: 'string',
      updated_at: 'instant',
    },
  },
  appointments: {
    type: 'appointment',
    pagination: 'cursor',
    filters: ['patient_id', 'starts_at'],
    attributes: {
      patient_id: 'string',
      provider_name: 'string',
      hygienist_name: 'string',
      operatory_name: 'string',
      appointment_type: 'string',
      status: 'string',
      status_raw: 'string',
      starts_at: 'instant',
      ends_at: 'instant',
      local_starts_at: 'string',
      time_zone: 'string',
      duration_minutes: 'integer',
      is_new_patient: 'boolean',
      is_hygiene: 'boolean',
      is_block: 'boolean',
      arrived_at: 'instant',
      seated_at: 'instant',
      dismissed_at: 'instant',
      treatment_ids: 'json',
      scheduled_production: 'string',
      note: 'string',
      is_hidden: 'boolean',
      source_id: 'string',
      updated_at: 'instant',
    },
  },
  treatments: {
    type: 'treatment',
    pagination: 'cursor',
    filters: ['patient_id'],
    attributes: {
      patient_id: 'string',
      provider_name: 'string',
      appointment_id: 'string',
      procedure_code: 'string',
      description: 'string',
      status: 'string',
      status_raw: 'string',
      area: 'string',
      teeth: 'json',
      surfaces: 'string',
      quantity: 'integer',
      fee: 'string',
      discount: 'string',
      insurance_estimate: 'string',
      patient_estimate: 'string',
      priority: 'string',
      planned_on: 'date',
      completed_on: 'date',
      note: 'string',
      is_hidden: 'boolean',
      source_id: 'string',
      updated_at: 'instant',
    },
  },
  ledger_transactions: {
    type: 'ledger_transaction',
    pagination: 'cursor',
    filters: ['patient_id'],
    attributes: {
      transaction_type: 'string',
      transaction_type_raw: 'string',
      amount: 'string',
      transaction_on: 'date',
      entered_at: 'instant',
      patient_id: 'string',
      guarantor_id: 'string',
      provider_name: 'string',
      treatment_id: 'string',
      procedure_code: 'string',
      claim_source_id: 'string',
      insurance_plan_id: 'string',
      payment_method: 'string',
      payment_method_raw: 'string',
      adjustment_type: 'string',
      reference_number: 'string',
      description: 'string',
      allocations: 'json',
      is_hidden: 'boolean',
      source_id: 'string',
      updated_at: 'instant',
    },
  },
  patient_referrals: {
    type: 'patient_referral',
    pagination: 'cursor',
    filters: ['patient_id'],
    attributes: {
      patient_id: 'string',
      direction: 'string',
      source_type: 'string',
      source_name: 'string',
      referring_patient_id: 'string',
      referring_provider: 'json',
      campaign: 'string',
      attribution_role: 'string',
      rank: 'integer',
      referred_on: 'date',
      status: 'string',
      treatment_id: 'string',
      note: 'string',
      is_hidden: 'boolean',
      source_id: 'string',
      updated_at: 'instant',
    },
  },
} as const satisfies Record<string, DatasetDescription>

/** What the client knows of a dataset. */
export type DatasetDescription = {
  type: string
  pagination: 'cursor' | 'page'
  filters: readonly ('patient_id' | 'starts_at')[]
  attributes: Readonly<Record<string, AttributeKind>>
}

/** How an attribute is written in tables. `json`: an object or a list. */
export type AttributeKind = 'string' | 'integer' | 'number' | 'boolean' | 'instant' | 'date' | 'json'

/** Which types belong to which dataset. */
export type DatasetTypes = {
  fee_schedules: {
    type: 'fee_schedule'
    attributes: FeeScheduleAttributes
    detail: FeeScheduleDetail
    filters: never
  }
  insurance_plans: {
    type: 'insurance_plan'
    attributes: InsurancePlanAttributes
    detail: InsurancePlanDetail
    filters: never
  }
  patients: {
    type: 'patient'
    attributes: PatientAttributes
    detail: PatientDetail
    filters: never
  }
  appointments: {
    type: 'appointment'
    attributes: AppointmentAttributes
    detail: AppointmentDetail
    filters: 'patient_id' | 'starts_at'
  }
  treatments: {
    type: 'treatment'
    attributes: TreatmentAttributes
    detail: TreatmentDetail
    filters: 'patient_id'
  }
  ledger_transactions: {
    type: 'ledger_transaction'
    attributes: LedgerTransactionAttributes
    detail: LedgerTransactionDetail
    filters: 'patient_id'
  }
  patient_referrals: {
    type: 'patient_referral'
    attributes: PatientReferralAttributes
    detail: PatientReferralDetail
    filters: 'patient_id'
  }
}
