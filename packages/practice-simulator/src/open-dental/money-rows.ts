import { claimLineStatuses } from '../rows/money.ts'
import type { Rows } from '../rows.ts'
import { amount, date, flag, type OpenDentalTable, reference } from './table.ts'

type MoneyTable =
  | 'claims'
  | 'claimLines'
  | 'claimPayments'
  | 'payments'
  | 'splits'
  | 'adjustments'
  | 'paymentPlans'
  | 'planCharges'

/** What is owed and paid. */
export const moneyTables: { readonly [T in MoneyTable]: OpenDentalTable<Rows[T]> } = {
  claims: {
    table: 'claim',
    key: 'ClaimNum',
    stamp: 'SecDateTEdit',
    columns: (row, clinicOf) => ({
      PatNum: reference(row.patientKey),
      PlanNum: reference(row.planKey),
      InsSubNum: reference(row.subscriptionKey),
      ProvTreat: reference(row.providerKey),
      ClaimStatus: row.status === 'sent' ? 'S' : 'R',
      ClaimType: 'P',
      DateService: date(row.servedOn),
      DateSent: date(row.sentOn),
      DateReceived: date(row.receivedOn),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
  claimLines: {
    table: 'claimproc',
    key: 'ClaimProcNum',
    stamp: 'SecDateTEdit',
    columns: (row, clinicOf) => ({
      ProcNum: reference(row.treatmentKey),
      ClaimNum: reference(row.claimKey),
      ClaimPaymentNum: reference(row.claimPaymentKey),
      PatNum: reference(row.patientKey),
      ProvNum: reference(row.providerKey),
      PlanNum: reference(row.planKey),
      InsSubNum: reference(row.subscriptionKey),
      Status: claimLineStatuses[row.status],
      FeeBilled: amount(row.feeCents),
      InsPayEst: amount(row.estimateCents),
      InsEstTotal: amount(row.estimateCents),
      WriteOffEst: amount(row.writeOffEstimateCents),
      // Blank is -1.
      InsEstTotalOverride: -1,
      WriteOffEstOverride: -1,
      AllowedOverride: -1,
      DedEstOverride: -1,
      PaidOtherInsOverride: -1,
      InsPayAmt: amount(row.paidCents),
      WriteOff: amount(row.writeOffCents),
      DateCP: date(row.on),
      ProcDate: date(row.on),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
  claimPayments: {
    table: 'claimpayment',
    key: 'ClaimPaymentNum',
    stamp: 'SecDateTEdit',
    columns: (row, clinicOf) => ({
      CheckDate: date(row.paidOn),
      CheckAmt: amount(row.amountCents),
      CheckNum: row.checkNumber,
      CarrierName: row.carrierName,
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
  payments: {
    table: 'payment',
    key: 'PayNum',
    stamp: 'SecDateTEdit',
    columns: (row, clinicOf) => ({
      PatNum: reference(row.patientKey),
      PayType: reference(row.typeKey),
      PayDate: date(row.paidOn),
      PayAmt: amount(row.amountCents),
      CheckNum: row.checkNumber,
      IsSplit: flag(true),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
  splits: {
    table: 'paysplit',
    key: 'SplitNum',
    stamp: 'SecDateTEdit',
    columns: (row, clinicOf) => ({
      PayNum: reference(row.paymentKey),
      PatNum: reference(row.patientKey),
      ProvNum: reference(row.providerKey),
      ProcNum: reference(row.treatmentKey),
      PayPlanNum: reference(row.paymentPlanKey),
      UnearnedType: reference(row.unearnedTypeKey),
      SplitAmt: amount(row.amountCents),
      DatePay: date(row.paidOn),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
  adjustments: {
    table: 'adjustment',
    key: 'AdjNum',
    stamp: 'SecDateTEdit',
    columns: (row, clinicOf) => ({
      PatNum: reference(row.patientKey),
      ProvNum: reference(row.providerKey),
      ProcNum: reference(row.treatmentKey),
      AdjType: reference(row.typeKey),
      AdjAmt: amount(row.amountCents),
      AdjDate: date(row.adjustedOn),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
  paymentPlans: {
    table: 'payplan',
    key: 'PayPlanNum',
    stamp: null,
    columns: (row) => ({
      PatNum: reference(row.patientKey),
      Guarantor: reference(row.guarantorKey),
      PayPlanDate: date(row.startsOn),
      CompletedAmt: amount(row.principalCents),
    }),
  },
  planCharges: {
    table: 'payplancharge',
    key: 'PayPlanChargeNum',
    stamp: 'SecDateTEdit',
    columns: (row, clinicOf) => ({
      PayPlanNum: reference(row.paymentPlanKey),
      PatNum: reference(row.patientKey),
      Guarantor: reference(row.guarantorKey),
      ChargeType: row.kind === 'debit' ? 0 : 1,
      ChargeDate: date(row.chargeOn),
      Principal: amount(row.principalCents),
      Interest: amount(row.interestCents),
      ProvNum: reference(row.providerKey),
      ProcNum: reference(row.treatmentKey),
      ClinicNum: reference(clinicOf(row.locationKey)),
    }),
  },
}
