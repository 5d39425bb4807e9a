import assert from 'node:assert/strict'
import { datasets } from '@bridgework/contract'
import type { TestDatabase } from '@bridgework/practice-simulator/test-mariadb'
import type { Present } from './test-kept-records.ts'
import { everywhere, type Views } from './test-seen.ts'
import type { Name } from './test-vendor-copy.ts'

type Rule = (views: Views, database: TestDatabase, day: string) => Promise<void>

/** What of a patient or a visit follows from several rows, for each of them: as a vendor sees it, and by SQL of the tests' own. */
export const practiceRules: Readonly<Record<string, Rule>> = {
  'merged patients': async (views, database) => {
    const merges = (await database.execute(merged)).map((row) => `${row.id} ${row.target} merged`)
    assert.ok(merges.length > 0)
    const found = [...everywhere(views, 'patients')].filter(([, { merged_into }]) => merged_into !== null)
    assert.deepEqual(
      found.map(([id, patient]) => `${id} ${patient.merged_into} ${patient.status}`).sort(),
      merges.sort(),
    )
  },

  'first and second covers': async (views, database, day) => {
    const isCovered = (plans: string) => !plans.endsWith(' null null')
    const plans = (await database.execute(covers, [day])).map((row) => `${row.id} ${row.first} ${row.second}`)
    assert.ok(new Set(plans.map((each) => each.split(' ')[2])).size > 1, 'nobody has two covers')
    assert.deepEqual(
      [...everywhere(views, 'patients')]
        .map(([id, patient]) => `${id} ${patient.primary_insurance_plan} ${patient.secondary_insurance_plan}`)
        .filter(isCovered)
        .sort(),
      plans.filter(isCovered).sort(),
    )
  },

  'visits that did not take place': async (views, database) => {
    const visits = await database.execute(missed)
    assert.deepEqual([...new Set(visits.map(({ state }) => state))].sort(), ['broken', 'cancelled', 'no_show'])
    assert.deepEqual(
      [...everywhere(views, 'appointments')]
        .filter(([, { status_raw }]) => String(status_raw).startsWith('Broken'))
        .map(([id, { status }]) => `${id} ${status}`)
        .sort(),
      visits.map((row) => `${row.id} ${row.state}`).sort(),
    )
  },
}

/** References of what each clinic has that lead to nothing there: only to what Open Dental has at another clinic, or nowhere. */
export async function danglingReferences(
  database: TestDatabase,
  present: ReadonlyMap<string, Present>,
): Promise<string[]> {
  const found = new Set<string>()
  for (const [target, sql] of Object.entries(places)) {
    const clinicOf = new Map((await database.execute(sql)).map(({ id, clinic }) => [String(id), clinic]))
    for (const [clinic, here] of present) {
      const there = new Set(here[target as Name]?.map(({ source_id }) => source_id))
      for (const { name, refersTo } of datasets) {
        for (const rule of refersTo.filter((each) => each.dataset === target)) {
          const keys = here[name as Name]?.flatMap(({ attributes }) => [...rule.keysOf(attributes)]) ?? []
          for (const key of keys.filter((each) => !there.has(each))) {
            found.add(`${name} to ${target} ${key}`)
            const place = clinicOf.get(key)
            assert.ok(
              place === undefined || ![clinic, null].includes(place as string | null),
              `${name} to ${target} ${key}`,
            )
          }
        }
      }
    }
  }
  return [...found].sort()
}

/** The clinic of each row; null: all clinics where it is referred to. */
const places: Readonly<Partial<Record<Name, string>>> = {
  fee_schedules: 'select FeeSchedNum as id, null as clinic from feesched',
  insurance_plans: 'select PlanNum as id, null as clinic from insplan',
  patients: 'select PatNum as id, null as clinic from patient',
  appointments: 'select AptNum as id, cast(ClinicNum as char) as clinic from appointment',
  treatments: 'select ProcNum as id, cast(ClinicNum as char) as clinic from procedurelog',
}

/** Up to four rows for each broken visit, of every action and status that there is: few have a history of their own. */
export async function addHistory(database: TestDatabase): Promise<void> {
  await database.execute(
    `insert into histappointment (AptNum, HistDateTStamp, HistApptAction, AptStatus)
     select a.AptNum, '2026-10-01 09:00:00' + interval n minute, mod(a.AptNum div 3 + n, 4), if(mod(a.AptNum div 4 + n, 5) = 0, 1, 5)
       from appointment a
       join (select 1 as n union select 2 union select 3 union select 4) rows_each on n <= mod(a.AptNum, 5)
      where a.AptStatus = 5`,
  )
}

/** The newest link of each patient to another, unless a later one leads into the patient (`PatientLinks.WasPatientMerged`). */
const merged = `
  with link as (select *, row_number() over (order by DateTimeLink, PatientLinkNum) as place
                  from patientlink where LinkType = 1 and PatNumFrom <> PatNumTo)
  select l.PatNumFrom as id, l.PatNumTo as target
    from link l
   where not exists (select * from link later
                      where later.place > l.place and l.PatNumFrom in (later.PatNumFrom, later.PatNumTo))`

/** Dental covers in the order of their ordinals; one that ended before the day keeps its place (`PatPlans.GetOrdinal`). */
const covers = `
  with cover as (select a.PatNum, row_number() over (partition by a.PatNum order by a.Ordinal, a.PatPlanNum) as place,
                        if(year(s.DateTerm) >= 1880 and s.DateTerm < ?, null, nullif(s.PlanNum, 0)) as plan
                   from patplan a
                   left join inssub s using (InsSubNum)
                   left join insplan p on p.PlanNum = s.PlanNum
                  where p.IsMedical is null or p.IsMedical = 0)
  select PatNum as id, max(if(place = 1, plan, null)) as first, max(if(place = 2, plan, null)) as second
    from cover group by PatNum`

/** How each broken visit was broken: the last such row of its history, while every later one has the broken status (`AppointmentL`). */
const missed = `
  with history as (select *, row_number() over (order by HistDateTStamp, HistApptNum) as place from histappointment)
  select a.AptNum as id,
         coalesce((select if(h.HistApptAction = 2, 'no_show', 'cancelled')
                     from history h
                    where h.AptNum = a.AptNum and h.HistApptAction in (2, 3)
                      and not exists (select * from history later
                                       where later.AptNum = h.AptNum and later.place > h.place
                                         and (later.AptStatus <> 5 or later.HistApptAction in (2, 3)))
                    order by h.place desc limit 1), 'broken') as state
    from appointment a
   where a.AptStatus = 5`
