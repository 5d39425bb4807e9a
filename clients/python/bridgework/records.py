"""The types of records. Made from the contract. Do not edit: a test compares it."""

from typing import List, Optional, TypedDict


class FeeScheduleAttributes(TypedDict):
    """Fee schedules: attributes of a record."""

    name: str
    is_hidden: bool
    schedule_type: str
    is_global: bool
    fees_count: int
    source_id: str
    updated_at: str


class FeeSchedule(TypedDict):
    """A fee_schedule, as the service sends it."""

    id: str
    type: str
    attributes: FeeScheduleAttributes


class InsurancePlanFeeScheduleDataAttributes(TypedDict):
    """The attributes of a record."""

    name: str
    is_hidden: bool


class InsurancePlanFeeScheduleData(TypedDict):
    """The data of a record."""

    id: str
    type: str
    attributes: InsurancePlanFeeScheduleDataAttributes


class InsurancePlanFeeSchedule(TypedDict):
    """The fee schedule of a record."""

    data: Optional[InsurancePlanFeeScheduleData]


class InsurancePlanAttributes(TypedDict):
    """Insurance plans: attributes of a record."""

    plan_name: str
    group_number: Optional[str]
    carrier_name: Optional[str]
    is_hidden: bool
    fee_schedule: InsurancePlanFeeSchedule
    payer_id: Optional[str]
    employer_name: Optional[str]
    plan_type: Optional[str]
    renewal_month: Optional[int]
    source_id: str
    updated_at: str


class InsurancePlan(TypedDict):
    """A insurance_plan, as the service sends it."""

    id: str
    type: str
    attributes: InsurancePlanAttributes


class PatientBalance(TypedDict):
    """The balance of a record."""

    total: Optional[str]
    insurance_estimate: Optional[str]
    as_of: Optional[str]


class PatientAttributes(TypedDict):
    """Patients: attributes of a record."""

    title: Optional[str]
    first_name: Optional[str]
    middle_name: Optional[str]
    last_name: Optional[str]
    preferred_name: Optional[str]
    date_of_birth: Optional[str]
    gender: Optional[str]
    status: str
    status_raw: Optional[str]
    email: Optional[str]
    mobile_phone: Optional[str]
    home_phone: Optional[str]
    work_phone: Optional[str]
    address_line_1: Optional[str]
    address_line_2: Optional[str]
    city: Optional[str]
    state: Optional[str]
    postal_code: Optional[str]
    country: Optional[str]
    chart_number: Optional[str]
    guarantor_id: Optional[str]
    primary_provider_name: Optional[str]
    billing_type: Optional[str]
    preferred_language: Optional[str]
    preferred_contact_method: Optional[str]
    first_visit_on: Optional[str]
    fee_schedule_id: Optional[str]
    primary_insurance_plan_id: Optional[str]
    secondary_insurance_plan_id: Optional[str]
    balance: Optional[PatientBalance]
    merged_into_id: Optional[str]
    is_hidden: bool
    source_id: str
    updated_at: str


class Patient(TypedDict):
    """A patient, as the service sends it."""

    id: str
    type: str
    attributes: PatientAttributes


class AppointmentAttributes(TypedDict):
    """Appointments: attributes of a record."""

    patient_id: Optional[str]
    provider_name: Optional[str]
    hygienist_name: Optional[str]
    operatory_name: Optional[str]
    appointment_type: Optional[str]
    status: str
    status_raw: Optional[str]
    starts_at: Optional[str]
    ends_at: Optional[str]
    local_starts_at: Optional[str]
    time_zone: Optional[str]
    duration_minutes: Optional[int]
    is_new_patient: bool
    is_hygiene: bool
    is_block: bool
    arrived_at: Optional[str]
    seated_at: Optional[str]
    dismissed_at: Optional[str]
    treatment_ids: List[str]
    scheduled_production: Optional[str]
    note: Optional[str]
    created_at: Optional[str]
    is_hidden: bool
    source_id: str
    updated_at: str


class Appointment(TypedDict):
    """A appointment, as the service sends it."""

    id: str
    type: str
    attributes: AppointmentAttributes


class TreatmentAttributes(TypedDict):
    """Treatments: attributes of a record."""

    patient_id: Optional[str]
    provider_name: Optional[str]
    appointment_id: Optional[str]
    procedure_code: Optional[str]
    description: Optional[str]
    status: str
    status_raw: Optional[str]
    area: Optional[str]
    teeth: List[str]
    surfaces: Optional[str]
    quantity: int
    fee: Optional[str]
    discount: Optional[str]
    insurance_estimate: Optional[str]
    patient_estimate: Optional[str]
    priority: Optional[str]
    planned_on: Optional[str]
    completed_on: Optional[str]
    note: Optional[str]
    is_hidden: bool
    source_id: str
    updated_at: str


class Treatment(TypedDict):
    """A treatment, as the service sends it."""

    id: str
    type: str
    attributes: TreatmentAttributes


class LedgerTransactionAllocations(TypedDict):
    """The allocations of a record."""

    treatment_id: Optional[str]
    amount: str


class LedgerTransactionAttributes(TypedDict):
    """Ledger transactions: attributes of a record."""

    transaction_type: str
    transaction_type_raw: Optional[str]
    amount: str
    transaction_on: Optional[str]
    entered_at: Optional[str]
    patient_id: Optional[str]
    guarantor_id: Optional[str]
    provider_name: Optional[str]
    treatment_id: Optional[str]
    procedure_code: Optional[str]
    claim_source_id: Optional[str]
    insurance_plan_id: Optional[str]
    payment_method: Optional[str]
    payment_method_raw: Optional[str]
    adjustment_type: Optional[str]
    reference_number: Optional[str]
    description: Optional[str]
    allocations: List[LedgerTransactionAllocations]
    is_hidden: bool
    source_id: str
    updated_at: str


class LedgerTransaction(TypedDict):
    """A ledger_transaction, as the service sends it."""

    id: str
    type: str
    attributes: LedgerTransactionAttributes


class PatientReferralReferringProvider(TypedDict):
    """The referring provider of a record."""

    name: Optional[str]
    specialty: Optional[str]
    npi: Optional[str]


class PatientReferralAttributes(TypedDict):
    """Patient referrals: attributes of a record."""

    patient_id: Optional[str]
    direction: str
    source_type: Optional[str]
    source_name: Optional[str]
    referring_patient_id: Optional[str]
    referring_provider: Optional[PatientReferralReferringProvider]
    campaign: Optional[str]
    attribution_role: Optional[str]
    rank: Optional[int]
    referred_on: Optional[str]
    status: Optional[str]
    treatment_id: Optional[str]
    note: Optional[str]
    is_hidden: bool
    source_id: str
    updated_at: str


class PatientReferral(TypedDict):
    """A patient_referral, as the service sends it."""

    id: str
    type: str
    attributes: PatientReferralAttributes


class LocationPracticeManagementSystem(TypedDict):
    """The practice management system of a record."""

    name: Optional[str]
    version: Optional[str]


class LocationAttributionScript(TypedDict):
    """The attribution script of a record."""

    is_installed: bool
    installed_at: Optional[str]
    last_seen_at: Optional[str]


class LocationSync(TypedDict):
    """The sync of a record."""

    state: str
    initial_sync_completed_at: Optional[str]
    synced_at: Optional[str]


class LocationAttributes(TypedDict):
    """Locations: attributes of a record."""

    name: str
    organization_id: str
    address_line_1: Optional[str]
    address_line_2: Optional[str]
    city: Optional[str]
    state: Optional[str]
    postal_code: Optional[str]
    country: Optional[str]
    phone: Optional[str]
    email: Optional[str]
    website_url: Optional[str]
    time_zone: Optional[str]
    currency: Optional[str]
    is_active: bool
    practice_management_system: LocationPracticeManagementSystem
    attribution_script: LocationAttributionScript
    sync: LocationSync
    datasets_granted: List[str]
    created_at: str
    updated_at: str


class Location(TypedDict):
    """A location, as the service sends it."""

    id: str
    type: str
    attributes: LocationAttributes


class OrganizationAttributes(TypedDict):
    """Organizations: attributes of a record."""

    name: str
    external_reference: Optional[str]
    time_zone: Optional[str]
    country: Optional[str]
    locations_count: int
    datasets_granted: List[str]
    granted_at: str
    created_at: str
    updated_at: str


class Organization(TypedDict):
    """A organization, as the service sends it."""

    id: str
    type: str
    attributes: OrganizationAttributes
