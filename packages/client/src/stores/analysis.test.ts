import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { loadPractice } from '@bridgework/practice-simulator/test-whole-practice'
import { someOffice } from '../../../../apps/server/src/acceptance/testing/test-office.ts'
import { openStore, someTarget } from '../sync/testing/test-mirror.ts'
import { assertTypedRows, openMirror, type Select } from '../sync/testing/test-typed-rows.ts'
import { clientOf } from '../testing/test-client.ts'

test('each view of a mirror has the figures of the office’s own database', async (t) => {
  const { database } = await loadPractice({ after })
  const office = await someOffice(t, database)
  assert.equal((await office.agentHere().cycle()).result, 'complete')
  const locations = new Map([...(await office.locationIds())].map(([sourceId, id]) => [String(id), sourceId]))
  for (const kind of ['sqlite', 'postgres'] as const) {
    const target = await someTarget(t, kind)
    const store = await openStore(kind, target)
    await clientOf(office.world, office.vendor).sync({ store })
    await store.close()
    await assertTypedRows(kind, target)
    const { select, close } = await openMirror(kind, target)
    t.after(close)
    for (const { view, columns, sql } of expectations) {
      const seen = await select(`select * from ${view}`)
      const expected = await database.execute(sql)
      assert.ok(expected.length > 0, view)
      assert.deepEqual(
        keyed(
          seen.map((row) => ({ ...row, location: locations.get(String(row.location_id)) })),
          columns,
        ),
        keyed(expected, columns),
        `${kind}: ${view}`,
      )
    }
    for (const [dataset, name, view] of namedBy) {
      const unknown = `select count(*) as n from current_${dataset} as r
        left join ${view} as v on v.location_id = r.location_id and v.name = r.${name}
       where r.${name} is not null and (v.name is null or v.last_on < v.first_on)`
      assert.deepEqual(await select(unknown), [{ n: '0' }], `${kind}: ${dataset}.${name}`)
    }
    assert.deepEqual(
      await receivables(select),
      expectedReceivables(await database.execute(linesSql)),
      `${kind}: accounts_receivable`,
    )
  }
})

/** The names that the views of names have. */
const namedBy = [
  ['appointments', 'provider_name', 'providers'],
  ['appointments', 'hygienist_name', 'providers'],
  ['treatments', 'provider_name', 'providers'],
  ['ledger_transactions', 'provider_name', 'providers'],
  ['patients', 'primary_provider_name', 'providers'],
  ['appointments', 'operatory_name', 'operatories'],
] as const

type Row = Record<string, unknown>

/** Rows as texts, in one order and one spelling. */
function keyed(rows: readonly Row[], columns: readonly string[]): string[] {
  return rows.map((row) => JSON.stringify(columns.map((column) => plain(row[column])))).sort()
}

function plain(value: unknown): unknown {
  if (value === null || value === undefined) return null
  const text = value instanceof Date ? value.toISOString().slice(0, 10) : String(value)
  if (/^-?\d+\.\d+$/.test(text)) return String(Number(text))
  if (text === 't' || text === 'true') return '1'
  return text === 'f' || text === 'false' ? '0' : text
}

/** Open Dental's headquarters has the rows of no clinic, and of one that is gone. */
const clinicOf = (alias: string) =>
  `if(${alias}.ClinicNum in (select ClinicNum from clinic), cast(${alias}.ClinicNum as char), '0')`
const providerOf = (
  column: string,
) => `(select coalesce(nullif(trim(concat(trim(FName), ' ', trim(LName))), ''), nullif(trim(Abbr), ''))
  from provider where provider.ProvNum = ${column})`
const monthOf = (date: string) => `date_format(${date}, '%Y-%m-01')`
const isDate = (date: string) => `${date} > '1880-01-01'`
const fee = 'q.ProcFee * greatest(1, q.UnitQty + q.BaseUnits)'

/** Every line that counts in a balance, written for these tests alone. */
const lines = `
  select ${clinicOf('q')} as location, q.ProvNum as prov, q.PatNum as pat, q.ProcDate as day, 'production' as kind,
         q.ProcFee * (q.UnitQty + q.BaseUnits) as amount
    from procedurelog q where q.ProcStatus = 2
   union all
  select ${clinicOf('a')}, a.ProvNum, a.PatNum, a.AdjDate, 'adjustments', a.AdjAmt from adjustment a
   union all
  select ${clinicOf('s')}, s.ProvNum, s.PatNum, s.DatePay, 'collections', -s.SplitAmt
    from paysplit s left join definition u on u.DefNum = s.UnearnedType and u.Category = 29
   where s.UnearnedType = 0 or coalesce(u.ItemValue, '') = ''
   union all
  select ${clinicOf('c')}, c.ProvNum, c.PatNum, c.DateCP, 'collections', -c.InsPayAmt
    from claimproc c left join procedurelog q on q.ProcNum = c.ProcNum and c.ProcNum <> 0
   where c.Status in (1, 4, 5, 7) and (c.ProcNum = 0 or q.ProcStatus = 2) and c.PayPlanNum = 0
   union all
  select ${clinicOf('c')}, c.ProvNum, c.PatNum, c.DateCP, 'write_offs', -c.WriteOff
    from claimproc c left join procedurelog q on q.ProcNum = c.ProcNum and c.ProcNum <> 0
   where c.Status in (1, 4, 5, 7) and (c.ProcNum = 0 or q.ProcStatus = 2)`

const sumOfKind = (kind: string, sign = '') =>
  `cast(coalesce(sum(if(kind = '${kind}', ${sign}amount, 0)), 0) as decimal(19,2)) as ${kind}`

const expectations = [
  {
    view: `(select * from production_by_provider
             where production <> 0 or collections <> 0 or adjustments <> 0 or write_offs <> 0) as view`,
    columns: ['location', 'month', 'provider_name', 'production', 'collections', 'adjustments', 'write_offs'],
    sql: `select * from (
            select location, ${monthOf('day')} as month, ${providerOf('prov')} as provider_name, ${sumOfKind('production')},
                   ${sumOfKind('collections', '-')}, ${sumOfKind('adjustments')}, ${sumOfKind('write_offs')}
              from (${lines}) as line where ${isDate('day')}
             group by 1, 2, 3) as sums
           where production <> 0 or collections <> 0 or adjustments <> 0 or write_offs <> 0`,
  },
  {
    view: 'missed_appointments',
    columns: ['location', 'month', 'provider_name', 'appointments', 'completed', 'no_shows', 'cancelled', 'broken'],
    sql: `select location, month, provider_name, count(*) as appointments, sum(AptStatus = 2) as completed,
                 sum(AptStatus = 5 and last_action <=> 2) as no_shows, sum(AptStatus = 5 and last_action <=> 3) as cancelled,
                 sum(AptStatus = 5 and coalesce(last_action, 0) not in (2, 3)) as broken
            from (select ${clinicOf('a')} as location, ${monthOf('a.AptDateTime')} as month, ${providerOf('a.ProvNum')} as provider_name,
                         a.AptStatus, (select h.HistApptAction from histappointment h where h.AptNum = a.AptNum
                                        order by h.HistDateTStamp desc, h.HistApptNum desc limit 1) as last_action
                    from appointment a
                   where a.PatNum in (select PatNum from patient) and a.AptStatus in (1, 2, 4, 5) and ${isDate('a.AptDateTime')}) as visit
           group by 1, 2, 3`,
  },
  {
    view: `(select month, source_name, sum(patients) as patients, sum(production) as production
              from new_patients_by_source group by 1, 2) as view`,
    columns: ['month', 'source_name', 'patients', 'production'],
    sql: `select ${monthOf('p.DateFirstVisit')} as month,
                 (select nullif(trim(concat(trim(r.FName), ' ', trim(r.LName))), '')
                    from refattach f join referral r on r.ReferralNum = f.ReferralNum
                   where f.PatNum = p.PatNum and f.RefType <> 0 order by f.ItemOrder, f.RefAttachNum limit 1) as source_name,
                 count(*) as patients,
                 cast(sum(coalesce((select sum(${fee}) from procedurelog q where q.PatNum = p.PatNum and q.ProcStatus = 2), 0)) as decimal(19,2)) as production
            from patient p
           where p.PatStatus <> 4 and ${isDate('p.DateFirstVisit')}
           group by 1, 2`,
  },
  {
    view: 'treatment_plans',
    columns: ['location', 'month', 'provider_name', 'planned', 'planned_fees', 'completed', 'completed_fees'],
    sql: `select ${clinicOf('q')} as location, ${monthOf('q.DateTP')} as month, ${providerOf('q.ProvNum')} as provider_name, count(*) as planned,
                 cast(sum(${fee}) as decimal(19,2)) as planned_fees, sum(q.ProcStatus = 2) as completed,
                 cast(sum(if(q.ProcStatus = 2, ${fee}, 0)) as decimal(19,2)) as completed_fees
            from procedurelog q
           where q.ProcStatus in (1, 2) and ${isDate('q.DateTP')}
             and q.CodeNum not in (select CodeNum from procedurecode where ProcCode = '~GRP~')
           group by 1, 2, 3`,
  },
  {
    view: 'recall_due',
    columns: ['patient_source_id', 'last_hygiene_on', 'due_on', 'next_hygiene_on', 'is_due'],
    sql: `select cast(p.PatNum as char) as patient_source_id, cast(last_on as char) as last_hygiene_on,
                 cast(date_add(last_on, interval 6 month) as char) as due_on, cast(next_on as char) as next_hygiene_on,
                 date_add(last_on, interval 6 month) <= curdate() and next_on is null as is_due
            from patient p
            join (select PatNum, max(if(AptStatus = 2, date(AptDateTime), null)) as last_on,
                         min(if(AptStatus in (1, 4) and date(AptDateTime) >= curdate(), date(AptDateTime), null)) as next_on
                    from appointment where IsHygiene = 1 and AptStatus <> 6 group by PatNum) as visit on visit.PatNum = p.PatNum
           where p.PatStatus = 0 and last_on is not null`,
  },
  {
    view: 'insurance_mix',
    columns: ['carrier_name', 'patients', 'production'],
    sql: `select (select min(nullif(trim(c.CarrierName), '')) from patplan k join inssub s on s.InsSubNum = k.InsSubNum
                    join insplan i on i.PlanNum = s.PlanNum left join carrier c on c.CarrierNum = i.CarrierNum
                   where k.PatNum = p.PatNum and i.IsMedical = 0 and (s.DateTerm <= '1880-01-01' or s.DateTerm >= curdate())
                     and not exists (select * from patplan b join inssub t on t.InsSubNum = b.InsSubNum join insplan j on j.PlanNum = t.PlanNum
                                      where b.PatNum = k.PatNum and b.Ordinal < k.Ordinal and j.IsMedical = 0)) as carrier_name,
                 count(*) as patients,
                 cast(sum(coalesce((select sum(${fee}) from procedurelog q
                                     where q.PatNum = p.PatNum and q.ProcStatus = 2
                                       and coalesce(if(${isDate('q.DateComplete')}, q.DateComplete, null), q.ProcDate) > date_sub(curdate(), interval 12 month)), 0)) as decimal(19,2)) as production
            from patient p
           where p.PatStatus = 0
           group by 1`,
  },
  {
    view: '(select * from providers where appointments + hygiene_appointments + treatments > 0) as view',
    columns: ['location', 'name', 'appointments', 'hygiene_appointments', 'treatments'],
    sql: `select location, ${providerOf('prov')} as name, sum(kind = 'visit') as appointments, sum(kind = 'hygiene') as hygiene_appointments,
                 sum(kind = 'treatment') as treatments
            from (select ${clinicOf('a')} as location, a.ProvNum as prov, 'visit' as kind from appointment a
                   union all select ${clinicOf('a')}, a.ProvHyg, 'hygiene' from appointment a
                   union all select ${clinicOf('q')}, q.ProvNum, 'treatment' from procedurelog q
                    where q.ProcStatus <> 6 and q.CodeNum not in (select CodeNum from procedurecode where ProcCode = '~GRP~')) as named
           group by 1, 2 having name is not null`,
  },
  {
    view: 'operatories',
    columns: ['location', 'name', 'appointments', 'first_on', 'last_on'],
    sql: `select ${clinicOf('a')} as location, trim(o.OpName) as name, count(*) as appointments,
                 cast(min(if(${isDate('a.AptDateTime')}, date(a.AptDateTime), null)) as char) as first_on,
                 cast(max(if(${isDate('a.AptDateTime')}, date(a.AptDateTime), null)) as char) as last_on
            from appointment a join operatory o on o.OperatoryNum = a.Op
           group by 1, 2`,
  },
]

/** What each family's lines are, with the payment plans' that count today. */
const linesSql = `
  select cast(p.Guarantor as char) as guarantor, datediff(curdate(), day) as age, cast(sum(amount) as decimal(19,2)) as amount, amount > 0 as is_charge
    from (${lines}
           union all
          select '0', 0, case g.ChargeType when 0 then g.Guarantor else g.PatNum end, g.ChargeDate, 'plan',
                 case when g.ChargeType = 1 then -g.Principal when l.PlanNum = 0 then g.Principal + g.Interest else 0 end
            from payplancharge g left join payplan l on l.PayPlanNum = g.PayPlanNum
           where g.ChargeDate <= curdate()
           union all
          select '0', 0, q.PatNum, k.SecDateTEntry, 'plan', -q.ProcFee * (q.UnitQty + q.BaseUnits)
            from payplanlink k join procedurelog q on q.ProcNum = k.FKey where k.LinkType = 2) as line
    join patient p on p.PatNum = line.pat
   group by p.Guarantor, day, amount > 0`

/** As the aging report of a practice: what was paid is taken off the oldest charges first. */
function expectedReceivables(rows: readonly Row[]): Map<string, number[]> {
  const accounts = Map.groupBy(rows, (row) => String(row.guarantor))
  const owed = [...accounts].map(([guarantor, own]): [string, number[]] => {
    const charges = [0, 0, 0, 0]
    let credits = 0
    for (const { age, amount, is_charge } of own) {
      const cents = Math.round(Number(amount) * 100)
      const days = Number(age)
      if (Number(is_charge) === 0) credits -= cents
      else {
        const bucket = days > 90 ? 3 : days > 60 ? 2 : days > 30 ? 1 : 0
        charges[bucket] = (charges[bucket] ?? 0) + cents
      }
    }
    const balance = charges.reduce((sum, cents) => sum + cents, 0) - credits
    for (let bucket = 3; bucket >= 0; bucket -= 1) {
      const paid = Math.min(charges[bucket] ?? 0, credits)
      charges[bucket] = (charges[bucket] ?? 0) - paid
      credits -= paid
    }
    return [guarantor, [balance, ...charges]]
  })
  return new Map(owed.filter(([, [balance]]) => balance !== 0).sort(([left], [right]) => Number(left) - Number(right)))
}

async function receivables(select: Select): Promise<Map<string, number[]>> {
  const rows = await select('select * from accounts_receivable')
  const cents = (value: unknown) => Math.round(Number(value) * 100)
  const owed = rows.map((row): [string, number[]] => [
    String(row.guarantor_source_id),
    [row.balance, row.days_0_to_30, row.days_31_to_60, row.days_61_to_90, row.days_over_90].map(cents),
  ])
  return new Map(owed.sort(([left], [right]) => Number(left) - Number(right)))
}
