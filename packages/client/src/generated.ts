// Made from the contract by scripts/generate.ts. Do not edit: a test compares it.
// biome-ignore-all format: it stays as the generator wrote it, so that the two can be compared

/** Fee schedules: attributes of a record. Fee schedules of a practice, and those that its insurance plans use. */
export type FeeScheduleAttributes = {
  /** Name of the schedule; empty when the practice management system has none */
  name: string
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** What the amounts of this schedule are. Further values may be added */
  schedule_type: 'standard' | 'copay' | 'out_of_network' | 'fixed_benefit' | 'other' | (string & {})
  /** True when the schedule applies at every location of the organization */
  is_global: boolean
  /** Number of fees; the single record lists them */
  fees_count: number
  /** Key of the record in the practice management system */
  source_id: string
  /** When an attribute of this record, as vendors receive it, last changed */
  updated_at: string
}

/** A single fee_schedule, as `get` gives it. */
export type FeeScheduleDetail = FeeScheduleAttributes & {
  /** The fees of this schedule */
  fees: Array<{
    /** Procedure code, as stored */
    procedure_code: string
    /** Fee in the location’s currency; null when it is blank */
    amount: string | null
    /** Key of the only provider that the fee applies to; null: all providers */
    provider_source_id: string | null
    /** First day on which the fee applies */
    effective_on: string | null
  }>
}

/** Insurance plans: attributes of a record. Insurance plans of a practice, each with its fee schedule. */
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
      /** Id of the fee schedule */
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
  /** Employer that offers the plan */
  employer_name: string | null
  /** How the plan calculates what it pays. Further values may be added */
  plan_type: 'percentage' | 'ppo' | 'flat_copay' | 'capitation' | (string & {}) | null
  /** Month in which the benefits renew, 1–12 */
  renewal_month: number | null
  /** Key of the record in the practice management system */
  source_id: string
  /** When an attribute of this record, as vendors receive it, last changed */
  updated_at: string
}

/** A single insurance_plan, as `get` gives it. */
export type InsurancePlanDetail = InsurancePlanAttributes

/** Patients: attributes of a record. Patients of a practice, including guarantors. A patient is listed at the location where they are registered and at every location with a record that refers to them. Each of these records has its own id and the same source_id. */
export type PatientAttributes = {
  /** Title, as stored: Dr., Mrs. and others */
  title: string | null
  /** First name */
  first_name: string | null
  /** Middle name or initial */
  middle_name: string | null
  /** Last name */
  last_name: string | null
  /** Preferred name */
  preferred_name: string | null
  /** Date of birth */
  date_of_birth: string | null
  /** Gender as recorded. Further values may be added */
  gender: 'male' | 'female' | 'other' | 'unknown' | (string & {}) | null
  /** Status of the patient. Further values may be added */
  status: 'active' | 'inactive' | 'prospect' | 'non_patient' | 'archived' | 'deceased' | 'merged' | (string & {})
  /** Status, as the practice management system names it */
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
  /** Patient who is responsible for the account; can be the same patient */
  guarantor_id: string | null
  /** Provider who usually treats the patient */
  primary_provider_name: string | null
  /** Billing type, as the practice names it */
  billing_type: string | null
  /** Preferred language */
  preferred_language: string | null
  /** Preferred way to be contacted. Further values may be added */
  preferred_contact_method: 'phone' | 'sms' | 'email' | 'mail' | (string & {}) | null
  /** Date of the first visit */
  first_visit_on: string | null
  /** Fee schedule that was set for this patient */
  fee_schedule_id: string | null
  /** Primary insurance plan */
  primary_insurance_plan_id: string | null
  /** Secondary insurance plan */
  secondary_insurance_plan_id: string | null
  /** Balance, as last calculated by the practice management system */
  balance: {
    /** Amount owed by this patient alone, as calculated by the practice management system */
    total: string | null
    /** Amount of it that insurance is expected to pay */
    insurance_estimate: string | null
    /** When the balance was calculated */
    as_of: string | null
  } | null
  /** Patient that this one was merged into */
  merged_into_id: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** Key of the record in the practice management system */
  source_id: string
  /** When an attribute of this record, as vendors receive it, last changed */
  updated_at: string
}

/** A single patient, as `get` gives it. */
export type PatientDetail = PatientAttributes

/** Appointments: attributes of a record. Appointments in every status, also planned, missed and cancelled ones, and blocks of time without a patient. */
export type AppointmentAttributes = {
  /** Patient; null for a block of time */
  patient_id: string | null
  /** Provider */
  provider_name: string | null
  /** Hygienist */
  hygienist_name: string | null
  /** Operatory (room or chair) */
  operatory_name: string | null
  /** Appointment type, as the practice names it */
  appointment_type: string | null
  /** Status of the appointment. Further values may be added */
  status: 'scheduled' | 'confirmed' | 'arrived' | 'in_chair' | 'completed' | 'no_show' | 'broken' | 'cancelled' | 'planned' | 'unscheduled' | (string & {})
  /** Status, as the practice management system names it */
  status_raw: string | null
  /** When it starts; null when it has no date */
  starts_at: string | null
  /** When it ends */
  ends_at: string | null
  /** When it starts, in the location’s local time */
  local_starts_at: string | null
  /** IANA time zone of local_starts_at */
  time_zone: string | null
  /** Length in minutes */
  duration_minutes: number | null
  /** True for the first appointment of a patient */
  is_new_patient: boolean
  /** True for a hygiene appointment */
  is_hygiene: boolean
  /** True for a block of time or a note without treatment */
  is_block: boolean
  /** When the patient arrived */
  arrived_at: string | null
  /** When the patient was seated */
  seated_at: string | null
  /** When the patient was dismissed */
  dismissed_at: string | null
  /** Treatments of the appointment */
  treatment_ids: Array<string>
  /** Sum of the fees of its treatments */
  scheduled_production: string | null
  /** Note. Free text of the practice’s staff; null unless the practice granted notes of this dataset */
  note: string | null
  /** When it was entered in the practice management system */
  created_at: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** Key of the record in the practice management system */
  source_id: string
  /** When an attribute of this record, as vendors receive it, last changed */
  updated_at: string
}

/** A single appointment, as `get` gives it. */
export type AppointmentDetail = AppointmentAttributes

/** Treatments: attributes of a record. Procedures in every status: planned, scheduled, completed, done elsewhere and referred out; and conditions that were found. */
export type TreatmentAttributes = {
  /** Patient */
  patient_id: string | null
  /** Provider */
  provider_name: string | null
  /** Appointment of the treatment */
  appointment_id: string | null
  /** Procedure code, as stored */
  procedure_code: string | null
  /** Description */
  description: string | null
  /** Status of the treatment. Further values may be added */
  status: 'planned' | 'scheduled' | 'completed' | 'existing' | 'referred_out' | 'condition' | 'inactive' | (string & {})
  /** Status, as the practice management system names it */
  status_raw: string | null
  /** Part of the mouth that is treated. Further values may be added */
  area: 'tooth' | 'surface' | 'quadrant' | 'arch' | 'sextant' | 'mouth' | 'range' | (string & {}) | null
  /** Teeth that are treated */
  teeth: Array<string>
  /** Surfaces, quadrant or arch, as stored */
  surfaces: string | null
  /** Number of units */
  quantity: number
  /** Fee for all units */
  fee: string | null
  /** Discount on the fee */
  discount: string | null
  /** Amount that insurance is expected to pay */
  insurance_estimate: string | null
  /** What is left to the patient after insurance; null where insurance has no part in it */
  patient_estimate: string | null
  /** Priority in the treatment plan */
  priority: string | null
  /** Day on which it was planned */
  planned_on: string | null
  /** Day on which it was completed */
  completed_on: string | null
  /** Note. Free text of the practice’s staff; null unless the practice granted notes of this dataset */
  note: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** Key of the record in the practice management system */
  source_id: string
  /** When an attribute of this record, as vendors receive it, last changed */
  updated_at: string
}

/** A single treatment, as `get` gives it. */
export type TreatmentDetail = TreatmentAttributes

/** Ledger transactions: attributes of a record. Charges, payments and adjustments on the account of a guarantor. The amounts of a guarantor’s visible transactions, over all locations of the organization and by the guarantor’s source_id, add up to the balance. */
export type LedgerTransactionAttributes = {
  /** Type of the transaction. Further values may be added */
  transaction_type: 'charge' | 'patient_payment' | 'insurance_payment' | 'adjustment' | 'write_off' | 'refund' | 'transfer' | 'payment_plan' | (string & {})
  /** Type, as the practice management system names it */
  transaction_type_raw: string | null
  /** Positive when it increases what is owed, negative when it decreases it */
  amount: string
  /** Date of the transaction */
  transaction_on: string | null
  /** When it was entered */
  entered_at: string | null
  /** Patient */
  patient_id: string | null
  /** Patient who is responsible for the account */
  guarantor_id: string | null
  /** Provider */
  provider_name: string | null
  /** Treatment that the transaction is for */
  treatment_id: string | null
  /** Procedure code of that treatment */
  procedure_code: string | null
  /** Key of the claim in the practice management system */
  claim_source_id: string | null
  /** Insurance plan that paid or wrote off the amount */
  insurance_plan_id: string | null
  /** How it was paid. Further values may be added */
  payment_method: 'cash' | 'check' | 'card' | 'ach' | 'financing' | 'insurance' | 'other' | (string & {}) | null
  /** Payment method, as the practice names it */
  payment_method_raw: string | null
  /** Type of the adjustment, as the practice names it */
  adjustment_type: string | null
  /** Number of the check or transfer */
  reference_number: string | null
  /** Note of an adjustment or payment. Free text of the practice’s staff; null unless the practice granted notes of this dataset */
  description: string | null
  /** How the amount is divided among treatments */
  allocations: Array<{
    /** Id of a record */
    treatment_id: string | null
    /** Amount for this treatment */
    amount: string
  }>
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** Key of the record in the practice management system */
  source_id: string
  /** When an attribute of this record, as vendors receive it, last changed */
  updated_at: string
}

/** A single ledger_transaction, as `get` gives it. */
export type LedgerTransactionDetail = LedgerTransactionAttributes

/** Patient referrals: attributes of a record. Who referred a patient to the practice, and to whom the practice referred a patient. */
export type PatientReferralAttributes = {
  /** Patient who was referred */
  patient_id: string | null
  /** incoming: to the practice; outgoing: from the practice. Further values may be added */
  direction: 'incoming' | 'outgoing' | (string & {})
  /** Type of the source. Further values may be added */
  source_type: 'patient' | 'provider' | 'marketing' | 'organization' | 'employee' | 'other' | (string & {}) | null
  /** Name of the source */
  source_name: string | null
  /** Patient who made the referral */
  referring_patient_id: string | null
  /** Provider who referred the patient, or to whom the patient was referred */
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
  /** primary: the first source of the patient; secondary: a later one. Further values may be added */
  attribution_role: 'primary' | 'secondary' | (string & {}) | null
  /** Position among the patient’s referrals, from 1 */
  rank: number | null
  /** Day of the referral */
  referred_on: string | null
  /** Status of the referral. Further values may be added */
  status: 'none' | 'declined' | 'scheduled' | 'consulted' | 'in_treatment' | 'completed' | (string & {}) | null
  /** Treatment that the patient was referred for */
  treatment_id: string | null
  /** Note. Free text of the practice’s staff; null unless the practice granted notes of this dataset */
  note: string | null
  /** True when the record has been removed in the practice management system */
  is_hidden: boolean
  /** Key of the record in the practice management system */
  source_id: string
  /** When an attribute of this record, as vendors receive it, last changed */
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
  /** False when the practice has closed the location */
  is_active: boolean
  practice_management_system: {
    /** Name of the practice management system */
    name: string | null
    /** Its version */
    version: string | null
  }
  attribution_script: {
    /** True when the attribution script ran on the practice’s website within the last 30 days */
    is_installed: boolean
    /** When it was installed: the start of the time in which it ran without a gap of 30 days. Null when it is not installed */
    installed_at: string | null
    /** When it last ran on the practice’s website */
    last_seen_at: string | null
  }
  sync: {
    /** pending: the first sync has not finished; current: read completely within the last 15 minutes of the location’s office hours; stale: not current, but its agent is connected; disconnected: no agent is connected; not_provided: the practice’s system does not have this dataset, or its export leaves it out */
    state: 'current' | 'stale' | 'disconnected' | 'pending' | 'not_provided' | (string & {})
    /** When all granted datasets were read for the first time */
    initial_sync_completed_at: string | null
    /** When the practice management system was last read completely */
    synced_at: string | null
  }
  /** Datasets that this credential may read here */
  datasets_granted: Array<string>
  /** When the location was created in Bridgework */
  created_at: string
  /** When one of these attributes last changed */
  updated_at: string
}

/** A practice owner. */
export type OrganizationAttributes = {
  /** Name of the organization */
  name: string
  /** Reference that the operator gave the organization */
  external_reference: string | null
  /** IANA time zone */
  time_zone: string | null
  /** ISO 3166-1 alpha-2 country code */
  country: string | null
  /** Number of its locations that this credential may read */
  locations_count: number
  /** Datasets that this credential may read here */
  datasets_granted: Array<string>
  /** When it first granted access that is still in force */
  granted_at: string
  /** When the organization was created in Bridgework */
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
  | 'overloaded'
  | 'restore_unmarked'
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
  | 'requests_exceeded'
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
      title: 'string',
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
      created_at: 'instant',
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
