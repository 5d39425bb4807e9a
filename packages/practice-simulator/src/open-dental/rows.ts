import { type Rows, scheduleTypes, type TableName } from '../rows.ts'
import { careTables } from './care-rows.ts'
import { moneyTables } from './money-rows.ts'
import { peopleTables } from './people-rows.ts'
import { flag, type OpenDentalTable, reference } from './table.ts'

/** The clock hangs on the wall: no table has it. */
export type StoredTableName = Exclude<TableName, 'clock'>

const planTypeLetters = { percentage: '', ppo: 'p', flat_copay: 'f', capitation: 'c' } as const

/** Every kind of row of a practice as Open Dental 24.3 keeps it. Texts go in as they were typed, blanks and all. */
export const openDentalTables: { readonly [T in StoredTableName]: OpenDentalTable<Rows[T]> } = {
  ...peopleTables,
  ...careTables,
  ...moneyTables,
  locations: {
    table: 'clinic',
    key: 'ClinicNum',
    stamp: null,
    columns: (location) => ({
      Description: location.name,
      Abbr: location.abbreviation,
      Address: location.addressLine1,
      Address2: location.addressLine2,
      City: location.city,
      State: location.state,
      Zip: location.postalCode,
      Phone: location.phone,
      TimeZone: location.timeZone,
      IsHidden: flag(!location.isActive),
    }),
  },
  employers: {
    table: 'employer',
    key: 'EmployerNum',
    stamp: null,
    columns: (employer) => ({ EmpName: employer.name }),
  },
  carriers: {
    table: 'carrier',
    key: 'CarrierNum',
    stamp: 'SecDateTEdit',
    columns: (carrier) => ({
      CarrierName: carrier.name,
      ElectID: carrier.payerId,
      IsHidden: flag(carrier.isHidden),
      SecDateEntry: entryDate(carrier.key),
    }),
  },
  feeSchedules: {
    table: 'feesched',
    key: 'FeeSchedNum',
    stamp: 'SecDateTEdit',
    columns: (schedule) => ({
      Description: schedule.name,
      FeeSchedType: scheduleTypes.indexOf(schedule.type),
      IsHidden: flag(schedule.isHidden),
      IsGlobal: flag(schedule.isGlobal),
      SecDateEntry: entryDate(schedule.key),
    }),
  },
  fees: {
    table: 'fee',
    key: 'FeeNum',
    stamp: 'SecDateTEdit',
    columns: (fee) => ({
      Amount: fee.amountCents === null ? -1 : fee.amountCents / 100,
      FeeSched: reference(fee.feeScheduleKey),
      CodeNum: reference(fee.procedureCodeKey),
      ClinicNum: reference(fee.locationKey),
      ProvNum: reference(fee.providerKey),
      SecDateEntry: entryDate(fee.key),
    }),
  },
  insurancePlans: {
    table: 'insplan',
    key: 'PlanNum',
    stamp: 'SecDateTEdit',
    columns: (plan) => ({
      GroupName: plan.groupName,
      GroupNum: plan.groupNumber,
      FeeSched: reference(plan.feeScheduleKey),
      PlanType: plan.planType === null ? 'x' : planTypeLetters[plan.planType],
      EmployerNum: reference(plan.employerKey),
      CarrierNum: reference(plan.carrierKey),
      IsMedical: flag(plan.isMedical),
      IsHidden: flag(plan.isHidden),
      MonthRenew: plan.renewalMonth,
      SecDateEntry: entryDate(plan.key),
    }),
  },
}

/** Both ways in which databases say "no date"; the older one in some rows, as in databases that have grown old. */
function entryDate(key: string): string {
  return key.endsWith('7') ? '0000-00-00' : '0001-01-01'
}
