import { openAccountOf } from './life/account.ts'
import { type Desk, openDesk } from './life/desk.ts'
import { moneyEvents } from './life/money-events.ts'
import { peopleEvents } from './life/people-events.ts'
import { planEvents } from './life/plan-events.ts'
import { takeNextVisit, type VisitStep, visitEvents } from './life/visit-events.ts'
import { nowIn, type Practice } from './practice.ts'
import type { Random } from './random.ts'
import type { RowChange } from './rows.ts'
import { addDays, addMinutes, atMinute, minuteOf, weekdayOf } from './wall-time.ts'

const happenings = [...planEvents, ...visitEvents, ...moneyEvents, ...peopleEvents]

export type PracticeEventName = (typeof happenings)[number]['name'] | VisitStep

/** Every name that an event may have. */
export const practiceEventNames: readonly PracticeEventName[] = [
  ...happenings.map(({ name }) => name),
  'patient_arrived',
  'patient_seated',
  'visit_completed',
  'visit_missed',
  'block_ended',
]

/** Something that happened in the practice, as the rows that it altered, the clock's among them. */
export type PracticeEvent = { readonly name: PracticeEventName; readonly changes: readonly RowChange[] }

/**
 * Lets some minutes pass, but not beyond `until` (a wall time of the headquarters), and the next thing happen; both are in effect
 * then. Every happening alters at least one value; none leaves a reference to nothing.
 */
export function nextEvent(practice: Practice, random: Random, until?: string): PracticeEvent {
  const desk = openDesk(practice, random)
  passTime(desk, until)
  // Visits keep to their times before anything else is taken up, mostly.
  const step = random.chance(0.6) ? takeNextVisit(desk) : null
  if (step !== null) return { name: step, changes: desk.done }
  for (;;) {
    const { name, happen } = pickByWeight(random)
    if (happen(desk)) return { name, changes: desk.done }
  }
}

const opensAt = 7 * 60
const closesAt = 18 * 60

/** Nights and weekends are passed over. Instalments that fall due meanwhile are counted. */
function passTime(desk: Desk, until: string | undefined): void {
  const { practice, random } = desk
  const now = nowIn(practice)
  let next = addMinutes(now, random.whole(1, 7))
  if (minuteOf(next) >= closesAt) next = atMinute(addDays(next.slice(0, 10), 1), opensAt)
  while (weekdayOf(next.slice(0, 10)) > 5) next = atMinute(addDays(next.slice(0, 10), 1), opensAt)
  if (until !== undefined && next > until) next = until > now ? until : now
  const clock = practice.clock.get('1')
  if (clock === undefined || next === now) return
  desk.change('clock', clock, { now: next })
  const [from, to] = [now.slice(0, 10), next.slice(0, 10)]
  if (from === to) return
  for (const charge of practice.planCharges.values()) {
    if (charge.kind === 'debit' && charge.chargeOn > from && charge.chargeOn <= to)
      openAccountOf(desk, charge.guarantorKey)
  }
}

function pickByWeight(random: Random): (typeof happenings)[number] {
  let at = random.next() * happenings.reduce((sum, happening) => sum + happening.weight, 0)
  for (const happening of happenings) {
    at -= happening.weight
    if (at < 0) return happening
  }
  return random.pick(happenings)
}
