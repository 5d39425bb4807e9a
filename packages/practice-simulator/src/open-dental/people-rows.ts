import { genders, patientStatuses, referralOutcomes } from '../rows/people.ts'
import type { Rows } from '../rows.ts'
import { amount, date, dateTime, flag, type OpenDentalTable, reference } from './table.ts'

const categories = {
  adjustment_type: 1,
  confirmation: 2,
  billing_type: 4,
  payment_type: 10,
  priority: 20,
  unearned_type: 29,
  specialty: 35,
} as const

const contactMethods = { phone: 4, email: 5, mail: 7, sms: 8 } as const
const relationships = { self: 0, spouse: 1, child: 2 } as const

type PeopleTable =
  | 'providers'
  | 'operatories'
  | 'definitions'
  | 'patients'
  | 'patientLinks'
  | 'subscriptions'
  | 'coverages'
  | 'referralSources'
  | 'referrals'

/** Who works in the practice, who comes to it, and how they are insured and found it. */
export const peopleTables: { readonly [T in PeopleTable]: OpenDentalTable<Rows[T]> } = {
  providers: {
    table: 'provider',
    key: 'ProvNum',
    stamp: 'DateTStamp',
    columns: (row) => ({
      Abbr: row.abbreviation,
      FName: row.firstName,
      LName: row.lastName,
      IsSecondary: flag(row.isHygienist),
    }),
  },
  operatories: {
    table: 'operatory',
    key: 'OperatoryNum',
    stamp: 'DateTStamp',
    columns: (row, clinicOf) => ({ OpName: row.name, ClinicNum: reference(clinicOf(row.locationKey)) }),
  },
  definitions: {
    table: 'definition',
    key: 'DefNum',
    stamp: null,
    columns: (row) => ({ Category: categories[row.category], ItemName: row.name, ItemValue: row.value }),
  },
  patients: {
    table: 'patient',
    key: 'PatNum',
    stamp: 'DateTStamp',
    columns: (row, clinicOf) => ({
      LName: row.lastName,
      Title: row.title,
      FName: row.firstName,
      MiddleI: row.middleName,
      Preferred: row.preferredName,
      PatStatus: patientStatuses.indexOf(row.status),
      Gender: genders.indexOf(row.gender),
      Birthdate: date(row.bornOn),
      Address: row.addressLine1,
      Address2: row.addressLine2,
      City: row.city,
      State: row.state,
      Zip: row.postalCode,
      HmPhone: row.homePhone,
      WkPhone: row.workPhone,
      WirelessPhone: row.mobilePhone,
      Email: row.email,
      Guarantor: reference(row.guarantorKey),
      ChartNumber: row.chartNumber,
      PriProv: reference(row.providerKey),
      BillingType: reference(row.billingTypeKey),
      Language: row.language,
      PreferContactMethod: row.contactMethod === null ? 0 : contactMethods[row.contactMethod],
      DateFirstVisit: date(row.firstVisitOn),
      FeeSched: reference(row.feeScheduleKey),
      EstBalance: amount(row.balanceCents),
      InsEst: amount(row.insuranceEstimateCents),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
  patientLinks: {
    table: 'patientlink',
    key: 'PatientLinkNum',
    stamp: null,
    columns: (row) => ({
      PatNumFrom: reference(row.fromKey),
      PatNumTo: reference(row.toKey),
      LinkType: row.kind === 'merge' ? 1 : 2,
      DateTimeLink: dateTime(row.linkedAt),
    }),
  },
  subscriptions: {
    table: 'inssub',
    key: 'InsSubNum',
    stamp: 'SecDateTEdit',
    columns: (row) => ({
      PlanNum: reference(row.planKey),
      Subscriber: reference(row.subscriberKey),
      SubscriberID: row.memberId,
      DateEffective: date(row.effectiveOn),
      DateTerm: date(row.endsOn),
    }),
  },
  coverages: {
    table: 'patplan',
    key: 'PatPlanNum',
    stamp: 'SecDateTEdit',
    columns: (row) => ({
      PatNum: reference(row.patientKey),
      InsSubNum: reference(row.subscriptionKey),
      Ordinal: row.ordinal,
      Relationship: relationships[row.relationship],
    }),
  },
  referralSources: {
    table: 'referral',
    key: 'ReferralNum',
    stamp: 'DateTStamp',
    columns: (row) => ({
      FName: row.firstName,
      LName: row.lastName,
      PatNum: reference(row.patientKey),
      IsDoctor: flag(row.kind === 'provider'),
      NotPerson: flag(row.kind === 'marketing'),
      NationalProvID: row.npi,
      Specialty: reference(row.specialtyKey),
    }),
  },
  referrals: {
    table: 'refattach',
    key: 'RefAttachNum',
    stamp: 'DateTStamp',
    columns: (row) => ({
      ReferralNum: reference(row.sourceKey),
      PatNum: reference(row.patientKey),
      RefType: row.direction === 'outgoing' ? 0 : 1,
      ItemOrder: row.rank,
      RefDate: date(row.referredOn),
      RefToStatus: referralOutcomes.indexOf(row.outcome),
      ProcNum: reference(row.treatmentKey),
      Note: row.note,
    }),
  },
}
