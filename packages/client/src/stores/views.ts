/** How a database writes what SQL has no common words for. */
export type Dialect = {
  /** The first day of the month of a date. */
  month: (date: string) => string
  /** The day of a time on the wall clock. */
  day: (time: string) => string
  today: string
  /** A date so many months later; negative: earlier. */
  plusMonths: (date: string, months: number) => string
  daysSince: (date: string) => string
  greatest: (left: string, right: string) => string
}

/**
 * What the `current_` view of each dataset leaves out: hidden records, and what is left at a location that the practice has closed. Until a person confirms
 * that it was removed it stays visible there, and it may stand at another location as well (docs/guides/handling-removals.md).
 */
export const isCurrent = 'not is_hidden and location_id not in (select id from locations where not is_active)'

/** A view that answers a question, over all locations of a mirror. */
export type View = { name: string; about: string; sql: (dialect: Dialect) => string; lines?: Lines }

/**
 * What a view adds up, a line for each thing that counts, so that people can be counted too: `patient_id`, or the person as `organization_id` and
 * `patient_source_id`. The view groups by `keys` and has the sums of `sums`.
 */
export type Lines = { keys: readonly string[]; sums: readonly string[]; sql: (dialect: Dialect) => string }

const production: Lines = {
  keys: ['location_id', 'month', 'provider_name'],
  sums: ['production', 'collections', 'adjustments', 'write_offs'],
  sql: ({ month }) => `
      select location_id, ${month('transaction_on')} as month, provider_name, coalesce(patient_id, guarantor_id) as patient_id,
             case when transaction_type = 'charge' then amount end as production,
             case when transaction_type in ('patient_payment', 'insurance_payment', 'refund', 'transfer') then -amount end as collections,
             case when transaction_type = 'adjustment' then amount end as adjustments,
             case when transaction_type = 'write_off' then amount end as write_offs
        from current_ledger_transactions
       where transaction_on is not null`,
}

const visits: Lines = {
  keys: ['location_id', 'month', 'provider_name'],
  sums: ['appointments', 'completed', 'no_shows', 'cancelled', 'broken'],
  sql: ({ month, day }) => `
      select location_id, ${month(day('local_starts_at'))} as month, provider_name, patient_id, 1 as appointments,
             case when status = 'completed' then 1 end as completed, case when status = 'no_show' then 1 end as no_shows,
             case when status = 'cancelled' then 1 end as cancelled, case when status = 'broken' then 1 end as broken
        from current_appointments
       where patient_id is not null and not is_block and local_starts_at is not null and status not in ('planned', 'unscheduled')`,
}

const newPatients: Lines = {
  keys: ['organization_id', 'month', 'source_type', 'source_name'],
  sums: ['patients', 'production'],
  sql: ({ month }) => `
      select l.organization_id, p.source_id as patient_source_id, ${month('min(p.first_visit_on)')} as month,
             min(source.source_type) as source_type, min(source.source_name) as source_name, 1 as patients,
             sum(coalesce(done.production, 0)) as production
        from current_patients as p
        join locations as l on l.id = p.location_id
        left join (select patient_id, min(source_type) as source_type, min(source_name) as source_name
                     from current_patient_referrals
                    where direction = 'incoming' and attribution_role = 'primary'
                    group by patient_id) as source on source.patient_id = p.id
        left join (select patient_id, sum(fee) as production
                     from current_treatments
                    where status = 'completed'
                    group by patient_id) as done on done.patient_id = p.id
       where p.first_visit_on is not null
       group by l.organization_id, p.source_id`,
}

const plans: Lines = {
  keys: ['location_id', 'month', 'provider_name'],
  sums: ['planned', 'planned_fees', 'completed', 'completed_fees'],
  sql: ({ month }) => `
      select location_id, ${month('planned_on')} as month, provider_name, patient_id, 1 as planned, fee as planned_fees,
             case when status = 'completed' then 1 end as completed, case when status = 'completed' then fee end as completed_fees
        from current_treatments
       where planned_on is not null and status in ('planned', 'scheduled', 'completed')`,
}

const carriers: Lines = {
  keys: ['organization_id', 'carrier_name'],
  sums: ['patients', 'production'],
  sql: ({ plusMonths, today }) => `
      select l.organization_id, p.source_id as patient_source_id, min(i.carrier_name) as carrier_name, 1 as patients,
             sum(coalesce(done.production, 0)) as production
        from current_patients as p
        join locations as l on l.id = p.location_id
        left join insurance_plans as i on i.id = p.primary_insurance_plan_id
        left join (select patient_id, sum(fee) as production
                     from current_treatments
                    where status = 'completed' and completed_on > ${plusMonths(today, -12)}
                    group by patient_id) as done on done.patient_id = p.id
       where p.status = 'active'
       group by l.organization_id, p.source_id`,
}

const named: Lines = {
  keys: ['location_id', 'name'],
  sums: ['appointments', 'hygiene_appointments', 'treatments', 'ledger_transactions', 'patients'],
  sql: ({ day }) => {
    const of = (dataset: string, name: string, counted: string, on: string, patient = 'patient_id') => {
      const counts = named.sums.map((sum) => `${sum === counted ? 1 : 0} as ${sum}`)
      return `
          select location_id, ${name} as name, ${patient} as patient_id, ${counts.join(', ')}, ${on} as on_day
            from current_${dataset}
           where ${name} <> ''`
    }
    const visitOn = day('local_starts_at')
    return [
      of('appointments', 'provider_name', 'appointments', visitOn),
      of('appointments', 'hygienist_name', 'hygiene_appointments', visitOn),
      of('treatments', 'provider_name', 'treatments', 'completed_on'),
      of('ledger_transactions', 'provider_name', 'ledger_transactions', 'transaction_on'),
      of('patients', 'primary_provider_name', 'patients', 'cast(null as date)', 'id'),
    ].join(' union all ')
  },
}

const chairs: Lines = {
  keys: ['location_id', 'name'],
  sums: ['appointments'],
  sql: ({ day }) => `
      select location_id, operatory_name as name, patient_id, 1 as appointments, ${day('local_starts_at')} as on_day
        from current_appointments
       where operatory_name <> ''`,
}

/** What analysts ask first. docs/guides/analyse.md defines each of them. */
export const views: readonly View[] = [
  {
    name: 'production_by_provider',
    about: 'Production, collections, adjustments and write-offs, by location, month and provider',
    sql: (dialect) => `
      select location_id, month, provider_name, ${production.sums.map((sum) => `${moneyOf(sum)} as ${sum}`).join(', ')}
        from (${production.sql(dialect)}) as line
       group by location_id, month, provider_name`,
    lines: production,
  },
  {
    name: 'accounts_receivable',
    about: 'What each guarantor owes, by the age of the charges; payments pay the oldest charge first',
    sql: ({ daysSince, greatest }) => {
      const left = (charges: string, older: string) =>
        greatest('0', `${charges} - ${greatest('0', older === '0' ? 'credits' : `credits - (${older})`)}`)
      return `
      select organization_id, guarantor_source_id, guarantor_id, last_name, first_name, round(balance, 2) as balance,
             round(${left('days_0', 'days_31 + days_61 + days_91')}, 2) as days_0_to_30,
             round(${left('days_31', 'days_61 + days_91')}, 2) as days_31_to_60,
             round(${left('days_61', 'days_91')}, 2) as days_61_to_90,
             round(${left('days_91', '0')}, 2) as days_over_90
        from (select l.organization_id, p.source_id as guarantor_source_id, min(p.id) as guarantor_id,
                     min(p.last_name) as last_name, min(p.first_name) as first_name, sum(balance) as balance,
                     sum(credits) as credits, sum(days_0) as days_0, sum(days_31) as days_31, sum(days_61) as days_61,
                     sum(days_91) as days_91
                from (select guarantor_id, sum(amount) as balance,
                             coalesce(-sum(amount) filter (where amount < 0), 0) as credits,
                             coalesce(sum(amount) filter (where amount > 0 and age <= 30), 0) as days_0,
                             coalesce(sum(amount) filter (where amount > 0 and age between 31 and 60), 0) as days_31,
                             coalesce(sum(amount) filter (where amount > 0 and age between 61 and 90), 0) as days_61,
                             coalesce(sum(amount) filter (where amount > 0 and age > 90), 0) as days_91
                        from (select guarantor_id, amount, ${daysSince('transaction_on')} as age
                                from current_ledger_transactions
                               where guarantor_id is not null) as aged
                       group by guarantor_id) as account
                join patients as p on p.id = account.guarantor_id
                join locations as l on l.id = p.location_id
               group by l.organization_id, p.source_id) as owed
       where round(balance, 2) <> 0`
    },
  },
  {
    name: 'missed_appointments',
    about:
      'Visits of patients, and how many were completed, missed, cancelled or broken, by location, month and provider',
    sql: (dialect) => `
      select location_id, month, provider_name, ${visits.sums.map((sum) => `coalesce(sum(${sum}), 0) as ${sum}`).join(', ')}
        from (${visits.sql(dialect)}) as line
       group by location_id, month, provider_name`,
    lines: visits,
  },
  {
    name: 'new_patients_by_source',
    about:
      'Patients by the month of their first visit and the source that referred them, with what was done for them since',
    sql: (dialect) => `
      select organization_id, month, source_type, source_name, sum(patients) as patients, round(sum(production), 2) as production
        from (${newPatients.sql(dialect)}) as line
       group by organization_id, month, source_type, source_name`,
    lines: newPatients,
  },
  {
    name: 'treatment_plans',
    about: 'Treatments by the month in which they were planned, and how many of them were done',
    sql: (dialect) => `
      select location_id, month, provider_name, sum(planned) as planned, round(sum(planned_fees), 2) as planned_fees,
             coalesce(sum(completed), 0) as completed, ${moneyOf('completed_fees')} as completed_fees
        from (${plans.sql(dialect)}) as line
       group by location_id, month, provider_name`,
    lines: plans,
  },
  {
    name: 'recall_due',
    about:
      'Active patients, with their last completed hygiene visit and the day six months after it; due without a later one booked',
    sql: ({ day, plusMonths, today }) => `
      select organization_id, patient_source_id, patient_id, last_name, first_name, last_hygiene_on, due_on, next_hygiene_on,
             due_on <= ${today} and next_hygiene_on is null as is_due
        from (select l.organization_id, p.source_id as patient_source_id, min(p.id) as patient_id, min(p.last_name) as last_name,
                     min(p.first_name) as first_name, max(visit.last_on) as last_hygiene_on,
                     ${plusMonths('max(visit.last_on)', 6)} as due_on, min(visit.next_on) as next_hygiene_on
                from current_patients as p
                join locations as l on l.id = p.location_id
                join (select patient_id, max(day) filter (where status = 'completed') as last_on,
                             min(day) filter (where status in ('scheduled', 'confirmed') and day >= ${today}) as next_on
                        from (select patient_id, status, ${day('local_starts_at')} as day
                                from current_appointments
                               where is_hygiene and patient_id is not null) as booked
                       group by patient_id) as visit on visit.patient_id = p.id
               where p.status = 'active'
               group by l.organization_id, p.source_id) as patient
       where last_hygiene_on is not null`,
  },
  {
    name: 'insurance_mix',
    about: 'Active patients by the carrier of their primary insurance plan, and what was done for them in a year',
    sql: (dialect) => `
      select organization_id, carrier_name, sum(patients) as patients, round(sum(production), 2) as production
        from (${carriers.sql(dialect)}) as line
       group by organization_id, carrier_name`,
    lines: carriers,
  },
  {
    name: 'providers',
    about: 'Providers by location and name, with what names them, and the first and last day of it',
    sql: (dialect) => `
      select location_id || '/' || name as provider_key, location_id, name, ${named.sums.map((sum) => `sum(${sum}) as ${sum}`).join(', ')},
             min(on_day) as first_on, max(on_day) as last_on
        from (${named.sql(dialect)}) as line
       group by location_id, name`,
    lines: named,
  },
  {
    name: 'operatories',
    about: 'Operatories by location and name, with their appointments, and the first and last day of them',
    sql: (dialect) => `
      select location_id || '/' || name as operatory_key, location_id, name, sum(appointments) as appointments,
             min(on_day) as first_on, max(on_day) as last_on
        from (${chairs.sql(dialect)}) as line
       group by location_id, name`,
    lines: chairs,
  },
]

function moneyOf(sum: string): string {
  return `round(coalesce(sum(${sum}), 0), 2)`
}
